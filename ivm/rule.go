package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/delta"
)

// The rules of groups that are stored, and of what stands on them.
const (
	mergeRule      = "Δ γ(X) = γ(Δ X), added to what is stored of each group"                     // rule R4
	extremeRule    = mergeRule + "; a group that loses its least or greatest value is recomputed" // of R4 with min and max
	rescanRule     = "Δ γ(X) = γ(X ⋉ A) ⊎ −(stored ⋉ A), A being the affected keys of Δ X"        // rule R3b
	recomputedRule = "recomputed for the groups that Δ X affects"
	shownRule      = "computed from what is stored whenever it is read"
)

// rule describes how an operator of the view's tree is followed.
func (v *view) rule(n algebra.Node) string {
	if top, ok := n.(*algebra.Top); ok && v.limit != nil && top.Input == v.Root {
		return shownRule
	}
	if r, ok := n.(*algebra.Recursion); ok && v.rules.rules.Grows(r) {
		return delta.Grown(r)
	}
	groups, rule, above := v.storedGroups()
	if groups == nil {
		return delta.Rule(n)
	}
	for at := v.Root; at != groups; at = at.Inputs()[0] {
		if at == n {
			return above
		}
	}
	if n == groups {
		return rule
	}
	return delta.Rule(n)
}

// storedGroups are the view's groups, if they are stored, the rule that they follow, and what becomes of the operators above them.
func (v *view) storedGroups() (groups algebra.Node, rule, above string) {
	switch {
	case v.strategy == RescanKeys:
		return v.aggregate(), rescanRule, recomputedRule
	case v.groups == nil:
		return nil, "", ""
	case len(v.groups.Extremes()) > 0:
		return v.groups.Node, extremeRule, shownRule
	}
	return v.groups.Node, mergeRule, shownRule
}
