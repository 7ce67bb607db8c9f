package ivm

import (
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/resolve"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Where a star stands for columns that only the server knows, each row is stored as one value, whose type the server makes of the query. Nothing but
// recomputing follows such a view, so nothing else needs the columns.

// WholeRow is the column that stores the rows of a view that is Whole.
const WholeRow = "__row"

// Whole reports whether the view has columns that only the server knows.
func (v *View) Whole() bool { return v.Open != nil }

// wholeIfEmpty stores rows without columns, of which there is no list, as values too.
func (v *View) wholeIfEmpty(at diag.Pos) {
	if len(v.Output) == 0 && v.Open == nil {
		v.Open, v.Root = &at, nil
		v.Full = append(v.Full, resolve.Reason{Pos: at, What: "query without columns", Hint: "select something"})
	}
}

// wholeStorage stores rows as values, found by their text.
func wholeStorage() Storage {
	return Storage{
		Stored: []string{WholeRow}, Types: []string{sqltext.UnknownRow}, Varied: []bool{false}, Comparable: []bool{false},
		Identity: []Key{{Name: WholeRow, Type: sqltext.UnknownRow, Equality: catalog.NoEquality}}, Repeats: true,
	}
}
