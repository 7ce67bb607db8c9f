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
			for _, id := range top.Columns() {
				item := sqltext.SortItem{Expr: sqltext.Column(int(id))}
				switch {
				case !columns.Info(id).Ordered():
					item.Expr = item.Expr.Image()
				case slices.Contains(sorted, id):
					continue
				}
				total.Then = append(total.Then, item)
			}
			return &total
		})
	}
}
