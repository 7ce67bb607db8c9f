package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// InnerJoins turns outer joins into joins where a condition above is true of no row without a partner, as a comparison is that has a null on one side:
//
//	σ(L ⟕ R) = σ(L ⋈ R)
func InnerJoins(root algebra.Node) algebra.Node { return inner(root, nil) }

// inner does so below n, of whose rows only those are needed for which the conditions are true.
func inner(n algebra.Node, conds []algebra.Scalar) algebra.Node {
	switch n := n.(type) {
	case *algebra.Filter:
		return n.With([]algebra.Node{inner(n.Input, slices.Concat(conds, n.Conds))})
	case *algebra.Join:
		conds = slices.Concat(conds, n.On)
		return n.With([]algebra.Node{inner(n.Left, conds), inner(n.Right, conds)})
	case *algebra.Semi:
		left := conds
		if !n.Anti {
			left = slices.Concat(conds, n.On)
		}
		return n.With([]algebra.Node{inner(n.Left, left), inner(n.Right, n.On)})
	case *algebra.Outer:
		if !n.Full && slices.ContainsFunc(conds, func(c algebra.Scalar) bool { return algebra.Refuses(c, n.Right.Columns()) }) {
			return inner(&algebra.Join{Left: n.Left, Right: n.Right, On: n.On}, conds)
		}
	}
	inputs, changed := n.Inputs(), false
	for i, in := range inputs {
		inputs[i] = inner(in, nil)
		changed = changed || inputs[i] != in
	}
	if !changed {
		return n
	}
	return n.With(inputs)
}
