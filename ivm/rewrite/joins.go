package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// OrderJoins joins first what leaves few rows, and puts each condition as far down as it goes. Changes of a join are computed join by join, so what is
// joined before a condition is met is read for all changed rows, and what is joined without a condition would be all rows with all changed ones:
//
//	σ(A × B ⋈ C) = (A ⋈ C) ⋈ B    where conditions connect A and B with C only
//
// Without conditions that choose, the order is the query's as far as it goes.
func OrderJoins(known *props.Props) func(algebra.Node) algebra.Node {
	return func(root algebra.Node) algebra.Node {
		return algebra.Rewrite(root, func(n algebra.Node) algebra.Node {
			b := joined{}
			if !b.gather(n) || len(b.leaves) < 3 {
				return n
			}
			return b.ordered(known)
		})
	}
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
func (b *joined) ordered(known *props.Props) algebra.Node {
	for i, leaf := range b.leaves {
		b.leaves[i] = b.filtered(leaf)
	}
	order := newJoinOrder(b, known)
	first, second := order.first(), order.next()
	tree := b.leaves[min(first, second)] // a join of two is the same either way
	for at := max(first, second); at >= 0; at = order.next() {
		join := &algebra.Join{Left: tree, Right: b.leaves[at]}
		join.On = b.take(join.Columns())
		tree = join
	}
	if len(b.conds) > 0 { // which read no column
		return &algebra.Filter{Input: tree, Conds: b.conds}
	}
	return tree
}

// filtered is a leaf under the conditions that read nothing else, and under what others say of it.
func (b *joined) filtered(leaf algebra.Node) algebra.Node {
	conds := b.take(leaf.Columns())
	for _, c := range b.conds {
		if cond, ok := implied(c, leaf.Columns()); ok {
			conds = append(conds, cond)
		}
	}
	if len(conds) == 0 {
		return leaf
	}
	return &algebra.Filter{Input: leaf, Conds: conds}
}

// implied is what follows for one leaf from a condition on several, each of whose alternatives gives it a value; PostgreSQL finds it only where all of
// them are joined at once:
//
//	a = 1 and b = 2 or a = 2 and b = 1    implies a = 1 or a = 2
func implied(c algebra.Scalar, columns []algebra.ColID) (cond algebra.Scalar, ok bool) {
	word, alternatives := c.Expr.Logic()
	if word != "OR" {
		return cond, false
	}
	for i, alternative := range alternatives {
		conjuncts := alternative.Conjuncts()
		at := slices.IndexFunc(conjuncts, func(e sqltext.Expr) bool { return algebra.Scalar{Expr: e}.MadeOf(columns) && givesValue(e) })
		switch {
		case at < 0:
			return cond, false
		case i == 0:
			cond.Expr = conjuncts[at]
		default:
			cond.Expr = sqltext.Or(cond.Expr, conjuncts[at])
		}
	}
	return cond, true
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
