package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/delta"
)

// delta is how the part of the view that keeps no state changes: the view
// itself, or the input of its groups. It is nil if nothing can change.
func (v *View) delta() algebra.Node {
	switch v.Strategy() {
	case MergeRows:
		return v.calculus().changes(v.Root)
	case RescanKeys, MergeGroups:
		return v.calculus().changes(v.aggregate().Input)
	}
	return nil
}

// calculus differentiates trees of the view.
func (v *View) calculus() calculus {
	if v.only != nil {
		return calculus{delta.New(v.Columns, v.props, func(s *algebra.Source) bool { return s.Table == v.only })}
	}
	return calculus{delta.New(v.Columns, v.props, nil)}
}

// calculus applies delta rules and passes on what they make.
type calculus struct{ rules delta.Calculus }

// changes is Δ n; nil if nothing can change.
func (c calculus) changes(n algebra.Node) algebra.Node {
	d := c.rules.Of(n)
	afterPass("differentiate", d)
	return d
}

// touched are the keys of the groups that changes fall into, simplified; nil if nothing can change.
func (c calculus) touched(n *algebra.Aggregate) algebra.Node {
	keys := c.rules.Touched(n)
	afterPass("touched keys", keys)
	return simplified(keys)
}

// restricted are the rows of n whose keys are among touched.
func (c calculus) restricted(n algebra.Node, keys []algebra.Item, touched algebra.Node) algebra.Node {
	some := c.rules.Restrict(n, keys, touched)
	afterPass("restrict", some)
	return some
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
	return v.draw(simplified(v.delta()), draw)
}

func (v *View) draw(n algebra.Node, draw Draw) string {
	if n == nil {
		return ""
	}
	return draw(n, v.Columns)
}
