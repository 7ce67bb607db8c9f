package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/delta"
	"github.com/pgsluice/sluice/ivm/rewrite"
)

// delta is how the part of the view that keeps no state changes: the view
// itself, or the input of its groups. It is nil if nothing can change.
func (v *View) delta() algebra.Node {
	switch v.Strategy() {
	case MergeRows:
		return v.calculus().Of(v.Root)
	case RescanKeys:
		return v.calculus().Of(v.groups().Input)
	}
	return nil
}

func (v *View) calculus() delta.Calculus {
	return delta.Calculus{Columns: v.Columns, Changed: delta.All}
}

// Tree prints the view's tree; it is empty if the view can only be recomputed.
func (v *View) Tree() string { return v.format(v.Root) }

// DeltaTree prints how what keeps no state changes, as the laws have it.
func (v *View) DeltaTree() string { return v.format(v.delta()) }

// SimplifiedTree is DeltaTree after simplification.
func (v *View) SimplifiedTree() string {
	d := v.delta()
	if d == nil {
		return ""
	}
	return v.format(rewrite.Distribute(d))
}

func (v *View) format(n algebra.Node) string {
	if n == nil {
		return ""
	}
	return algebra.Format(n, v.Columns)
}
