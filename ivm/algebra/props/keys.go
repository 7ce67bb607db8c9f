package props

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// Equality is a condition that two expressions are equal.
type Equality struct{ Left, Right algebra.Scalar }

// Equalities are those among conditions.
func Equalities(conds []algebra.Scalar) []Equality {
	var all []Equality
	for _, c := range conds {
		if l, r, ok := c.Expr.Equality(); ok {
			all = append(all, Equality{algebra.Scalar{Expr: l}, algebra.Scalar{Expr: r}})
		}
	}
	return all
}

// Key are those of the columns that identify a row, as few as can be, none of them null: of several choices the one with the
// first columns. It is nil if there is none, or none is known: keys are known of tables, and of joins, filters and projections over them.
func (f *Facts) Key(columns []algebra.ColID) []algebra.ColID {
	var key []algebra.ColID
	for _, id := range columns {
		if len(f.origins[id]) == 1 && f.notNull[id] {
			key = append(key, id)
		}
	}
	if !f.unique(key) {
		return nil
	}
	for i := len(key) - 1; i >= 0; i-- {
		if fewer := slices.Delete(slices.Clone(key), i, i+1); f.unique(fewer) {
			key = fewer
		}
	}
	return key
}

// unique reports whether no two rows have the same values in these columns: the values leave one row of each table.
func (f *Facts) unique(key []algebra.ColID) bool {
	if !f.paired || len(f.rows) == 0 {
		return false
	}
	determined := f.determined(key)
	return !slices.ContainsFunc(f.rows, func(s *algebra.Source) bool { return !keyed(s, determined) })
}

// determined are the columns of tables that follow from the values of some columns: equal ones, and all of a row whose key does.
func (f *Facts) determined(from []algebra.ColID) set {
	known := set{}
	for _, id := range from {
		known.add(f.Origins(id))
	}
	for settled := -1; settled != len(known); {
		settled = len(known)
		for _, e := range f.equal {
			if known[e[0]] || known[e[1]] {
				known[e[0]], known[e[1]] = true, true
			}
		}
		for _, s := range f.rows {
			if keyed(s, known) {
				known.add(s.Columns())
			}
		}
	}
	return known
}

// keyed reports whether all columns of the key of a source's table are known.
func keyed(s *algebra.Source, known set) bool {
	return !slices.ContainsFunc(s.Table.Key, func(attr int) bool {
		return !slices.ContainsFunc(s.Cols, func(c algebra.SourceCol) bool { return c.Attr == attr && known[c.ID] })
	})
}

// Lookup says how an occurrence of a table is read whose columns by are given.
type Lookup struct {
	Columns []string // those of the table among by
	Unique  bool     // they include a key: there is one row at most
	Indexed bool     // an index begins with one of them
}

// LookupBy finds how a source is read for rows whose columns by are given.
func LookupBy(s *algebra.Source, by []algebra.ColID) Lookup {
	l := Lookup{}
	var attrs []int
	for _, c := range s.Cols {
		if slices.Contains(by, c.ID) {
			l.Columns = append(l.Columns, s.Table.Columns[c.Attr].Name)
			attrs = append(attrs, c.Attr)
		}
	}
	keys := slices.Clone(s.Table.Uniques)
	if len(s.Table.Key) > 0 {
		keys = append(keys, s.Table.Key)
	}
	for _, key := range keys {
		if len(key) > 0 {
			l.Unique = l.Unique || !s.Table.ReadsOthers() && !slices.ContainsFunc(key, func(attr int) bool { return !slices.Contains(attrs, attr) })
		}
	}
	l.Indexed = slices.ContainsFunc(s.Table.Indexed, func(index []int) bool { return slices.Contains(attrs, index[0]) })
	return l
}
