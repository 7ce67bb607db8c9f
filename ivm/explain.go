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
	case RescanKeys, MergeGroups:
		return v.calculus().Of(v.aggregate().Input)
	}
	return nil
}

func (v *View) calculus() delta.Calculus {
	if v.only != nil {
		return delta.New(v.Columns, func(s *algebra.Source) bool { return s.Table == v.only })
	}
	return delta.New(v.Columns, nil)
}

// Draw writes a tree over the columns of a compilation: algebra.Format or
// algebra.Mermaid.
type Draw func(algebra.Node, *algebra.Columns) string

// Tree draws the view's tree; nothing if the view can only be recomputed.
func (v *View) Tree(draw Draw) string { return v.draw(v.Root, draw) }

// DeltaTree draws how the view, or the input of its groups, changes, as the
// laws have it.
func (v *View) DeltaTree(draw Draw) string { return v.draw(v.delta(), draw) }

// SimplifiedTree is DeltaTree after simplification.
func (v *View) SimplifiedTree(draw Draw) string {
	d := v.delta()
	if d != nil {
		d = rewrite.Distribute(d)
	}
	return v.draw(d, draw)
}

func (v *View) draw(n algebra.Node, draw Draw) string {
	if n == nil {
		return ""
	}
	return draw(n, v.Columns)
}
