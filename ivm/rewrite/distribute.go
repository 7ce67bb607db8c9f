package rewrite

import "github.com/pgsluice/sluice/ivm/algebra"

// Distribute pulls unions up through filters, projections and joins, so that
// each term of a delta is one join whose conditions all stand together:
//
//	σ(X ⊎ Y) = σ(X) ⊎ σ(Y)    π(X ⊎ Y) = π(X) ⊎ π(Y)    (X ⊎ Y) ⋈ Z = X ⋈ Z ⊎ Y ⋈ Z
//
// A relation before its changes is a union too, after ⊎ −Δ: PostgreSQL knows nothing of the values in a union (it takes a join with one for
// hundreds of times the rows, and hashes whole tables for a changed row), and all of the table's. But n of them make 2^n terms, so where
// there are more than spreadBefore, each stays one relation.
func Distribute(n algebra.Node) algebra.Node {
	d := distributor{keep: befores(n) > spreadBefore}
	return algebra.Rewrite(n, func(n algebra.Node) algebra.Node {
		switch n := n.(type) {
		case *algebra.Filter, *algebra.Project, *algebra.Negate:
			return d.distribute(n, 0)
		case *algebra.Join:
			return d.join(n)
		case *algebra.Union:
			return d.flatten(n)
		}
		return n
	})
}

// spreadBefore makes 7 terms of the 3 of a join of three tables.
const spreadBefore = 2

// befores counts relations before their changes.
func befores(n algebra.Node) int {
	count := 0
	algebra.Walk(n, func(n algebra.Node) {
		if u, ok := n.(*algebra.Union); ok && algebra.IsBefore(u) {
			count++
		}
	})
	return count
}

// distributor keeps relations before their changes whole, or not.
type distributor struct{ keep bool }

// whole tells whether a union is not to be pulled apart.
func (d distributor) whole(u *algebra.Union) bool { return u.Mixed || d.keep && algebra.IsBefore(u) }

func (d distributor) join(n *algebra.Join) algebra.Node {
	left, isUnion := d.distribute(n, 0).(*algebra.Union)
	if !isUnion {
		return d.distribute(n, 1)
	}
	u := &algebra.Union{Cols: left.Cols}
	for _, b := range left.From {
		u.From = append(u.From, algebra.Branch{Input: d.distribute(b.Input, 1), Cols: b.Cols})
	}
	return d.flatten(u)
}

// distribute puts an operator above each branch of the union that is its input
// of the given number, if it is one.
func (d distributor) distribute(n algebra.Node, input int) algebra.Node {
	u, ok := n.Inputs()[input].(*algebra.Union)
	if !ok || d.whole(u) {
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
func (d distributor) flatten(u *algebra.Union) algebra.Node {
	if algebra.IsBefore(u) {
		return u
	}
	flat := &algebra.Union{Cols: u.Cols, Mixed: u.Mixed}
	for _, b := range u.From {
		inner, ok := b.Input.(*algebra.Union)
		if !ok || d.whole(inner) {
			flat.From = append(flat.From, b)
			continue
		}
		flat.Mixed = flat.Mixed || inner.Mixed
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
