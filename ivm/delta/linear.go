package delta

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// The laws of operators that take rows one by one.
const (
	sourceLaw  = "Δ source = its changes"
	filterLaw  = "Δ σ(X) = σ(Δ X)"
	projectLaw = "Δ π(X) = π(Δ X)"
	unionLaw   = "Δ (X ⊎ Y) = Δ X ⊎ Δ Y"
	valuesLaw  = "Δ values = ∅"
)

func (c Calculus) source(n *algebra.Source) algebra.Node {
	if !c.Changed(n) {
		return nil
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
	delta, changes := &algebra.Union{Cols: n.Cols}, false
	for _, b := range n.From {
		d := c.Of(b.Input)
		switch {
		case d != nil:
			delta.From, changes = append(delta.From, algebra.Branch{Input: d, Cols: b.Cols}), true
		case c.untyped(n.Cols):
			delta.From = append(delta.From, algebra.Branch{Input: nothing(b.Input), Cols: b.Cols})
		}
	}
	if !changes {
		return nil
	}
	return delta
}

// untyped reports whether a union may give its columns other types than its branches have: a branch that does not change then stays, without rows.
func (c Calculus) untyped(cols []algebra.ColID) bool {
	return slices.ContainsFunc(cols, func(id algebra.ColID) bool { return c.Columns.Info(id).Type == "" })
}

// nothing has no row of n.
func nothing(n algebra.Node) algebra.Node {
	return &algebra.Filter{Input: n, Conds: []algebra.Scalar{{Expr: sqltext.False()}}}
}
