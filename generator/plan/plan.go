// Package plan compiles a spec: its views, change logs, the order of refreshes, schedules, and the names of all objects.
//
// Files call downwards: plan, lineage, feeds, first_names, check, sharded, queries, sources, from_sql, stream_tables, maintenance_groups,
// refresh_groups, immediate, states, stream_table_models, follow, watch, due, table_outboxes, planner, views, at_commit, columns, materialize, view, own_tables, own_table_problems,
// own_table_roles, inbox_ordering, inbox_priority, tenants, known, outboxes, schedules, named, columns_read, reads, schemas, problems, warnings.
package plan

import (
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Plan is a compiled spec with its view model.
type Plan struct {
	Spec    *spec.Spec       // with the stream tables that stand for relations of inboxes
	View    render.Extension // the data of templates
	Order   []int            // of the stream tables of the spec, those first that others read
	Queries []Query          // of the stream tables, in that order
	Notes   []diag.Error     // on stream tables that are recomputed
}

// Of plans a spec whose relations of inboxes are materialized; nil if something is wrong with it.
func Of(s *spec.Spec, names *Lineage, errs *diag.List) *Plan {
	compiled := compileViews(s, errs)
	if errs.Empty() {
		compiled.checkCalculated()
	}
	endsQuotes(s, errs)
	checkExpressions(s, errs)
	if !errs.Empty() {
		return nil
	}
	view := viewOf(s, compiled)
	view.Plan = streamTables(s, compiled, names)
	if s.CreatesStreamTables() {
		view.FromSQLTable = streamTableFromSQL(s)
	}
	for _, t := range view.StreamTables {
		if t.Outbox != nil {
			view.Outboxes = append(view.Outboxes, *t.Outbox)
		}
	}
	view.Settings = settingsOf(s)
	view.Reads = readsOf(s, compiled, &view.Plan)
	return &Plan{
		Spec: s, View: view, Order: compiled.order, Queries: compiled.queries(view.StreamTables), Notes: (&planner{spec: s, compiled: compiled}).notes(),
	}
}

// Views compiles the queries of the stream tables of a spec, in its order; that of a wrong query is nil.
func Views(s *spec.Spec, errs *diag.List) []*ivm.Plan { return compileViews(s, errs).views }
