package objects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// sharedTable is a table with rows of all inboxes or outboxes. Grants on it say what a role may do, policies with which rows.
type sharedTable struct {
	name                        render.Name
	producer, consumer, monitor string                   // the statements that policies are for: select, insert or all; empty for none
	rows                        func(render.Role) string // the condition on the rows of a role; empty if it has none
}

// sharedTables lists them.
func sharedTables(view render.Extension) []sharedTable {
	// A look-up by a unique index: where functions rule out other plans, anything else would seem so dear that it is compiled each time.
	groups := func(table, column string) func(render.Role) string {
		return func(r render.Role) string {
			if len(r.Outboxes) == 0 {
				return ""
			}
			return fmt.Sprintf("exists (select from %[1]s g where g.%[2]s = %[3]s.%[2]s and g.%[4]s)",
				view.In("pgt_consumer_groups"), column, table, oneOf("outbox_name", outboxNames(r)))
		}
	}
	inboxes := func(r render.Role) string { return oneOf("inbox_name", inboxNames(r)) }
	outboxes := func(r render.Role) string { return oneOf("outbox_name", outboxNames(r)) }
	tasks := func(r render.Role) string { return oneOf("task", taskNames(r)) }
	both := func(table string) func(render.Role) string {
		return func(r render.Role) string {
			if len(r.Outboxes) == 0 {
				return ""
			}
			return outboxes(r) + "\n        and " + groups(table, "group_name")(r)
		}
	}
	// A consumer reads neither counts nor tasks: what policies give it there is for roles that are monitors of other inboxes, too, which would get
	// wrong counts of its own.
	tables := []sharedTable{
		{view.In("pgt_inbox_config"), "select", "select", "select", inboxes},
		{view.InInternal("pgt_inbox_claims"), "", "all", "select", inboxes},
		{view.InInternal("pgt_inbox_progress"), "", "select", "select", inboxes},
		{view.InInternal("pgt_inbox_deltas"), "insert", "select", "select", inboxes},
		{view.InInternal("pgt_inbox_retry_queue"), "", "select", "select", inboxes},
		{view.InInternal("pgt_inbox_leases"), "", "all", "", inboxes},
		{view.InInternal("pgt_inbox_dead"), "", "select", "select", inboxes},
		{view.InInternal("pgt_outboxes"), "", "", "select", outboxes},
		{view.InInternal("pgt_outbox_state"), "", "", "select", outboxes},
		{view.In("pgt_consumer_groups"), "", "all", "select", outboxes},
		{view.InInternal("pgt_lease_log"), "", "all", "select", groups("pgt_lease_log", "group_no")},
		{view.InInternal("pgt_consumers"), "", "all", "select", groups("pgt_consumers", "group_no")},
		{view.In("pgt_consumer_claim_check_acks"), "", "all", "select", both("pgt_consumer_claim_check_acks")},
		{view.In("pgt_consumer_dead_letters"), "", "all", "select", both("pgt_consumer_dead_letters")},
		{view.InInternal("pgt_tasks"), "", "select", "select", tasks},
	}
	if len(view.Ordered()) > 0 {
		tables = append(tables, sharedTable{view.In("pgt_inbox_ordering_config"), "", "select", "select", inboxes})
	}
	if len(view.Contiguous()) > 0 {
		tables = append(tables, sharedTable{view.InInternal("pgt_inbox_sequences"), "", "select", "select", inboxes})
	}
	if len(view.Wired()) > 0 {
		tables = append(tables, sharedTable{view.In("pgt_inbox_quarantine"), "all", "select", "select", inboxes})
	}
	if len(view.TypedOutboxes()) > 0 {
		tables = append(tables, sharedTable{view.InInternal("pgt_passed_rows"), "", "all", "select", groups("pgt_passed_rows", "group_no")})
	}
	return tables
}

// policies has roles of an inbox or outbox see and write its rows only. Policies add up: whoever is a member of several roles has the rows of each.
func (b *builder) policies(view render.Extension, grantees []grantee) {
	for _, table := range sharedTables(view) {
		data, limited := render.Policies{Table: table.name}, false
		var drop strings.Builder
		for _, g := range grantees {
			for _, part := range g.parts {
				statements := map[string]string{"producer": table.producer, "consumer": table.consumer, "monitor": table.monitor}[part.Kind]
				rows := table.rows(part)
				if statements == "" || rows == "" {
					continue
				}
				name := part.Kind + " " + part.Role
				if part.Of == "" {
					name, rows = "any "+name, "true"
				} else {
					limited = true
				}
				// A consumer may read payloads of dead letters: as a monitor of other outboxes it sees none of these.
				if part.Kind == "monitor" && table.name.Name == "pgt_consumer_dead_letters" {
					rows += fmt.Sprintf("\n        and not has_column_privilege(%s, 'payload', 'select')", sqltext.Literal(table.name.String()))
				}
				policy := render.Policy{Name: spec.DerivedName(name), Role: part.Role, For: statements, Rows: rows}
				data.List = append(data.List, policy)
				fmt.Fprintf(&drop, "drop policy if exists %s on %s;\n", sqltext.Ident(policy.Name), table.name)
			}
		}
		if !limited {
			continue
		}
		fmt.Fprintf(&drop, "alter table %s disable row level security;\n", table.name)
		b.addStatement(upgrade.Policy, table.name.String(), "extension/policies.sql", data, drop.String())
	}
}

// oneOf is the condition that a column has one of some values; empty if there are none.
func oneOf(column string, values []string) string {
	switch len(values) {
	case 0:
		return ""
	case 1:
		return column + " = " + sqltext.Literal(values[0])
	}
	literals := make([]string, len(values))
	for n, value := range values {
		literals[n] = sqltext.Literal(value)
	}
	return column + " in (" + strings.Join(literals, ", ") + ")"
}

func inboxNames(r render.Role) (names []string) {
	for _, i := range r.Inboxes {
		names = append(names, i.Name)
	}
	return names
}

func outboxNames(r render.Role) (names []string) {
	for _, o := range r.Outboxes {
		names = append(names, o.Name)
	}
	return names
}

// taskNames are the tasks of a role's inboxes and outboxes.
func taskNames(r render.Role) (names []string) {
	for _, i := range r.Inboxes {
		names = append(names, i.FoldTask(), i.DrainTask())
	}
	for _, o := range r.Outboxes {
		names = append(names, o.DrainTask())
	}
	return slices.Compact(names)
}
