package delta

import "github.com/pgsluice/sluice/ivm/algebra"

const windowRule = "Δ ω(X) = ω(X ⋉ A) ⊎ −ω((X ⊎ −Δ X) ⋉ A), A being the affected keys of Δ X"

// What window functions compute of a row depends on the rows of the same keys, whatever they are (rule R3a). Without keys any change affects all rows.
func (c Calculus) window(n *algebra.Window) algebra.Node {
	changes := c.Of(n.Input)
	if changes == nil {
		return nil
	}
	changes = algebra.Keep(changes)
	c.done[n.Input] = changes
	affected := c.keysIn(changes, n.Keys)
	before := algebra.Before(n.Input, changes)
	previous := &algebra.Bag{Input: c.Restrict(before, n.Keys, affected)}
	current := n.With([]algebra.Node{c.Restrict(n.Input, n.Keys, affected)})
	return sum(n.Columns(), []algebra.Node{current, &algebra.Negate{Input: n.With([]algebra.Node{previous})}})
}
