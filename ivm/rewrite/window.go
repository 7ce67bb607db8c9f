package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// OrderWindows has window functions that tell rows apart see them in a certain order, so that they make the same of the same rows each time:
//
//	row_number() over (order by a) = row_number() over (order by a, key)
//
// Where rows have a key, it is enough. Otherwise all columns are, as rows that are alike may change places; rows without a key are left for a second call of
// the pass, without keys, once it is known which columns are read.
func OrderWindows(columns *algebra.Columns, keys bool) func(algebra.Node) algebra.Node {
	return func(root algebra.Node) algebra.Node {
		known := props.New(columns)
		return algebra.Rewrite(root, func(n algebra.Node) algebra.Node {
			w, ok := n.(*algebra.Window)
			if !ok || !slices.ContainsFunc(w.Calls, func(c algebra.WindowCall) bool { return c.Loose }) {
				return n
			}
			by := w.Input.Columns()
			if keys {
				if by = known.Of(w.Input).Key(by); by == nil {
					return n
				}
			}
			ordered := &algebra.Window{Input: w.Input, Keys: w.Keys}
			for _, c := range w.Calls {
				if c.Loose {
					more := missing(columns, c.Call.Expr, by)
					c.Call.Expr, c.Loose, c.Ordered = c.Call.Expr.OverOrdered(more), false, len(more) > 0
				}
				ordered.Calls = append(ordered.Calls, c)
			}
			return ordered
		})
	}
}

// missing are the columns by which a call's window neither partitions nor sorts yet.
func missing(columns *algebra.Columns, call sqltext.Expr, by []algebra.ColID) []sqltext.SortItem {
	of, _ := call.Call()
	has := slices.Clone(of.Over.Partition)
	for _, item := range of.Over.Order {
		has = append(has, item.Expr)
	}
	return decide(columns, by, has)
}
