// Package delta differentiates: it turns the tree of a relation into the tree
// of the signed rows by which the relation changes when its sources change.
//
// Each operator has a file that its rule heads; Rule returns it. The rules are those of bags with
// signed multiplicities (Griffin and Libkin, SIGMOD 1995; DBSP, VLDB 2023);
// they are applied as they stand, and nothing is simplified here.
package delta

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
)

// Calculus differentiates trees of one compilation.
type Calculus struct {
	columns *algebra.Columns
	props   *props.Props
	// changed describes which occurrences of tables have changes to account for.
	changed func(*algebra.Source) bool
	single  bool // the changes are those of one statement on one table
	done    map[algebra.Node]algebra.Node
}

// New returns a calculus; changed describes which occurrences of tables have changes to account for, nil that all have.
func New(columns *algebra.Columns, known *props.Props, changed func(*algebra.Source) bool) Calculus {
	single := changed != nil
	if changed == nil {
		changed = func(*algebra.Source) bool { return true }
	}
	return Calculus{columns: columns, props: known, changed: changed, single: single, done: map[algebra.Node]algebra.Node{}}
}

// Of returns Δn, the same one each time, and nil where nothing can change.
func (c Calculus) Of(n algebra.Node) algebra.Node {
	changes, known := c.done[n]
	if !known {
		changes = c.of(n)
		c.done[n] = changes
	}
	return changes
}

func (c Calculus) of(n algebra.Node) algebra.Node {
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
	case *algebra.Outer:
		return c.outer(n)
	case *algebra.Semi:
		return c.semi(n)
	case *algebra.Each:
		return over(n, c.Of(n.Input))
	case *algebra.Aggregate:
		return c.aggregate(n)
	case *algebra.Top:
		return c.top(n)
	case *algebra.Recursion:
		return c.recursion(n)
	case *algebra.Window:
		return c.window(n)
	}
	panic(fmt.Sprintf("no rule for %T", n))
}
