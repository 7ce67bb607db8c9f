package render

import (
	"fmt"
	"strings"
)

// StateTables are the names of the tables of its states.
func (t StreamTable) StateTables() []string {
	var names []string
	for _, state := range t.States {
		names = append(names, state.Rows.String())
	}
	return names
}

// StateStatements are the statements that create those tables, empty.
func (t StreamTable) StateStatements() []string {
	var statements []string
	for _, s := range t.States {
		statements = append(statements, s.CreateStore()...)
	}
	return append(statements, t.SpecIndexes()...)
}

// CreateStore are the statements that create the table of a state, empty, where it is missing.
func (t StreamTable) CreateStore() []string {
	columns, from := t.StoredColumns(), t.StoredFrom()
	if !t.Grouped {
		columns, from = list("s", t.Stored)+", null::bigint as __mult, null::bigint as __hash", "(\n"+t.RowsSQL+"\n) s"
	}
	create := fmt.Sprintf("create table if not exists %s%s as\nselect %s\nfrom %s\nwith no data", t.Rows, t.StoredWith(), columns, from)
	statements := []string{create}
	for _, index := range t.RowIndexes() {
		statements = append(statements, strings.Replace(index, "index ", "index if not exists ", 1))
	}
	return append(statements, t.SpecIndexes()...)
}
