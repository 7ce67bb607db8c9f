package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/resolve"
)

// A query that reads itself is followed where its rows can be stored beside those of the view. Their changes follow from those of the tables (delta/grown.go), or
// they are computed anew when something that it reads has changed, and compared with what is stored; what has come and gone of them is followed further.

// refuseRecursion has a view recomputed with a query that reads itself, and that changes, if it may have no states.
func (v *view) refuseRecursion() {
	for _, n := range v.recursions() {
		if !v.keeps || !n.Plain() {
			v.Full = append(v.Full, resolve.Reason{Pos: n.Self.At, What: resolve.RecursionReason, Hint: resolve.RecursionHint})
		}
	}
}

// recursions are the queries within the view that read themselves, and that change.
func (v *view) recursions() (all []*algebra.Recursion) {
	if v.Root == nil {
		return nil
	}
	algebra.Walk(v.Root, func(n algebra.Node) {
		if r, ok := n.(*algebra.Recursion); ok && len(v.props.Of(r).Sources) > 0 {
			all = append(all, r)
		}
	})
	return all
}

// anew are the parts of the view that are computed as a whole when something that they read changes.
func (v *view) anew() (parts []resolve.Reason) {
	for _, n := range v.recursions() {
		why := v.rules.rules.Anew(n)
		if why == "" {
			continue
		}
		part := resolve.Reason{Pos: n.Self.At, What: resolve.RecursionReason + " " + n.Self.Name + ", " + why + ","}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return parts
}
