package plan

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// stated are the common table expressions for how a stream table and its states change.
func (p *planner) stated(t *render.StreamTable, view *ivm.Plan, tables ivm.Tables) []string {
	lines := view.Apply.Lines(tables)
	for i := len(view.States) - 1; i >= 0; i-- { // a state may read those before it
		stored := p.stateTable(t, view.States[i])
		tables.Stored = stored.Rows.String()
		t.States = slices.Insert(t.States, 0, stored)
		lines = append(view.States[i].Lines(tables, lines), lines...)
	}
	return lines
}

// stateTable is what templates know of the table of a state.
func (p *planner) stateTable(of *render.StreamTable, state *ivm.State) render.StreamTable {
	in := func(suffix string) render.Name { return p.in(of.Base + "_" + state.Name() + suffix) }
	t := render.StreamTable{
		Extension: of.Extension, Schemas: of.Schemas, Path: of.Path, Storage: storage(state.Plan), As: state.Name() + "_",
		StreamTableNames: render.StreamTableNames{Rows: in(""), KeyIndex: in("_key"), LookupIndex: in("_lookup"), HashIndex: in("_hash")},
		Refresh:          render.Refresh{RowsSQL: state.Recompute.Rows()},
	}
	if !state.Grouped() {
		t.RowsSQL = state.Recompute.Counted()
	}
	for i, column := range state.By {
		t.Indexes = append(t.Indexes, render.Index{Name: in(fmt.Sprintf("_by%d", i+1)), Columns: []string{sqltext.Ident(column)}, Names: []string{column}})
	}
	return t
}
