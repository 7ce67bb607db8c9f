package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// triggersLock is what keeps writers of a source waiting while its triggers are made.
const triggersLock = "SHARE ROW EXCLUSIVE on the table that it is of, for a moment"

// madeOf lists what functions of the extension make on users' tables, what others read first.
func madeOf(view render.Extension) []upgrade.Made {
	var made []upgrade.Made
	forget := func(source string) string {
		return fmt.Sprintf("delete from %s.pgt_source_state where source = %s;\n", view.Schema(), sqltext.Literal(source))
	}
	// Captures let triggers of an inbox fire on replicas, too.
	usual := func(table render.Name) string {
		for _, i := range view.Inboxes {
			if i.Table == table {
				return fmt.Sprintf("alter table %[1]s enable trigger sluice_inserted;\nalter table %[1]s enable trigger sluice_updated;\nalter table %[1]s enable trigger sluice_moved;\n"+
					"alter table %[1]s enable trigger sluice_deleted;\nalter table %[1]s enable trigger sluice_truncated;\n", table)
			}
		}
		return ""
	}
	for _, s := range view.Sources {
		drop := fmt.Sprintf("drop table if exists %s;\n", s.Log) + forget(s.ID())
		made = append(made, upgrade.Made{
			Kind: "change log", Name: s.ID(), Drop: drop + usual(s.Table),
			Definition: digestOf("source/attach.sql", s), Anew: drop, Lock: triggersLock,
		})
	}
	for _, c := range view.Captures {
		drop := fmt.Sprintf("drop view if exists %s;\ndrop table if exists %s;\n", c.Absent, c.Log) + forget(c.ID())
		made = append(made, upgrade.Made{
			Kind: "pending changes", Name: c.ID(), Drop: drop, Definition: digestOf("now/attach.sql", c), Anew: drop, Lock: triggersLock,
		})
	}
	for _, o := range view.EventOutboxes() {
		made = append(made,
			upgrade.Made{Kind: "state of outbox", Name: o.Name, Drop: dropState(o)},
			upgrade.Made{Kind: "publication", Name: o.Publication, Drop: fmt.Sprintf("drop publication if exists %s;\n", sqltext.Ident(o.Publication))})
	}
	for _, i := range view.Inboxes {
		made = append(made, upgrade.Made{
			Kind: "counts of inbox", Name: i.Name, Definition: fmt.Sprint(i.MaxRetries, i.DeadLetter, i.Retry != nil),
			Anew: fmt.Sprintf("select %s();\n", i.RebuildFn), Lock: "SHARE ROW EXCLUSIVE on the inbox, as long as it is counted",
		})
	}
	for _, t := range view.StreamTables {
		made = append(made, rights(t.Grants, t.Table.String())...)
		t.Outbox, t.Grants = nil, nil // they change nothing of what it holds
		made = append(made, upgrade.Made{
			Kind: "stream table", Name: t.ID(), Definition: digestOf("stream_table/attach.sql", t),
			Drop: fmt.Sprintf("drop view if exists %s;\ndrop table if exists %s;\n", t.Table, t.Rows),
			Anew: fmt.Sprintf("update %s set seen = null, own_xid = null, own_no = null, refit = true, remake = true where stream_table = %s;\n", t.State, sqltext.Literal(t.ID())),
			Lock: "ACCESS EXCLUSIVE on it, as long as its query runs",
		}, upgrade.Made{
			Kind: "contents of stream table", Name: t.ID(), Definition: t.EffectiveMode + " " + t.Strategy + " " + digestOf("stream_table/rebuild.sql", t),
			Anew: fmt.Sprintf("update %s set seen = null, own_xid = null, own_no = null where stream_table = %s;\n", t.State, sqltext.Literal(t.ID())),
		})
	}
	for _, o := range view.MadeOutboxes() {
		made = append(made, madeOutbox(o)...)
	}
	for _, g := range view.Groups {
		name := sqltext.Literal(g.Name)
		made = append(made, upgrade.Made{
			Kind: "consumer group", Name: g.Name + " of " + g.Outbox, Definition: g.Reset + " " + g.MaxAttempts, Loses: "where consumer group " + g.Name + " stands",
			Drop: fmt.Sprintf("select %s.drop_consumer_group(%s, true);\n", view.Schema(), name),
			Anew: fmt.Sprintf("update %s.pgt_consumer_groups set auto_offset_reset = %s, max_attempts = %s where group_name = %s;\n",
				view.Schema(), sqltext.Literal(g.Reset), g.MaxAttempts, name),
		})
	}
	return made
}

// madeOutbox is what is made of the outbox of a stream table. One that the spec does not ask for may have been enabled at run time, and stays;
// one that it asks for no more goes.
func madeOutbox(o render.Outbox) []upgrade.Made {
	drop := fmt.Sprintf("drop view if exists %s;\ndrop table if exists %s;\ndrop table if exists %s;\n", o.Latest, o.DeltaRows, o.Table) + dropState(o)
	outbox := upgrade.Made{Kind: "outbox", Name: o.Name, Drop: drop, Holds: o.Asked, Table: o.Table.String()}
	if o.Asked {
		outbox.Definition = "asked for"
	} else {
		outbox.Anew = drop
	}
	made := append([]upgrade.Made{outbox}, rights([]string{o.Consumer}, o.Table.String(), o.DeltaRows.String(), o.Latest.String(), "sequence "+o.IDs.String())...)
	made = append(made, rights([]string{o.Monitor}, o.Table.String(), "sequence "+o.IDs.String())...)
	if o.Immediate {
		made = append(made, upgrade.Made{Kind: "pending rows of outbox", Name: o.Name, Drop: fmt.Sprintf("drop table if exists %s;\n", o.Pending)})
	}
	return made
}

// dropState forgets an outbox and its consumer groups.
func dropState(o render.Outbox) string {
	return fmt.Sprintf("select %[1]s.drop_consumer_group(g.group_name) from %[1]s.pgt_consumer_groups g where g.outbox_name = %[2]s;\n"+
		"delete from %[1]s.pgt_outbox_state where outbox_name = %[2]s;\n", o.Schema(), sqltext.Literal(o.Name))
}

// rights are what attach() grants to roles. Relations that are not there have none to take back.
func rights(roles []string, relations ...string) []upgrade.Made {
	var made []upgrade.Made
	for _, role := range roles {
		for _, relation := range relations {
			if role != "" {
				made = append(made, upgrade.Made{Kind: "rights of " + role, Name: relation, Drop: revokeWhereThere(role, relation)})
			}
		}
	}
	return made
}

func revokeWhereThere(role, relation string) string {
	name := strings.TrimPrefix(relation, "sequence ")
	return fmt.Sprintf("do $do$\nbegin\n    if to_regclass(%s) is not null then\n        revoke all on %s from %s;\n    end if;\nend;\n$do$;\n",
		sqltext.Literal(name), relation, sqltext.Ident(role))
}

// digestOf changes whenever what a template makes does.
func digestOf(template string, data any) string {
	sql, err := render.Execute(template, data)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256([]byte(sql))
	return hex.EncodeToString(sum[:16])
}
