package algebra

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/catalog"
)

// Recursion has the rows of a query that reads itself: those of Seed, those that Step makes of them, those that it makes of these, and so on. Without All each
// row is there once, and Step is given it once.
type Recursion struct {
	Cols       []ColID
	Seed, Step Branch
	Self       *catalog.Relation // which Step reads, once: the rows that were made last; at the place of its name
	All        bool
	Stored     *catalog.Relation // its rows as they were, where they are stored
	Few        bool              // it has what follows from changes
}

func (n *Recursion) Columns() []ColID { return slices.Clip(n.Cols) }
func (n *Recursion) Inputs() []Node   { return []Node{n.Seed.Input, n.Step.Input} }

// With is the same recursion over other inputs.
func (n *Recursion) With(in []Node) Node {
	other := *n
	other.Seed.Input, other.Step.Input = in[0], in[1]
	return &other
}

func (n *Recursion) reads() []Scalar { return nil } // columns, by branch: see Verify

// Is reports whether a node is an occurrence of the recursion in its step.
func (n *Recursion) Is(of Node) bool {
	s, ok := of.(*Source)
	return ok && s.Table == n.Self
}

// Plain reports whether PostgreSQL computes the step as it stands: it reads the recursion once, where PostgreSQL allows it.
func (n *Recursion) Plain() bool { return n.once() && n.along(n.Step.Input, true) }

// Linear reports whether the step makes its rows of one row each of those that were made last.
func (n *Recursion) Linear() bool { return n.once() && n.along(n.Step.Input, false) }

// once reports whether the step alone reads the recursion, once.
func (n *Recursion) once() bool { return n.times(n.Seed.Input) == 0 && n.times(n.Step.Input) == 1 }

// times counts how often a tree reads the recursion.
func (n *Recursion) times(of Node) int {
	if n.Is(of) {
		return 1
	}
	times := 0
	for _, in := range of.Inputs() {
		times += n.times(in)
	}
	return times
}

// along reports whether nothing but operators on single rows stands between a tree's root and where it reads the recursion, or with all, also others, which are
// given the rows that were made last.
func (n *Recursion) along(of Node, all bool) bool {
	switch of := of.(type) {
	case *Source:
		return true
	case *Filter, *Project, *Each:
		return n.along(of.Inputs()[0], all)
	case *Distinct, *Aggregate, *Window, *Top:
		return all && n.along(of.Inputs()[0], all)
	case *Join:
		if n.times(of.Left) == 0 {
			return n.along(of.Right, all)
		}
		return n.along(of.Left, all)
	case *Semi:
		return n.times(of.Right) == 0 && n.along(of.Left, all)
	case *Outer:
		return !of.Full && n.times(of.Right) == 0 && n.along(of.Left, all)
	case *Union:
		return all && !slices.ContainsFunc(of.From, func(b Branch) bool { return n.times(b.Input) > 0 && !n.along(b.Input, all) })
	}
	return false
}

// Gathers reports whether the step makes its rows of several that were made last, such as groups of them.
func (n *Recursion) Gathers() bool { return n.gathers(n.Step.Input) }

func (n *Recursion) gathers(of Node) bool {
	switch of.(type) {
	case *Distinct, *Aggregate, *Window, *Top:
		return n.times(of) > 0
	}
	return slices.ContainsFunc(of.Inputs(), n.gathers)
}

// Recurses reports whether a tree reads a recursion that it is the step of.
func Recurses(n Node) bool {
	switch n := n.(type) {
	case *Source:
		return n.Table.Recursive
	case *Recursion:
		return false
	}
	return slices.ContainsFunc(n.Inputs(), Recurses)
}

func (p *printer) recursion(n *Recursion) string {
	line := "recursion " + n.Self.Name + p.ids(" ", n.Cols)
	if n.All {
		line += ", all"
	}
	return line
}
