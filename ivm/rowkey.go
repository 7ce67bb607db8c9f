package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// rowKey finds columns of the output that no two rows of the view share, none of them null; nil if there are none. The output has
// such columns where it determines, for each table that is joined, which of its rows it is.
func (v *View) rowKey() []Key {
	f := facts{origin: map[algebra.ColID]algebra.ColID{}}
	if !f.gather(v.Root) || len(f.sources) == 0 {
		return nil
	}
	var keys []Key
	for _, o := range v.Output {
		if id, ok := f.origin[o.ID]; ok && !v.Columns.Info(id).Nullable {
			keys = append(keys, Key{Name: o.Name, id: id})
		}
	}
	if !f.determined(v.Columns, keys) {
		return nil
	}
	for i := len(keys) - 1; i >= 0; i-- {
		if fewer := slices.Delete(slices.Clone(keys), i, i+1); f.determined(v.Columns, fewer) {
			keys = fewer
		}
	}
	return keys
}

// UniqueOn are the columns of a table that no two of its rows share, where stored rows are found because of that; none if they are found otherwise.
func (v *View) UniqueOn(table *catalog.Relation) []string {
	if v.Strategy() != MergeRows || v.Storage().Repeats {
		return nil
	}
	var names []string
	for _, attr := range table.Key {
		names = append(names, table.Columns[attr].Name)
	}
	return names
}

// facts are what a tree of joins, filters and projections says about its columns.
type facts struct {
	sources []*algebra.Source
	equal   [][2]algebra.ColID
	origin  map[algebra.ColID]algebra.ColID // the table's column that a column is
}

// gather collects facts; it gives up at any other operator.
func (f *facts) gather(n algebra.Node) bool {
	switch n := n.(type) {
	case *algebra.Source:
		f.sources = append(f.sources, n)
		for _, c := range n.Cols {
			f.origin[c.ID] = c.ID
		}
		return n.Table.Key != nil && !n.Table.ReadsOthers()
	case *algebra.Filter:
		return f.gather(n.Input) && f.conditions(n.Conds)
	case *algebra.Join:
		return f.gather(n.Left) && f.gather(n.Right) && f.conditions(n.On)
	case *algebra.Project:
		if !f.gather(n.Input) {
			return false
		}
		for _, item := range n.Items {
			if id, ok := item.Expr.Column(); ok {
				if from, ok := f.origin[id]; ok {
					f.origin[item.ID] = from
				}
			}
		}
		return true
	}
	return false
}

// conditions notes which columns are equal.
func (f *facts) conditions(conds []algebra.Scalar) bool {
	for _, c := range conds {
		l, r, ok := c.Expr.Equality()
		if !ok {
			continue
		}
		left, isLeft := (algebra.Scalar{Expr: l}).Column()
		right, isRight := (algebra.Scalar{Expr: r}).Column()
		from, known := f.origin[left]
		to, also := f.origin[right]
		if isLeft && isRight && known && also {
			f.equal = append(f.equal, [2]algebra.ColID{from, to})
		}
	}
	return true
}

// determined reports whether the keys' values leave one row of each source. Equality of columns carries over only between
// columns of one type: several numerics may equal one float.
func (f *facts) determined(columns *algebra.Columns, keys []Key) bool {
	known := map[algebra.ColID]bool{}
	for _, k := range keys {
		known[k.id] = true
	}
	for settled := -1; settled != len(known); {
		settled = len(known)
		for _, e := range f.equal {
			if columns.Info(e[0]).Type == columns.Info(e[1]).Type && (known[e[0]] || known[e[1]]) {
				known[e[0]], known[e[1]] = true, true
			}
		}
		for _, s := range f.sources {
			if keyKnown(s, known) {
				for _, c := range s.Cols {
					known[c.ID] = true
				}
			}
		}
	}
	return !slices.ContainsFunc(f.sources, func(s *algebra.Source) bool { return !keyKnown(s, known) })
}

// keyKnown reports whether all columns of the key of a source's table are known.
func keyKnown(s *algebra.Source, known map[algebra.ColID]bool) bool {
	for _, attr := range s.Table.Key {
		if !slices.ContainsFunc(s.Cols, func(c algebra.SourceCol) bool { return c.Attr == attr && known[c.ID] }) {
			return false
		}
	}
	return true
}
