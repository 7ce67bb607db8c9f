package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/delta"
)

// The laws of groups that are stored, and of what stands on them.
const (
	mergeLaw   = "Δ γ(X) = γ(Δ X), added to what is stored of each group"                       // rule R4
	extremeLaw = mergeLaw + "; a group that loses its least or greatest value is computed anew" // of R4 with min and max
	rescanLaw  = "Δ γ(X) = γ(X ⋉ A) ⊎ −(stored ⋉ A), A being the keys that Δ X touches"         // rule R3b
	anewLaw    = "computed anew for the groups that Δ X touches"
	shownLaw   = "computed from what is stored whenever it is read"
)

// law tells how an operator of the view's tree is followed.
func (v *view) law(n algebra.Node) string {
	groups, law, above := v.storedGroups()
	if groups == nil {
		return delta.Law(n)
	}
	for at := v.Root; at != groups; at = at.Inputs()[0] {
		if at == n {
			return above
		}
	}
	if n == groups {
		return law
	}
	return delta.Law(n)
}

// storedGroups are the view's groups, if they are stored, the law that they follow, and what becomes of the operators above them.
func (v *view) storedGroups() (groups algebra.Node, law, above string) {
	switch {
	case v.strategy == RescanKeys:
		return v.aggregate(), rescanLaw, anewLaw
	case v.groups == nil:
		return nil, "", ""
	case len(v.groups.Extremes()) > 0:
		return v.groups.Node, extremeLaw, shownLaw
	}
	return v.groups.Node, mergeLaw, shownLaw
}
