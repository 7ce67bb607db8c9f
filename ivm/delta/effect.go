package delta

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// Effect is what a change can do to the rows of a relation, once equal rows that come and go have cancelled each other.
type Effect struct{ Adds, Takes bool }

// Both is the effect of a change that adds rows and takes rows away.
var Both = Effect{Adds: true, Takes: true}

// None reports whether nothing can change.
func (e Effect) None() bool { return !e.Adds && !e.Takes }

func (e Effect) or(other Effect) Effect {
	return Effect{Adds: e.Adds || other.Adds, Takes: e.Takes || other.Takes}
}

// EffectOn derives from the effect on each source what a change can do to the rows of n. Operators whose rows are made of one row of each input
// pass it on; groups that change lose the row that they had and get another, whatever the change was, and a row that
// comes takes the place of another one among the first.
func EffectOn(n algebra.Node, source func(*algebra.Source) Effect) Effect {
	switch n := n.(type) {
	case *algebra.Source:
		if n.Table.Recursive {
			return Effect{}
		}
		return source(n)
	case *algebra.Values:
		return Effect{}
	case *algebra.Filter, *algebra.Project, *algebra.Each, *algebra.Union, *algebra.Join:
		return below(n, source)
	case *algebra.Outer: // rows without a partner go when one comes
		right := EffectOn(n.Right, source)
		if left := EffectOn(n.Left, source); right.None() && !(n.Full && !left.None()) {
			return left
		}
		return Both
	case *algebra.Semi:
		if !EffectOn(n.Right, source).None() { // rows that have matches before and after come and go, too
			return Both
		}
		return EffectOn(n.Left, source)
	case *algebra.Aggregate, *algebra.Distinct, *algebra.Top, *algebra.Window, *algebra.Recursion:
		if below(n, source).None() {
			return Effect{}
		}
		return Both
	}
	panic(fmt.Sprintf("no effect known of %T", n))
}

// below is the effect on all inputs of a node together.
func below(n algebra.Node, source func(*algebra.Source) Effect) (all Effect) {
	for _, in := range n.Inputs() {
		all = all.or(EffectOn(in, source))
	}
	return all
}
