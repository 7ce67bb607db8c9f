package delta

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

const (
	leftRule = "Δ (L ⟕ R) = Δ (L ⋈ R) ⊎ Δ (L ▷ R), with nulls for R"
	fullRule = "Δ (L ⟗ R) = Δ (L ⋈ R) ⊎ Δ (L ▷ R) ⊎ Δ (R ▷ L), with nulls for the other side"
)

// An outer join adds to a join the rows without a partner, which an anti-join keeps.
func (c Calculus) outer(n *algebra.Outer) algebra.Node {
	terms := []algebra.Node{&algebra.Join{Left: n.Left, Right: n.Right, On: n.On}, c.padded(n, n.Left, n.Right)}
	if n.Full {
		terms = append(terms, c.padded(n, n.Right, n.Left))
	}
	return c.Of(sum(n.Columns(), terms))
}

// padded are the rows of a side without a partner on the other one.
func (c Calculus) padded(n *algebra.Outer, side, other algebra.Node) algebra.Node {
	p := &algebra.Project{Input: &algebra.Semi{Left: side, Right: members(other, n.On), On: n.On, Anti: true}}
	for _, id := range n.Columns() {
		item := algebra.Item{ID: id, Expr: algebra.Ref(id)}
		if !slices.Contains(side.Columns(), id) {
			item.Expr = c.columns.Null(id)
		}
		p.Items = append(p.Items, item)
	}
	return p
}

// members are rows of groups in place of the groups, where conditions read their keys only: there is a group where there is a row.
func members(n algebra.Node, on []algebra.Scalar) algebra.Node {
	groups, ok := n.(*algebra.Aggregate)
	if !ok || groups.Global {
		return n
	}
	for _, a := range groups.Aggs {
		if slices.ContainsFunc(on, func(s algebra.Scalar) bool { return slices.Contains(s.Columns(), a.ID) }) {
			return n
		}
	}
	return &algebra.Project{Input: groups.Input, Items: groups.Keys}
}
