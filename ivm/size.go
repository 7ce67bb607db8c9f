package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/resolve"
)

// mostReads is how many times the changes of a view may name tables: a join of n tables changes in n ways, of which each names them all, and unions
// in it multiply those.
const mostReads = 40_000

// refuseHuge has a view recomputed whose changes would come in so many ways that nobody could plan the statement.
func (v *view) refuseHuge(at diag.Pos) {
	if v.Root == nil {
		return
	}
	if w := waysOf(v.Root); w.reads()+w.below > mostReads {
		v.Full = append(v.Full, resolve.Reason{Pos: at, What: "joins that change in too many ways", Hint: "make stream tables of parts of it"})
		v.Root = nil
	}
}

// ways says in how many terms a relation and its changes are computed, from how many tables, and how often what it groups names tables.
type ways struct{ terms, changes, tables, below float64 }

func (w ways) reads() float64 { return (w.terms + w.changes) * w.tables }

func waysOf(n algebra.Node) ways {
	switch n := n.(type) {
	case *algebra.Source:
		return ways{terms: 1, changes: 1, tables: 1}
	case *algebra.Values:
		return ways{terms: 1, tables: 1}
	case *algebra.Join:
		l, r := waysOf(n.Left), waysOf(n.Right)
		return ways{l.terms * r.terms, l.changes*r.terms + l.terms*r.changes, l.tables + r.tables, l.below + r.below}
	case *algebra.Outer: // as a join and an anti-join, or two
		l, r := waysOf(n.Left), waysOf(n.Right)
		return ways{l.terms * r.terms, 3 * (l.changes*(r.terms+r.changes) + l.terms*r.changes), l.tables + r.tables, l.below + r.below}
	case *algebra.Semi:
		l, r := waysOf(n.Left), waysOf(n.Right)
		return ways{l.terms, l.changes + 2*r.changes*(l.terms+l.changes), l.tables + r.tables, l.below + r.below}
	case *algebra.Union:
		var all ways
		for _, b := range n.From {
			w := waysOf(b.Input)
			all = ways{all.terms + w.terms, all.changes + w.changes, max(all.tables, w.tables), all.below + w.below}
		}
		if n.Mixed { // which is one relation wherever it is read
			return ways{terms: 1, changes: 1, tables: 1, below: all.below + all.reads()}
		}
		return all
	case *algebra.Aggregate, *algebra.Distinct, *algebra.Top, *algebra.Window, *algebra.Recursion: // rows of them come and go, so that what reads them is written for both
		made := ways{terms: 1, changes: 2, tables: 1}
		for _, in := range n.Inputs() {
			w := waysOf(in)
			made.below += 2*w.below + w.reads()
		}
		return made
	}
	return waysOf(n.Inputs()[0])
}
