package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// dlqSchedule is the refresh interval of materialized dead letters, which are few and not urgent.
const dlqSchedule = spec.Duration(30 * time.Second)

// Materialized returns the spec with a stream table in place of each materialized relation of an inbox. The tables of these inboxes are added
// to its DDL.
func Materialized(s *spec.Spec) *spec.Spec {
	whole := *s
	whole.StreamTables, whole.DDL = slices.Clone(s.StreamTables), slices.Clone(s.DDL)
	for n := range s.Inboxes {
		i := &s.Inboxes[n]
		if !i.Materialize || !i.Managed() {
			continue
		}
		view := viewOfInbox(s, i)
		table := render.Must("inbox/table.sql", view)
		whole.DDL = append(whole.DDL, diag.WholeFile(inboxFile(i), table))
		pending := view.IsPending("i")
		if i.BackOff() != nil {
			pending += " and (i.available_at is null or i.available_at <= now())"
		}
		whole.StreamTables = append(whole.StreamTables, relationOf(i, view, view.PendingView, pending, i.Schedule))
		if i.Priority != nil {
			for n, tier := range view.Priority.Tiers {
				cond := fmt.Sprintf("%s and i.%s between %d and %d", pending, view.Priority.Column, tier.Min, tier.Max)
				whole.StreamTables = append(whole.StreamTables, relationOf(i, view, tier.View, cond, i.Priority.Tiers[n].Schedule))
			}
		}
		if i.DeadLetter {
			whole.StreamTables = append(whole.StreamTables, relationOf(i, view, view.DLQView, view.IsDead("i"), spec.Schedule{Every: dlqSchedule}))
		}
	}
	return &whole
}

// inboxFile is the file name under which the table of an inbox is added to the DDL of a spec.
func inboxFile(i *spec.Inbox) string { return "inbox " + i.Name }

// relationOf is the stream table with the messages of an inbox for which a condition holds.
func relationOf(i *spec.Inbox, view render.Inbox, name render.Name, cond string, schedule spec.Schedule) spec.StreamTable {
	query := fmt.Sprintf("select %s\nfrom %s i\nwhere %s\n", view.Listed("i"), view.Table, cond)
	return spec.StreamTable{
		Place: i.Place, Name: sqltext.Qualified(name.Schema, name.Name), Relation: spec.Name(name),
		Query: spec.Query{Block: diag.WholeFile(inboxFile(i), query), At: i.At}, RefreshMode: spec.RefreshAuto, Schedule: schedule,
	}
}
