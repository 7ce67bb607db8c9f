package objects

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// sharedTable is a table with rows of all inboxes or outboxes. Grants on it say what a role may do, policies with which rows.
type sharedTable struct {
	name                        render.Name
	producer, consumer, monitor string // the statements that policies are for: select, insert or all; empty for none
	rows                        string // what is known of whose a row is: the column inbox, outbox or task, or the group by its number or name
}

// sharedTables lists them: those of inboxes where an inbox has roles of its own, those of outboxes where an outbox has.
func sharedTables(view render.Extension) (tables []sharedTable) {
	// A consumer reads neither counts nor tasks: what policies give it there is for roles that are monitors of other inboxes, too, which would get
	// wrong counts of its own.
	if view.OwnRoles() {
		tables = append(tables,
			sharedTable{view.In("pgt_inbox_config"), "select", "select", "select", "inbox"},
			sharedTable{view.InInternal("pgt_inbox_claims"), "", "all", "select", "inbox"},
			sharedTable{view.InInternal("pgt_inbox_progress"), "", "select", "select", "inbox"},
			sharedTable{view.InInternal("pgt_inbox_deltas"), "", "select", "select", "inbox"},
			sharedTable{view.InInternal("pgt_inbox_duplicates"), "insert", "select", "select", "inbox"},
			sharedTable{view.InInternal("pgt_inbox_retry_queue"), "", "select", "select", "inbox"},
			sharedTable{view.InInternal("pgt_inbox_leases"), "", "all", "", "inbox"},
			sharedTable{view.InInternal("pgt_inbox_dead"), "", "select", "select", "inbox"},
			sharedTable{view.In("pgt_inbox_ordering_config"), "select", "select", "select", "inbox"},
			sharedTable{view.InInternal("pgt_inbox_sequences"), "", "select", "select", "inbox"},
			sharedTable{view.In("pgt_inbox_priority_config"), "", "select", "select", "inbox"},
		)
		if view.HasWires() {
			tables = append(tables, sharedTable{view.In("pgt_inbox_quarantine"), "all", "select", "select", "inbox"})
		}
	}
	if view.OwnReaders() {
		tables = append(tables,
			sharedTable{view.In("pgt_consumer_groups"), "", "all", "select", "outbox"},
			sharedTable{view.InInternal("pgt_lease_log"), "", "all", "select", "group_no"},
			sharedTable{view.InInternal("pgt_consumers"), "", "all", "", "group_no"},
			sharedTable{view.In("pgt_consumer_claim_check_acks"), "", "all", "select", "group_name"},
			sharedTable{view.In("pgt_consumer_dead_letters"), "", "all", "select", "group_name"},
			sharedTable{view.InInternal("pgt_passed_rows"), "", "all", "select", "group_no"},
		)
	}
	return append(tables, sharedTable{view.InInternal("pgt_tasks"), "", "select", "select", "task"})
}

// ofTenants are, by table, the conditions that a row is of the session's tenant, in tables that hold ids of messages of all inboxes.
func ofTenants(view render.Extension) map[render.Name]string {
	if len(view.Tenants()) == 0 {
		return nil
	}
	ofID := "starts_with(event_id, " + view.Prefix() + ")"
	ofIDs := fmt.Sprintf("(select bool_and(starts_with(u.id, %s)) from unnest(event_ids) u (id))", view.Prefix())
	return map[render.Name]string{
		view.InInternal("pgt_inbox_retry_queue"): ofID,
		view.InInternal("pgt_inbox_leases"):      ofIDs,
		view.InInternal("pgt_inbox_dead"):        ofID,
		view.InInternal("pgt_inbox_claims"):      "no = 0",
	}
}

// rights adds what each role is to which inbox or outbox.
func (b *builder) rights(view render.Extension, grantees []grantee) {
	row := func(part render.Role, of, name string) {
		right := render.Right{Schemas: view.Schemas, Of: of, Name: name, Kind: part.Kind, Role: part.Role}
		b.addStatement("row", fmt.Sprintf("pgt_rights: %s is %s of %s", part.Role, part.Kind, strings.TrimSpace(of+" "+name)), "catalog/pgt_right_row.sql", right, "")
	}
	for _, g := range grantees {
		for _, part := range g.parts {
			if part.Of == "" {
				row(part, "all", "")
				continue
			}
			for _, i := range part.Inboxes {
				row(part, "inbox", i.Name)
			}
			for _, o := range part.Outboxes {
				row(part, "outbox", o.Name)
			}
		}
	}
}

// policies has roles of an inbox or outbox see and write its rows only. Policies add up: whoever is a member of several roles has the rows of each.
func (b *builder) policies(view render.Extension) {
	tenants, tables := ofTenants(view), []sharedTable(nil)
	if view.OwnRights() {
		tables = sharedTables(view)
	}
	for _, table := range slices.SortedFunc(maps.Keys(tenants), func(a, b render.Name) int { return strings.Compare(a.Name, b.Name) }) {
		if !slices.ContainsFunc(tables, func(t sharedTable) bool { return t.name == table }) {
			tables = append(tables, sharedTable{name: table})
		}
	}
	for _, table := range tables {
		data := render.Policies{Schemas: view.Schemas, Table: table.name, Rows: table.rows, OfTenant: tenants[table.name]}
		var names []string
		// PostgreSQL asks policies in reverse order of their names. Those that write are on the hot path.
		for _, policy := range []render.Policy{{Name: "write", For: "all"}, {Name: "store", For: "insert"}, {Name: "read", For: "select"}} {
			for _, kind := range []struct{ name, statements string }{{"producer", table.producer}, {"consumer", table.consumer}, {"monitor", table.monitor}} {
				if kind.statements == policy.For {
					policy.Kinds = append(policy.Kinds, kind.name)
				}
			}
			if len(policy.Kinds) == 0 {
				continue
			}
			// A consumer may read payloads of dead letters: as a monitor of other outboxes it sees none of these.
			if table.name.Name == "pgt_consumer_dead_letters" && slices.Contains(policy.Kinds, "monitor") {
				policy.Unless = fmt.Sprintf("has_column_privilege(%s, 'payload', 'select')", sqltext.Literal(table.name.String()))
			}
			data.List = append(data.List, policy)
			names = append(names, policy.Name)
		}
		if data.OfTenant != "" {
			names = append(names, "tenant", "all_roles")
		}
		b.addStatement(upgrade.Policy, table.name.String(), "extension/policies.sql", data, dropPolicies(table.name, names...))
	}
}

// dropPolicies takes policies off a table.
func dropPolicies(table render.Name, names ...string) string {
	var drop strings.Builder
	for _, name := range names {
		fmt.Fprintf(&drop, "drop policy if exists %s on %s;\n", sqltext.Ident(name), table)
	}
	fmt.Fprintf(&drop, "alter table %s disable row level security;\n", table)
	return drop.String()
}
