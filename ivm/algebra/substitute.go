package algebra

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Substitute is a tree, as it was resolved, with each expression replaced by what replace makes of it.
func Substitute(n Node, replace func(Scalar) Scalar) Node {
	all := func(exprs []Scalar) []Scalar {
		replaced := make([]Scalar, len(exprs))
		for i, e := range exprs {
			replaced[i] = replace(e)
		}
		return replaced
	}
	items := func(items []Item) []Item {
		replaced := make([]Item, len(items))
		for i, item := range items {
			replaced[i] = Item{item.ID, replace(item.Expr)}
		}
		return replaced
	}
	return Rewrite(n, func(n Node) Node {
		switch n := n.(type) {
		case *Source, *Union, *Distinct, *Recursion:
			return n
		case *Values:
			v := &Values{Cols: n.Cols}
			for _, row := range n.Rows {
				v.Rows = append(v.Rows, all(row))
			}
			return v
		case *Filter:
			return &Filter{n.Input, all(n.Conds)}
		case *Project:
			return &Project{n.Input, items(n.Items)}
		case *Join:
			return &Join{n.Left, n.Right, all(n.On)}
		case *Outer:
			return &Outer{n.Left, n.Right, all(n.On), n.Full}
		case *Semi:
			other := *n
			other.On = all(n.On)
			return &other
		case *Each:
			return n.Mapped(n.Input, replace)
		case *Aggregate:
			g := &Aggregate{Input: n.Input, Keys: items(n.Keys), Global: n.Global}
			for _, a := range n.Aggs {
				a.Call, a.Args, a.Filter = replace(a.Call), all(a.Args), all(a.Filter)
				g.Aggs = append(g.Aggs, a)
			}
			return g
		case *Top:
			t := *n
			t.Order, t.Then = slices.Clone(n.Order), slices.Clone(n.Then)
			for _, items := range [][]sqltext.SortItem{t.Order, t.Then} {
				for i := range items {
					items[i].Expr = replace(Scalar{items[i].Expr}).Expr
				}
			}
			return &t
		case *Window:
			over := &Window{Input: n.Input, Keys: items(n.Keys)}
			for _, c := range n.Calls {
				c.Call = replace(c.Call)
				over.Calls = append(over.Calls, c)
			}
			return over
		}
		panic(fmt.Sprintf("no expressions known of %T", n))
	})
}

// Computes is an expression over a projection's columns as one over the columns below it.
func (n *Project) Computes(e Scalar) Scalar {
	return Scalar{e.Expr.Map(func(column sqltext.Expr) (sqltext.Expr, bool) {
		id, ok := column.Column()
		at := slices.IndexFunc(n.Items, func(i Item) bool { return ok && i.ID == ColID(id) })
		if at < 0 {
			return column, false
		}
		return n.Items[at].Expr.Expr, true
	})}
}
