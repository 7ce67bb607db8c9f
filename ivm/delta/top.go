package delta

import "github.com/pgsluice/sluice/ivm/algebra"

const (
	topRule   = "Δ top(X) = top(X ⋉ A) ⊎ −top((X ⊎ −Δ X) ⋉ A), A being the affected keys of Δ X"
	firstRule = "Δ top(X) = top(X) ⊎ −top(X ⊎ −Δ X)"
)

// The first rows of the keys that changes fall into are found again, as they were and as they are. Both must come in the same total order. Without keys those
// are the first of all rows, which an index on the order finds.
func (c Calculus) top(n *algebra.Top) algebra.Node {
	return c.local(n, algebra.Same(n.Keys), len(n.Keys) > 0, nil)
}
