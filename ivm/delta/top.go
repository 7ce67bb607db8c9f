package delta

import "github.com/pgsluice/sluice/ivm/algebra"

const (
	topRule   = "Δ top(X) = top(X ⋉ A) ⊎ −top((X ⊎ −Δ X) ⋉ A), A being the affected keys of Δ X"
	firstRule = "Δ top(X) = top(X) ⊎ −top(X ⊎ −Δ X)"
)

// The first rows of the keys that changes fall into are found again, as they were and as they are (rule R3a). Both must come in the same total order.
func (c Calculus) top(n *algebra.Top) algebra.Node {
	changes := c.Of(n.Input)
	if changes == nil {
		return nil
	}
	changes = algebra.Keep(changes)
	c.done[n.Input] = changes
	now, before := n.Input, algebra.Before(n.Input, changes)
	if len(n.Keys) > 0 {
		keys := algebra.Same(n.Keys)
		affected := c.keysIn(changes, keys)
		now, before = c.Restrict(now, keys, affected), c.Restrict(before, keys, affected)
	}
	return sum(n.Columns(), []algebra.Node{n.With([]algebra.Node{now}), &algebra.Negate{Input: n.With([]algebra.Node{&algebra.Bag{Input: before}})}})
}
