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
func (v *View) refuseHuge(at diag.Pos) {
	if v.Root == nil {
		return
	}
	if s := (&sizes{}); s.of(v.Root).reads()+s.kept > mostReads {
		v.Full = append(v.Full, resolve.Reason{Pos: at, What: "joins that change in too many ways", Hint: "make stream tables of parts of it"})
		v.Root = nil
	}
}

// ways says in how many terms a relation and its changes are computed, and from how many tables.
type ways struct{ terms, changes, tables float64 }

func (w ways) reads() float64 { return (w.terms + w.changes) * w.tables }

// sizes adds up what is computed by itself.
type sizes struct{ kept float64 }

func (s *sizes) of(n algebra.Node) ways {
	switch n := n.(type) {
	case *algebra.Source:
		return ways{1, 1, 1}
	case *algebra.Values:
		return ways{1, 0, 1}
	case *algebra.Join:
		l, r := s.of(n.Left), s.of(n.Right)
		return ways{l.terms * r.terms, l.changes*r.terms + l.terms*r.changes, l.tables + r.tables}
	case *algebra.Union:
		var all ways
		for _, b := range n.From {
			w := s.of(b.Input)
			all = ways{all.terms + w.terms, all.changes + w.changes, max(all.tables, w.tables)}
		}
		return all
	case *algebra.Aggregate, *algebra.Distinct:
		s.kept += s.of(n.Inputs()[0]).reads()
		return ways{1, 2, 1}
	}
	return s.of(n.Inputs()[0])
}
