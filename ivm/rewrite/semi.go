package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// SemiJoinsFirst tests rows before they are joined to groups, so that groups are computed only for those which the test leaves (delta rule of joins):
//
//	σ(A ⋈ γ(B)) ⋉ C = σ((A ⋉ C) ⋈ γ(B))    where the conditions of ⋉ read A and C only, and so with ▷
func SemiJoinsFirst(root algebra.Node) algebra.Node {
	return algebra.Rewrite(root, func(n algebra.Node) algebra.Node {
		if semi, ok := n.(*algebra.Semi); ok {
			return first(semi)
		}
		return n
	})
}

func first(n *algebra.Semi) algebra.Node {
	join, ok := n.Left.(*algebra.Join)
	filter, filtered := n.Left.(*algebra.Filter)
	if filtered {
		join, ok = filter.Input.(*algebra.Join)
	}
	if !ok {
		return n
	}
	groups, ok := join.Right.(*algebra.Aggregate)
	there := slices.Concat(join.Left.Columns(), n.Right.Columns())
	if !ok || len(groups.Keys) == 0 || slices.ContainsFunc(n.On, func(s algebra.Scalar) bool { return !s.MadeOf(there) }) {
		return n
	}
	inner := n.With([]algebra.Node{join.Left, n.Right}).(*algebra.Semi)
	tested := join.With([]algebra.Node{first(inner), groups})
	if filtered {
		return filter.With([]algebra.Node{tested})
	}
	return tested
}
