// Package delta differentiates: it turns the tree of a relation into the tree
// of the signed rows by which the relation changes when its sources change.
//
// Each operator has a file that its law heads; Law tells it. The laws are those of bags with
// signed multiplicities (Griffin and Libkin, SIGMOD 1995; DBSP, VLDB 2023);
// they are applied as they stand, and nothing is simplified here.
package delta

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// Calculus differentiates trees of one compilation.
type Calculus struct {
	Columns *algebra.Columns
	// Changed tells which occurrences of tables have changes to account for.
	Changed func(*algebra.Source) bool
}

// All says that every table may have changed.
func All(*algebra.Source) bool { return true }

// Of returns Δn, and nil where nothing can change.
func (c Calculus) Of(n algebra.Node) algebra.Node {
	switch n := n.(type) {
	case *algebra.Source:
		return c.source(n)
	case *algebra.Values:
		return nil
	case *algebra.Filter:
		return c.filter(n)
	case *algebra.Project:
		return c.project(n)
	case *algebra.Union:
		return c.union(n)
	case *algebra.Join:
		return c.join(n)
	case *algebra.Aggregate:
		return c.aggregate(n)
	}
	panic(fmt.Sprintf("no law for %T", n))
}

// Before returns the relation as it was: before = after ⊎ −Δ at the sources.
// Groups need rows, not signs: what they are made of is turned into a bag.
func (c Calculus) Before(n algebra.Node) algebra.Node {
	return algebra.Rewrite(n, func(n algebra.Node) algebra.Node {
		switch n := n.(type) {
		case *algebra.Source:
			if c.Changed(n) {
				return algebra.Before(n)
			}
		case *algebra.Aggregate:
			if signed(n.Input) {
				return n.With([]algebra.Node{&algebra.Bag{Input: n.Input}})
			}
		}
		return n
	})
}

// signed tells whether changes make up a part of a tree's rows.
func signed(n algebra.Node) bool {
	found := false
	algebra.Walk(n, func(n algebra.Node) {
		_, changes := n.(*algebra.Changes)
		found = found || changes
	})
	return found
}
