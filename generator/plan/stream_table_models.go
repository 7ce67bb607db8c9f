package plan

import (
	"fmt"
	"sync"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// names are those of a stream table and of what is made for it.
func (p *planner) names(t *spec.StreamTable, view *ivm.Plan) render.StreamTableNames {
	base := p.base(t)
	names := render.StreamTableNames{
		Table: render.Name(t.Relation), Base: base, Rows: p.in(base + "_rows"), Old: p.in(base + "_rows_old"),
		State: p.in("pgt_stream_table_state"), History: schemasOf(p.spec).In("pgt_refresh_history"), ChangeNo: p.in("pgt_change_no"),
		KeyIndex: p.in(base + "_key"), LookupIndex: p.in(base + "_lookup"), HashIndex: p.in(base + "_hash"),
		ApplyFn: p.in(base + "_apply"), RecomputeFn: p.in(base + "_recompute"), ComputedFn: p.in(base + "_computed"),
	}
	if view.Whole() {
		names.Shape = p.in(base + "_shape")
	}
	return names
}

// definition is a stream table's query, and where names in it are looked up.
func (p *planner) definition(n int) render.Definition {
	view := p.compiled.views[n]
	d := render.Definition{Query: sqltext.Body(p.spec.StreamTables[n].Query.Text), SearchPath: searchPathOf(p.spec)}
	d.OwnPath = d.SearchPath
	if view.OwnNames {
		d.OwnPath, d.Resolved = ownPath, qualified(d.Query, p.compiled.known)
	}
	d.Computes = d.Run() // as it is written, PostgreSQL computes a correlated subquery for those rows only that need it
	if view.PicksKeys || view.Decides || view.LimitBy("r") != "" {
		d.Computes = view.Recompute.Rows()
	}
	for _, r := range view.Sources {
		d.Reads = append(d.Reads, nameOf(r).Plain())
	}
	return d
}

// storage is how a view's rows are stored.
func storage(view *ivm.Plan) render.Storage {
	of := view.Storage
	s := render.Storage{
		Visible: of.Visible, Stored: of.Stored, Repeats: of.Repeats, Hashed: of.Hashed(), Paired: of.Paired(),
		ShownAs: remembered(view.Shown), LimitBy: view.LimitBy, Same: of.Same, HashOf: of.HashOf, Lookup: of.Lookup(),
		Grouped: view.Strategy == ivm.MergeGroups, AddsUp: view.AddsUp,
	}
	for _, k := range of.Identity {
		s.Identity = append(s.Identity, k.Name)
		if k.Varied {
			s.Varied = append(s.Varied, k.Name)
		}
		if !k.Nullable {
			s.NotNull = append(s.NotNull, k.Name)
		}
	}
	if !of.Hashed() {
		s.UniqueKey = of.Index()
	}
	for _, o := range view.Output {
		s.Columns = append(s.Columns, render.Column{Name: o.Name, Type: o.Type, NotNull: o.NeverNull})
	}
	return s
}

// indexes are those that the spec asks for.
func (p *planner) indexes(t *spec.StreamTable, table *render.StreamTable) []render.Index {
	var all []render.Index
	for i, columns := range t.Indexes {
		all = append(all, indexOn(table, p.in(fmt.Sprintf("%s_idx%d", p.base(t), i+1)), columns))
	}
	return all
}

// indexOn is an index on columns that a stream table shows.
func indexOn(table *render.StreamTable, name render.Name, columns []spec.Text) render.Index {
	index := render.Index{Name: name}
	for _, c := range columns {
		index.Names = append(index.Names, c.Value)
		index.Columns = append(index.Columns, "("+table.Shows(table.Rows.Name, c.Value)+")")
	}
	return index
}

// timing says when a stream table is refreshed.
func (p *planner) timing(n int) render.Timing {
	t := &p.spec.StreamTables[n]
	due := render.Timing{
		Schedule: t.Schedule.String(), Seldom: p.seldom(n),
		LastDue: lastDue(t.Schedule, p.spec.Extension.Name, p.path(t), "stream table "+t.Relation.Schema+"."+t.Relation.Name, p.in(p.base(t)+"_last_due")),
	}
	due.DueEvery, due.DueFunctions = p.due(n)
	if t.Schedule.Calculated {
		due.Calculated = p.calculated(n)
	}
	return due
}

// remembered asks once for each alias, from whatever goroutine.
func remembered(shown func(alias string) (list, conds []string)) func(alias string) (list, conds []string) {
	type answer struct{ list, conds []string }
	var known sync.Map
	return func(alias string) (list, conds []string) {
		if a, ok := known.Load(alias); ok {
			return a.(answer).list, a.(answer).conds
		}
		list, conds = shown(alias)
		known.Store(alias, answer{list, conds})
		return list, conds
	}
}
