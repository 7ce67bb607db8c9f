package objects

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// eventOutbox lists the objects of an event outbox that are made beside its table.
func eventOutbox(view render.Extension, o render.Outbox) []upgrade.Made {
	return []upgrade.Made{
		{Kind: "order of outbox", Name: o.Name + " by " + cmp.Or(o.OrderingKey, "id"), Drop: reorder(view, o), First: []string{o.Name, "groups"}},
		{Kind: "state of outbox", Name: o.Name, Drop: dropState(o)},
		{Kind: "publication", Name: o.Publication, Drop: dropPublication(o)},
	}
}

// dropPublication drops the publication of an outbox, which is known by its table.
func dropPublication(o render.Outbox) string {
	return fmt.Sprintf("do $do$\nbegin\n    if exists (\n        select\n        from pg_catalog.pg_publication p\n        join pg_catalog.pg_publication_rel r on r.prpubid = p.oid\n"+
		"        where p.pubname = %s and r.prrelid = to_regclass(%s)\n    ) then\n        drop publication %s;\n    end if;\nend;\n$do$;\n",
		sqltext.Literal(o.Publication), sqltext.Literal(o.Table.String()), sqltext.Ident(o.Publication))
}

// reorder has the groups of an outbox begin again behind what they have committed without a gap: how they keep where they stand depends on
// the key, and the functions that know this one are about to go. What was leased, in a gap, or committed out of order, comes again.
func reorder(view render.Extension, o render.Outbox) string {
	forget := ""
	if o.OrderingKey == "" && o.Event {
		forget = fmt.Sprintf("\n        delete from %s.pgt_passed_rows p where p.group_no = v_group.group_no;", view.Internal())
	}
	return fmt.Sprintf(`do $do$
declare
    v_group  %[1]s.pgt_consumer_groups;
    v_offset bigint;
    v_no     bigint;
begin
    for v_group in select g.* from %[1]s.pgt_consumer_groups g where g.outbox_name = %[2]s loop
        perform pg_advisory_xact_lock(%[3]s, v_group.group_no);
        select greatest(s.committed_offset, v_group.start_id) into v_offset from %[5]s.pgt_group_state(v_group) s;%[6]s
        update %[5]s.pgt_lease_log l
        set state = 'done', lost = l.lost or l.consumer_id is not null
        where l.group_no = v_group.group_no and l.state <> 'done';
        select max(l.no) into v_no from %[5]s.pgt_lease_log l where l.group_no = v_group.group_no;
        insert into %[5]s.pgt_lease_log (group_no, lane, no, cur, floor_no, state, ids)
        select v_group.group_no, x.lane, v_no + 1, v_offset, v_no + 2, 'done', '{}'
        from generate_series(0, %[4]d) x (lane);
    end loop;
    update %[1]s.pgt_consumer_groups g set ordered = null where g.outbox_name = %[2]s;
end;
$do$;
`, view.Schema(), sqltext.Literal(o.Name), view.GroupLock(), render.Lanes, view.Internal(), forget)
}

// consumerGroup is a group of the spec. Another outbox makes it another group.
func consumerGroup(view render.Extension, g render.Group) upgrade.Made {
	name := sqltext.Literal(g.Name)
	return upgrade.Made{
		Kind: "consumer group", Name: g.Name + " of " + g.Outbox, Definition: g.Reset + " " + g.MaxAttempts, Loses: "where consumer group " + g.Name + " stands",
		Drop: fmt.Sprintf("select %s.drop_consumer_group(%s, true);\n", view.Schema(), name),
		Recreate: fmt.Sprintf("update %s.pgt_consumer_groups set auto_offset_reset = %s, max_attempts = %s where group_name = %s;\n",
			view.Schema(), sqltext.Literal(g.Reset), g.MaxAttempts, name),
	}
}

// madeOutbox is what is made of the outbox of a stream table. One that the spec does not ask for may have been enabled at run time, and stays;
// one that it asks for no more goes.
func madeOutbox(view render.Extension, o render.Outbox) []upgrade.Made {
	drop := dropOwn(view, o.Latest) + dropOwn(view, o.DeltaRows) + dropOwn(view, o.Table) + dropState(o)
	outbox := upgrade.Made{Kind: "outbox", Name: o.Name, Drop: drop, Holds: o.Asked, Table: o.Table.String(), Lenient: o.Lenient, Relations: outboxRelations(o)}
	if o.Asked {
		outbox.Definition = "asked for"
	} else {
		outbox.Recreate, outbox.Loses = drop, "outbox "+o.Name+", if enable_outbox made it"
	}
	made := []upgrade.Made{outbox}
	for _, role := range o.Consumers {
		made = append(made, rights("consumer", role, o.Table.String(), o.DeltaRows.String(), o.Latest.String(), "sequence "+o.IDs.String())...)
	}
	for _, role := range o.Monitors {
		made = append(made, rights("monitor", role, o.Table.String(), "sequence "+o.IDs.String())...)
	}
	if o.Immediate {
		made = append(made, upgrade.Made{Kind: "pending rows of outbox", Name: o.Name, On: []string{o.Rows.String()}, Drop: dropOwn(view, o.Pending), Relations: toldRelations(o)})
	}
	return made
}

// dropState forgets an outbox and its consumer groups.
func dropState(o render.Outbox) string {
	return fmt.Sprintf("select %[1]s.drop_consumer_group(g.group_name) from %[1]s.pgt_consumer_groups g where g.outbox_name = %[2]s;\n"+
		"delete from %[3]s.pgt_outbox_state where outbox_name = %[2]s;\n", o.Schema(), sqltext.Literal(o.Name), o.Internal())
}

// rights lists the privileges that attach() grants to a role on relations. Revoking skips relations that do not exist. A role of another kind
// gets others.
func rights(as, role string, relations ...string) []upgrade.Made {
	var made []upgrade.Made
	for _, relation := range relations {
		made = append(made, upgrade.Made{Kind: "rights of " + as + " " + role, Name: relation, Drop: revokeWhereThere(role, relation)})
	}
	return made
}

func revokeWhereThere(role, relation string) string {
	name := strings.TrimPrefix(relation, "sequence ")
	return fmt.Sprintf("do $do$\nbegin\n    if to_regclass(%s) is not null then\n        revoke all on %s from %s;\n    end if;\nend;\n$do$;\n",
		sqltext.Literal(name), relation, sqltext.Ident(role))
}
