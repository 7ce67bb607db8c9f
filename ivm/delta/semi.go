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
	if bounds := algebra.BoundsOf(n, c.columns); bounds != nil {
		return c.band(n, bounds, left, right)
	}
	var terms []algebra.Node
	if left != nil {
		left = algebra.Keep(left)
		c.done[n.Left] = left
		terms = append(terms, test(left, n.Right))
	}
	tied := c.ties(n, right)
	matched := &algebra.Kept{Input: tied.matched(algebra.Before(n.Left, left))}
	terms = append(terms, test(matched, n.Right), &algebra.Negate{Input: test(matched, c.asked(tied, matched).before(n.Right, c.single))})
	return sum(n.Columns(), terms)
}

// ties are the equalities by which changed rows of the right side find those of both sides.
type ties struct {
	of          *algebra.Semi
	changes     algebra.Node
	keys        algebra.Node // of changes, each once; nil if there are no equalities
	left, right []algebra.Scalar
}

func (c Calculus) ties(n *algebra.Semi, changes algebra.Node) ties {
	t, p := ties{of: n, changes: changes}, &algebra.Project{Input: changes}
	for _, e := range props.Equalities(n.On) {
		if e.Left.MadeOf(n.Right.Columns()) && e.Right.MadeOf(n.Left.Columns()) {
			e.Left, e.Right = e.Right, e.Left
		}
		key := c.columns.InfoOf(e.Right)
		if e.Left.MadeOf(n.Left.Columns()) && e.Right.MadeOf(n.Right.Columns()) && key.Equality.Comparable() {
			item := algebra.Item{ID: c.columns.New(key), Expr: e.Right}
			p.Items = append(p.Items, item)
			t.left, t.right = append(t.left, equal(e.Left, algebra.Ref(item.ID))), append(t.right, equal(e.Right, algebra.Ref(item.ID)))
		}
	}
	if len(p.Items) > 0 {
		t.keys = &algebra.Distinct{Input: p}
	}
	return t
}

// matched are those of rows, of the left side, that changed rows of the right side may match.
func (t ties) matched(rows algebra.Node) algebra.Node {
	if t.keys == nil {
		return &algebra.Semi{Left: rows, Right: t.changes, On: t.of.On, AnySign: true}
	}
	return &algebra.Project{Input: &algebra.Join{Left: rows, Right: t.keys, On: t.left}, Items: algebra.Same(rows.Columns())}
}

// asked are the ties of the rows that changed rows match, where conditions leave out some: of a thousand customers with new orders, a hundred may be of the
// countries that the query asks for, and the orders of the others need not be read.
func (c Calculus) asked(t ties, matched algebra.Node) ties {
	if _, whole := t.of.Left.(*algebra.Source); whole || t.keys == nil {
		return t
	}
	asked, p := ties{of: t.of, changes: t.changes}, &algebra.Project{Input: matched}
	for i := range t.left {
		left, _, _ := t.left[i].Expr.Equality()
		right, _, _ := t.right[i].Expr.Equality()
		key := c.columns.InfoOf(algebra.Scalar{Expr: left})
		if !key.Equality.Comparable() {
			return t
		}
		item := algebra.Item{ID: c.columns.New(key), Expr: algebra.Scalar{Expr: left}}
		p.Items = append(p.Items, item)
		asked.right = append(asked.right, equal(algebra.Scalar{Expr: right}, algebra.Ref(item.ID)))
	}
	asked.keys = &algebra.Distinct{Input: p}
	return asked
}

// before is the right side as it was, as far as a row of matched may match it. Whether there is one in a bag is asked of all rows at once; of one that is not
// added up, a sum is computed for each row, which spares adding up the bag where few rows ask. With ten thousand of them that takes minutes.
func (t ties) before(rows algebra.Node, few bool) algebra.Node {
	before := algebra.Before(rows, t.changes)
	if t.keys == nil || few {
		return before
	}
	return &algebra.Bag{Input: &algebra.Project{Input: &algebra.Join{Left: before, Right: t.keys, On: t.right}, Items: algebra.Same(rows.Columns())}}
}

func equal(l, r algebra.Scalar) algebra.Scalar {
	return algebra.Scalar{Expr: sqltext.Equals(l.Expr, r.Expr)}
}
