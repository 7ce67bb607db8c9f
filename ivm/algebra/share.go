package algebra

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Share makes one node of those that are equal: the same operator over the same inputs, with the same columns and expressions. Whoever remembers
// nodes by identity, as emit does for what it has written, then sees an equal subtree as the one it knows. The tree's rows and columns stay.
func Share(n Node) Node {
	known := map[string][]Node{}
	return Rewrite(n, func(n Node) Node {
		label := labelOf(n)
		for _, other := range known[label] {
			if equalNodes(n, other) {
				return other
			}
		}
		known[label] = append(known[label], n)
		return n
	})
}

// labelOf is the same for equal nodes, and seldom for others.
func labelOf(n Node) string {
	label := fmt.Sprintf("%T %d", n, n.Columns())
	for _, in := range n.Inputs() {
		label += fmt.Sprintf(" %p", in)
	}
	return label
}

// equalNodes reports whether two nodes with the same label are the same operator.
func equalNodes(a, b Node) bool {
	if !slices.Equal(a.Inputs(), b.Inputs()) || !slices.EqualFunc(a.reads(), b.reads(), func(x, y Scalar) bool { return sqltext.Equal(x.Expr, y.Expr) }) {
		return false
	}
	switch a := a.(type) {
	case *Source: // each occurrence has columns of its own
		return a == b
	case *Changes:
		return a.Of == b.(*Changes).Of
	case *Values:
		return len(a.Rows) == len(b.(*Values).Rows) && len(a.Cols) > 0
	case *Union:
		other := b.(*Union)
		return a.Mixed == other.Mixed && slices.EqualFunc(a.From, other.From, func(x, y Branch) bool { return slices.Equal(x.Cols, y.Cols) })
	case *Consolidate:
		return a.Only == b.(*Consolidate).Only
	case *Recursion:
		other := b.(*Recursion)
		return a.Self == other.Self && a.All == other.All && a.Stored == other.Stored && a.Few == other.Few && slices.Equal(a.Seed.Cols, other.Seed.Cols) && slices.Equal(a.Step.Cols, other.Step.Cols)
	case *Outer:
		return a.Full == b.(*Outer).Full
	case *Semi:
		other := b.(*Semi)
		return a.Anti == other.Anti && a.AnySign == other.AnySign && a.Listed == other.Listed
	case *Top:
		return a.same(b.(*Top))
	case *Each:
		return a.Keeps == b.(*Each).Keeps
	case *Aggregate:
		return a.Global == b.(*Aggregate).Global && len(a.Keys) == len(b.(*Aggregate).Keys)
	case *Window:
		return len(a.Keys) == len(b.(*Window).Keys)
	}
	return true
}
