package delta

import "github.com/pgsluice/sluice/ivm/algebra"

const joinRule = "Δ (A ⋈ B) = Δ A ⋈ B ⊎ A ⋈ Δ B ⊎ −Δ A ⋈ Δ B"

// All but the changes are taken as they are after them, so each term joins tables, which PostgreSQL knows and has indexes on, to few rows. Over a tree of
// n tables this makes three terms a join.
func (c Calculus) join(n *algebra.Join) algebra.Node {
	left, right := c.joined(n.Left, n.Right, n.On), c.joined(n.Right, n.Left, n.On)
	if left != nil && right != nil {
		left, right = algebra.Keep(left), algebra.Keep(right)
	}
	var terms []algebra.Node
	if left != nil {
		terms = append(terms, &algebra.Join{Left: left, Right: n.Right, On: n.On})
	}
	if right != nil {
		terms = append(terms, &algebra.Join{Left: n.Left, Right: right, On: n.On})
	}
	if left != nil && right != nil {
		terms = append(terms, &algebra.Negate{Input: &algebra.Join{Left: left, Right: right, On: n.On}})
	}
	return sum(n.Columns(), terms)
}

// sum adds up terms that make the same columns.
func sum(cols []algebra.ColID, terms []algebra.Node) algebra.Node {
	switch len(terms) {
	case 0:
		return nil
	case 1:
		return terms[0]
	}
	u := &algebra.Union{Cols: cols}
	for _, t := range terms {
		u.From = append(u.From, algebra.Branch{Input: t, Cols: cols})
	}
	return u
}
