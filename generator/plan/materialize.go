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
// to its DDL. Inboxes over tables of users have stream tables if their tables fit; otherwise the compiler says why not.
func Materialized(s *spec.Spec) *spec.Spec {
	whole := *s
	whole.StreamTables, whole.DDL = slices.Clone(s.StreamTables), slices.Clone(s.DDL)
	for n := range s.Inboxes {
		i := &s.Inboxes[n]
		if !i.Materialize {
			continue
		}
		view := viewOfInbox(s, i)
		if i.Managed() {
			whole.DDL = append(whole.DDL, diag.WholeFile(inboxFile(i), render.Must("inbox/table.sql", view)))
		} else if !overTable(s, i, &view) {
			continue
		}
		pending := view.IsPending("i")
		if i.BackOff() != nil {
			pending += " and (i.available_at is null or i.available_at <= now())"
		}
		whole.StreamTables = append(whole.StreamTables, relationOf(i, view, view.PendingView, pending, i.Schedule))
		if i.Priority != nil {
			for n, tier := range view.Priority.Tiers {
				cond := fmt.Sprintf("%s and %s between %d and %d", pending, view.PriorityOf("i"), tier.Min, tier.Max)
				whole.StreamTables = append(whole.StreamTables, relationOf(i, view, tier.View, cond, i.Priority.Tiers[n].Schedule))
			}
		}
		if i.DeadLetter {
			whole.StreamTables = append(whole.StreamTables, relationOf(i, view, view.DLQView, view.IsDead("i"), spec.Schedule{Every: dlqSchedule}))
		}
	}
	return &whole
}

// overTable completes the view model of an inbox over a table of the user's, and reports whether the table fits. It reads the DDL by itself, since the
// queries of the inbox's stream tables name the columns that the table has, and are part of the spec before that is compiled.
func overTable(s *spec.Spec, i *spec.Inbox, view *render.Inbox) bool {
	c := newCompiler(s, &diag.List{})
	c.readDDL()
	return c.errs.Empty() && c.adopt(view, i)
}

// relationOf is the stream table with the messages of an inbox for which a condition holds.
func relationOf(i *spec.Inbox, view render.Inbox, name render.Name, cond string, schedule spec.Schedule) spec.StreamTable {
	query := fmt.Sprintf("select %s\nfrom %s i\nwhere %s\n", view.Shown("i"), view.Messages(), cond)
	return spec.StreamTable{
		Place: i.Place, Name: sqltext.Qualified(name.Schema, name.Name), Relation: spec.Name(name),
		Query: spec.Query{Block: diag.WholeFile(inboxFile(i), query), At: i.At}, RefreshMode: spec.RefreshAuto, Schedule: schedule,
	}
}
