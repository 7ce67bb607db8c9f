package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// OrderJoins joins what conditions connect first, and puts each condition as far down as it goes. Changes of a join are computed join by join, so what is
// joined without a condition before another table connects it would be all rows with all changed ones:
//
//	σ(A × B ⋈ C) = (A ⋈ C) ⋈ B    where conditions connect A and B with C only
//
// The order of the query is kept as far as it goes.
func OrderJoins(root algebra.Node) algebra.Node {
	return algebra.Rewrite(root, func(n algebra.Node) algebra.Node {
		b := joined{}
		if !b.gather(n) || len(b.leaves) < 3 {
			return n
		}
		return b.ordered()
	})
}

// joined is a tree of joins and filters, taken apart.
type joined struct {
	leaves []algebra.Node
	conds  []algebra.Scalar
}

// gather takes a join apart; false if it is none.
func (b *joined) gather(n algebra.Node) bool {
	switch at := n.(type) {
	case *algebra.Join:
		b.conds = append(b.conds, at.On...)
		for _, in := range at.Inputs() {
			if !b.gather(in) {
				b.leaves = append(b.leaves, in)
			}
		}
		return true
	case *algebra.Filter:
		below := joined{}
		if !below.gather(at.Input) {
			return false
		}
		b.leaves, b.conds = append(b.leaves, below.leaves...), append(append(b.conds, below.conds...), at.Conds...)
		return true
	}
	return false
}

// ordered joins the leaves again. Its columns are those of the join, in another order, which nothing reads.
func (b *joined) ordered() algebra.Node {
	left := slices.Clone(b.leaves)
	tree := b.filtered(left[0])
	left = left[1:]
	for len(left) > 0 {
		at := max(0, slices.IndexFunc(left, func(n algebra.Node) bool { return b.connects(tree, n) }))
		join := &algebra.Join{Left: tree, Right: b.filtered(left[at])}
		join.On = b.take(join.Columns())
		tree, left = join, slices.Delete(left, at, at+1)
	}
	if len(b.conds) > 0 { // which read no column
		return &algebra.Filter{Input: tree, Conds: b.conds}
	}
	return tree
}

// filtered is a leaf under the conditions that read nothing else.
func (b *joined) filtered(leaf algebra.Node) algebra.Node {
	conds := b.take(leaf.Columns())
	if len(conds) == 0 {
		return leaf
	}
	return &algebra.Filter{Input: leaf, Conds: conds}
}

// take removes the conditions that read these columns, and no others.
func (b *joined) take(columns []algebra.ColID) []algebra.Scalar {
	var taken, rest []algebra.Scalar
	for _, c := range b.conds {
		if c.MadeOf(columns) {
			taken = append(taken, c)
		} else {
			rest = append(rest, c)
		}
	}
	b.conds = rest
	return taken
}

// connects reports whether a condition reads columns of both, and of nothing else.
func (b *joined) connects(tree, leaf algebra.Node) bool {
	columns := append(slices.Clone(tree.Columns()), leaf.Columns()...)
	return slices.ContainsFunc(b.conds, func(c algebra.Scalar) bool {
		read := c.Columns()
		return within(read, columns) && !within(read, tree.Columns()) && !within(read, leaf.Columns())
	})
}

func within(ids, columns []algebra.ColID) bool {
	return !slices.ContainsFunc(ids, func(id algebra.ColID) bool { return !slices.Contains(columns, id) })
}
