package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// TotalOrder has rows that are equal in the order of a Top decided between by all of their columns: which of them are the first is then the same whenever
// that is computed. A query leaves it open.
func TotalOrder(columns *algebra.Columns, known *props.Props) func(algebra.Node) algebra.Node {
	return func(root algebra.Node) algebra.Node {
		return algebra.Rewrite(root, func(n algebra.Node) algebra.Node {
			top, ok := n.(*algebra.Top)
			if !ok || top.Ties && top.Offset.Expr.IsZero() {
				return n
			}
			sorted := append(top.Sorted(), top.Keys...)
			if known.Of(top.Input).Key(sorted) != nil {
				return n
			}
			total := *top
			var has []sqltext.Expr
			for _, id := range sorted {
				has = append(has, algebra.Ref(id).Expr)
			}
			total.Then = decide(columns, top.Columns(), has)
			return &total
		})
	}
}

// decide are columns that sort rows which are equal in what sorts them already. Values that cannot be sorted, or are equal and differ, are sorted by their images.
func decide(columns *algebra.Columns, by []algebra.ColID, has []sqltext.Expr) []sqltext.SortItem {
	var items []sqltext.SortItem
	for _, id := range by {
		e := algebra.Ref(id).Expr
		if !columns.Info(id).Ordered() {
			e = e.Image()
		}
		if !slices.ContainsFunc(has, func(h sqltext.Expr) bool { return sqltext.Equal(h, e) }) {
			items = append(items, sqltext.SortItem{Expr: e})
		}
	}
	return items
}
