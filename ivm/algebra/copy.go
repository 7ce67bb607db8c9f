package algebra

import "github.com/pgsluice/sluice/ivm/sqltext"

// Copy is a tree of the same rows, as it was resolved, whose columns have numbers of their own, so that both may stand in one tree beside each other. as has the
// new numbers of its columns. It has no recursion.
func Copy(n Node, columns *Columns) (other Node, as map[ColID]ColID) {
	as = map[ColID]ColID{}
	Walk(n, func(n Node) {
		for _, id := range made(n) {
			if as[id] == 0 {
				as[id] = columns.New(columns.Info(id))
			}
		}
	})
	return Rewrite(Substitute(n, func(e Scalar) Scalar { return e.Renamed(as) }), func(n Node) Node { return renumbered(n, as) }), as
}

// made are the columns that a node makes, of expressions and tables, and perhaps others of its input.
func made(n Node) []ColID {
	switch n := n.(type) {
	case *Source, *Values, *Project, *Union, *Aggregate:
		return n.Columns()
	case *Each:
		return n.Cols
	case *Window:
		ids := itemIDs(n.Keys)
		for _, c := range n.Calls {
			ids = append(ids, c.ID)
		}
		return ids
	}
	return nil
}

// renumbered is a node whose own columns have other numbers.
func renumbered(n Node, as map[ColID]ColID) Node {
	ids := func(ids []ColID) []ColID {
		other := make([]ColID, len(ids))
		for i, id := range ids {
			if other[i] = as[id]; other[i] == 0 {
				other[i] = id
			}
		}
		return other
	}
	items := func(items []Item) []Item {
		other := make([]Item, len(items))
		for i, item := range items {
			other[i] = Item{as[item.ID], item.Expr}
		}
		return other
	}
	switch n := n.(type) {
	case *Source:
		return n.Renamed(as)
	case *Values:
		return &Values{Cols: ids(n.Cols), Rows: n.Rows}
	case *Project:
		return &Project{n.Input, items(n.Items)}
	case *Union:
		u := &Union{Cols: ids(n.Cols), Mixed: n.Mixed}
		for _, b := range n.From {
			u.From = append(u.From, Branch{b.Input, ids(b.Cols)})
		}
		return u
	case *Aggregate:
		g := &Aggregate{Input: n.Input, Keys: items(n.Keys), Global: n.Global}
		for _, a := range n.Aggs {
			a.ID = as[a.ID]
			g.Aggs = append(g.Aggs, a)
		}
		return g
	case *Each:
		e := *n
		e.Cols = ids(n.Cols)
		return &e
	case *Window:
		w := &Window{Input: n.Input, Keys: items(n.Keys)}
		for _, c := range n.Calls {
			c.ID = as[c.ID]
			w.Calls = append(w.Calls, c)
		}
		return w
	case *Top:
		t := *n
		t.Keys = ids(n.Keys)
		return &t
	case *Semi:
		s := *n
		if n.NeverNull != nil {
			s.NeverNull = ids(n.NeverNull)
		}
		return &s
	}
	return n
}

// Renamed reads columns under other numbers, those that have one.
func (s Scalar) Renamed(as map[ColID]ColID) Scalar {
	return Scalar{s.Expr.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		id, isColumn := e.Column()
		to := as[ColID(id)]
		return sqltext.Column(int(to)), isColumn && to != 0
	})}
}
