package delta

import "github.com/pgsluice/sluice/ivm/algebra"

const joinLaw = "Δ (A ⋈ B) = Δ A ⋈ B before ⊎ A ⋈ Δ B"

// Over a tree of n tables this makes n terms: what stands left of the changed
// table is taken after the changes, what stands right of it before them.
func (c Calculus) join(n *algebra.Join) algebra.Node {
	var terms []algebra.Node
	if left := c.Of(n.Left); left != nil {
		terms = append(terms, &algebra.Join{Left: left, Right: c.Before(n.Right), On: n.On})
	}
	if right := c.Of(n.Right); right != nil {
		terms = append(terms, &algebra.Join{Left: n.Left, Right: right, On: n.On})
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
