package props

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// Facts hold of all rows of a node.
type Facts struct {
	// Columns are the output columns, in order.
	Columns []algebra.ColID
	// Outer are columns that the node or one below it reads and none of them makes: those of what stands before a LATERAL subquery.
	Outer []algebra.ColID
	// Sources are the occurrences of tables below, from left to right, each once.
	Sources []*algebra.Source

	rows    []*algebra.Source // those of Sources whose rows a row is made of, and not only tested by
	notNull set
	origins map[algebra.ColID]set // by output column: the columns of tables whose values it passes on
	equal   [][2]algebra.ColID    // columns of tables of one type, which are equal in each row
	paired  bool                  // each row is made of one row of each of rows, and those have keys
}

// NotNull reports whether a column is never null.
func (f *Facts) NotNull(id algebra.ColID) bool { return f.notNull[id] }

// Origins are the columns of tables whose values an output column passes on, in the order of their numbers. A computed column has none, that of a
// union may have several.
func (f *Facts) Origins(id algebra.ColID) []algebra.ColID { return f.origins[id].sorted() }

// Reads reports how many occurrences of tables there are below for which is holds.
func (f *Facts) Reads(is func(*algebra.Source) bool) int {
	reads := 0
	for _, s := range f.Sources {
		if is(s) {
			reads++
		}
	}
	return reads
}

// set is a set of columns.
type set map[algebra.ColID]bool

func (s set) add(ids []algebra.ColID) {
	for _, id := range ids {
		s[id] = true
	}
}

// sorted are the columns of the set in the order of their numbers.
func (s set) sorted() []algebra.ColID {
	var ids []algebra.ColID
	for id, in := range s {
		if in {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// appendNew appends those of more that list does not have.
func appendNew[T comparable](list, more []T) []T {
	for _, item := range more {
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}
