package ivm

import (
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/resolve"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Where a star stands for columns that only the server knows, each row is stored as one value, whose type the server makes of the query. Nothing but
// recomputing follows such a view, so nothing else needs the columns.

// wholeRow is the column that stores the rows of a view that is Whole.
const wholeRow = "__row"

// wholeIfEmpty stores rows without columns, of which there is no list, as values too.
func (v *view) wholeIfEmpty(at diag.Pos) {
	if len(v.Output) == 0 && v.Open == nil {
		v.Open, v.Root = &at, nil
		v.Full = append(v.Full, resolve.Reason{Pos: at, What: "query without columns", Hint: "select something"})
	}
}

// wholeStorage stores rows as values, found by their text.
func wholeStorage() apply.Storage {
	return apply.Storage{
		Stored: []string{wholeRow}, Types: []string{sqltext.UnknownRow}, Varied: []bool{false}, Comparable: []bool{false},
		Identity: []apply.Key{{Name: wholeRow, Type: sqltext.UnknownRow, Equality: catalog.NoEquality}}, Repeats: true,
	}
}
