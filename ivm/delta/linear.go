package delta

import "github.com/pgsluice/sluice/ivm/algebra"

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
	delta := &algebra.Union{Cols: n.Cols}
	for _, b := range n.From {
		if d := c.Of(b.Input); d != nil {
			delta.From = append(delta.From, algebra.Branch{Input: d, Cols: b.Cols})
		}
	}
	if len(delta.From) == 0 {
		return nil
	}
	return delta
}
