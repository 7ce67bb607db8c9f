package ivm

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/delta"
	"github.com/pgsluice/sluice/ivm/rewrite"
)

// pass is a stage that makes a tree of another with the same rows.
type pass struct {
	name string
	run  func(algebra.Node) algebra.Node
}

// viewPasses are the stages between resolving and differentiating, in order.
func viewPasses(columns *algebra.Columns, known *props.Props) []pass {
	return []pass{
		{"total order", rewrite.TotalOrder(columns, known)},
		{"group distinct", rewrite.GroupDistinct(columns)},
		{"order aggregates", rewrite.OrderAggregates(columns, known)},
		{"inner joins", rewrite.InnerJoins},
		{"order joins", rewrite.OrderJoins},
		{"test rows", rewrite.TestRows(columns)},
		{"semi-joins first", rewrite.SemiJoinsFirst},
		{"order windows by keys", rewrite.OrderWindows(columns, true)},
		{"prune columns", rewrite.PruneColumns},
		{"order windows by all columns", rewrite.OrderWindows(columns, false)},
	}
}

// deltaPasses are the stages between differentiating and writing SQL, in order.
func deltaPasses(columns *algebra.Columns) []pass {
	return []pass{
		{"distribute", rewrite.Distribute},
		{"restrict groups", rewrite.RestrictGroups(columns, delta.New(columns, props.New(columns), nil).Restrict)},
		{"distribute what was restricted", rewrite.Distribute},
		{"share", algebra.Share},
	}
}

// through sends a tree through passes. A nil tree, of which there are no rows, stays nil.
func through(passes []pass, n algebra.Node) algebra.Node {
	for _, p := range passes {
		if n == nil {
			return nil
		}
		n = p.run(n)
		afterPass(p.name, n)
	}
	return n
}

// simplified is a tree after the passes that come before SQL is written.
func (v *view) simplified(n algebra.Node) algebra.Node { return through(deltaPasses(v.columns), n) }

// afterPass sees each tree that a pass or a delta rule has made.
var afterPass = func(string, algebra.Node) {}

// VerifyPasses has each tree verified from now on that a pass or a delta rule makes. Tests call it before they compile anything: a wrong tree
// then panics with the name of the pass that made it.
func VerifyPasses() {
	afterPass = func(name string, n algebra.Node) {
		if n == nil {
			return
		}
		if err := algebra.Verify(n); err != nil {
			panic(fmt.Sprintf("after %s: %v", name, err))
		}
	}
}
