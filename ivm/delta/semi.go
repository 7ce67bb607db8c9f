package delta

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// The rules of semi-joins and anti-joins (rule R3t).
const (
	semiRule = "Δ (L ⋉ R) = Δ L ⋉ R ⊎ A ⋉ R ⊎ −A ⋉ (R ⊎ −Δ R), A being the rows of L as it was that Δ R matches"
	antiRule = "Δ (L ▷ R) = Δ L ▷ R ⊎ A ▷ R ⊎ −A ▷ (R ⊎ −Δ R), A being the rows of L as it was that Δ R matches"
)

// A row of L comes or goes only when its first match comes or its last one goes. Rows of A that had a match before and have one now cancel themselves, so
// A may hold too many: all that the equalities among the conditions match.
func (c Calculus) semi(n *algebra.Semi) algebra.Node {
	left, right := c.Of(n.Left), c.Of(n.Right)
	test := func(rows, of algebra.Node) algebra.Node { return n.With([]algebra.Node{rows, of}) }
	if right == nil {
		if left == nil {
			return nil
		}
		return test(left, n.Right)
	}
	right = algebra.Keep(right)
	c.done[n.Right] = right
	var terms []algebra.Node
	if left != nil {
		left = algebra.Keep(left)
		c.done[n.Left] = left
		terms = append(terms, test(left, n.Right))
	}
	matched := &algebra.Kept{Input: c.matched(n, algebra.Before(n.Left, left), right)}
	terms = append(terms, test(matched, n.Right), &algebra.Negate{Input: test(matched, algebra.Before(n.Right, right))})
	return sum(n.Columns(), terms)
}

// matched are those of rows, of the left side, that changed rows of the right side may match.
func (c Calculus) matched(n *algebra.Semi, rows, changes algebra.Node) algebra.Node {
	join, p := &algebra.Join{Left: rows}, &algebra.Project{Input: changes}
	for _, e := range props.Equalities(n.On) {
		if e.Left.MadeOf(n.Right.Columns()) && e.Right.MadeOf(n.Left.Columns()) {
			e.Left, e.Right = e.Right, e.Left
		}
		key := c.columns.InfoOf(e.Right)
		if e.Left.MadeOf(n.Left.Columns()) && e.Right.MadeOf(n.Right.Columns()) && key.Equality.Comparable() {
			item := algebra.Item{ID: c.columns.New(key), Expr: e.Right}
			p.Items, join.On = append(p.Items, item), append(join.On, equal(e.Left, algebra.Ref(item.ID)))
		}
	}
	if len(p.Items) > 0 {
		join.Right = &algebra.Distinct{Input: p}
		return &algebra.Project{Input: join, Items: algebra.Same(rows.Columns())}
	}
	return &algebra.Semi{Left: rows, Right: changes, On: n.On, AnySign: true}
}

func equal(l, r algebra.Scalar) algebra.Scalar {
	return algebra.Scalar{Expr: sqltext.Equals(l.Expr, r.Expr)}
}
