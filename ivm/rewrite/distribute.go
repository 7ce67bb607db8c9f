package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// Distribute pulls unions up through filters, projections and joins, so that
// each term of a delta is one join whose conditions all stand together:
//
//	σ(X ⊎ Y) = σ(X) ⊎ σ(Y)    π(X ⊎ Y) = π(X) ⊎ π(Y)    (X ⊎ Y) ⋈ Z = X ⋈ Z ⊎ Y ⋈ Z
//	(X ⊎ Y) ⋉ Z = X ⋉ Z ⊎ Y ⋉ Z    f(X ⊎ Y) = f(X) ⊎ f(Y)
//
// A step of a recursion reads it once, so it stays as it is.
func Distribute(n algebra.Node) algebra.Node {
	steps := map[algebra.Node]bool{}
	return algebra.Rewrite(n, func(n algebra.Node) algebra.Node {
		if steps[n] = readsSteps(n, steps); steps[n] {
			return n
		}
		switch n := n.(type) {
		case *algebra.Filter, *algebra.Project, *algebra.Each, *algebra.Negate, *algebra.Semi:
			return distribute(n, 0)
		case *algebra.Join:
			return join(n)
		case *algebra.Union:
			return flatten(n)
		}
		return n
	})
}

func join(n *algebra.Join) algebra.Node {
	left, isUnion := distribute(n, 0).(*algebra.Union)
	if !isUnion {
		return distribute(n, 1)
	}
	u := &algebra.Union{Cols: left.Cols}
	for _, b := range left.From {
		u.From = append(u.From, algebra.Branch{Input: distribute(b.Input, 1), Cols: b.Cols})
	}
	return flatten(u)
}

// distribute puts an operator above each branch of the union that is its input
// of the given number, if it is one.
func distribute(n algebra.Node, input int) algebra.Node {
	u, ok := n.Inputs()[input].(*algebra.Union)
	if !ok || u.Mixed {
		return n
	}
	spread := &algebra.Union{Cols: n.Columns()}
	for _, b := range u.From {
		inputs := n.Inputs()
		inputs[input] = renamed(b, u.Cols)
		spread.From = append(spread.From, algebra.Branch{Input: n.With(inputs), Cols: spread.Cols})
	}
	return spread
}

// renamed is a branch under the numbers of the union's columns.
func renamed(b algebra.Branch, as []algebra.ColID) algebra.Node {
	p := &algebra.Project{Input: b.Input}
	same := true
	for i, id := range as {
		p.Items = append(p.Items, algebra.Item{ID: id, Expr: algebra.Ref(b.Cols[i])})
		same = same && id == b.Cols[i]
	}
	if same {
		return b.Input
	}
	return p
}

// flatten makes one union of unions: (X ⊎ Y) ⊎ Z = X ⊎ Y ⊎ Z.
func flatten(u *algebra.Union) algebra.Node {
	flat := &algebra.Union{Cols: u.Cols, Mixed: u.Mixed}
	for _, b := range u.From {
		inner, ok := b.Input.(*algebra.Union)
		if !ok || inner.Mixed {
			flat.From = append(flat.From, b)
			continue
		}
		place := map[algebra.ColID]int{}
		for i, id := range inner.Cols {
			place[id] = i
		}
		for _, below := range inner.From {
			cols := make([]algebra.ColID, len(b.Cols))
			for i, id := range b.Cols {
				cols[i] = below.Cols[place[id]]
			}
			flat.From = append(flat.From, algebra.Branch{Input: below.Input, Cols: cols})
		}
	}
	return flat
}

// readsSteps reports whether a node is part of a step that reads the recursion, where that is known of its inputs.
func readsSteps(n algebra.Node, known map[algebra.Node]bool) bool {
	switch n := n.(type) {
	case *algebra.Source:
		return n.Table.Recursive
	case *algebra.Recursion:
		return false
	}
	return slices.ContainsFunc(n.Inputs(), func(in algebra.Node) bool { return known[in] })
}
