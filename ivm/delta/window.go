package delta

import "github.com/pgsluice/sluice/ivm/algebra"

const windowRule = "Δ ω(X) = ω(X ⋉ A) ⊎ −ω((X ⊎ −Δ X) ⋉ A), A being the affected keys of Δ X"

// What window functions compute of a row depends on the rows of the same keys, whatever they are (rule R3a). Without keys any change affects all rows.
func (c Calculus) window(n *algebra.Window) algebra.Node { return c.local(n, n.Keys, true, nil) }
