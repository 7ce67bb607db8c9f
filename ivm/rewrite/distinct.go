package rewrite

import "github.com/pgsluice/sluice/ivm/algebra"

// GroupDistinct turns DISTINCT into groups without aggregates: one rule less to follow.
func GroupDistinct(columns *algebra.Columns) func(algebra.Node) algebra.Node {
	return func(root algebra.Node) algebra.Node {
		return algebra.Rewrite(root, func(n algebra.Node) algebra.Node {
			d, ok := n.(*algebra.Distinct)
			if !ok {
				return n
			}
			groups := &algebra.Aggregate{Input: d.Input}
			back := &algebra.Project{Input: groups}
			for _, id := range d.Columns() {
				key := columns.New(columns.Info(id))
				groups.Keys = append(groups.Keys, algebra.Item{ID: key, Expr: algebra.Ref(id)})
				back.Items = append(back.Items, algebra.Item{ID: id, Expr: algebra.Ref(key)})
			}
			return back
		})
	}
}
