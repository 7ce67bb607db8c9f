package delta

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// The rules of operators that take rows one by one.
const (
	sourceRule  = "Δ source = its changes"
	clockRule   = "Δ clock = the moment of this refresh, less that of the one before"
	filterRule  = "Δ σ(X) = σ(Δ X)"
	projectRule = "Δ π(X) = π(Δ X)"
	eachRule    = "Δ f(X) = f(Δ X)"
	unionRule   = "Δ (X ⊎ Y) = Δ X ⊎ Δ Y"
	valuesRule  = "Δ values = ∅"
)

func (c Calculus) source(n *algebra.Source) algebra.Node {
	if n.Table.Recursive || !c.changed(n) {
		return nil
	}
	if algebra.IsClock(n) {
		return algebra.Less(n, algebra.Earlier(n))
	}
	return &algebra.Changes{Of: n}
}

func (c Calculus) filter(n *algebra.Filter) algebra.Node { return over(n, c.Of(n.Input)) }

func (c Calculus) project(n *algebra.Project) algebra.Node { return over(n, c.Of(n.Input)) }

// over is a linear operator of one input over another one.
func over(n algebra.Node, input algebra.Node) algebra.Node {
	if input == nil {
		return nil
	}
	return n.With([]algebra.Node{input})
}

func (c Calculus) union(n *algebra.Union) algebra.Node {
	delta, changes := &algebra.Union{Cols: n.Cols, Mixed: n.Mixed}, false
	for _, b := range n.From {
		d := c.Of(b.Input)
		switch {
		case d != nil:
			delta.From, changes = append(delta.From, algebra.Branch{Input: d, Cols: b.Cols}), true
		case n.Mixed:
			delta.From = append(delta.From, algebra.Branch{Input: nothing(b.Input), Cols: b.Cols})
		}
	}
	if !changes {
		return nil
	}
	return delta
}

// nothing has no row of n.
func nothing(n algebra.Node) algebra.Node {
	return &algebra.Filter{Input: n, Conds: []algebra.Scalar{{Expr: sqltext.False()}}}
}
