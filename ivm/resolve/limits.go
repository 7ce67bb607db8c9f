package resolve

import "github.com/pgsluice/sluice/ivm/algebra"

// What stands for a column is written out wherever it is read, and what WITH queries and views stand for wherever they are named. A short text can so
// stand for more than can be computed with: such queries are recomputed.

const (
	mostNodes   = 20_000 // of an expression
	mostDeep    = 250    // nodes of an expression below each other
	mostQueries = 5_000  // that one text stands for
)

// size is that of an expression once columns of subqueries are written out in it.
type size struct{ nodes, deep int }

// measure notes the size of a computed column.
func (r *resolver) measure(item algebra.Item, at int) {
	if id, plain := item.Expr.Column(); plain {
		r.sizes[item.ID] = r.sizes[id]
		return
	}
	nodes, deep, columns := item.Expr.Expr.Size()
	deepest := 0
	for id, times := range columns {
		below := r.sizes[algebra.ColID(id)]
		nodes, deepest = nodes+times*below.nodes, max(deepest, below.deep)
	}
	if nodes > mostNodes || deep+deepest > mostDeep {
		r.full(max(0, at), "expression that grows too large where subqueries are written out", "")
		return
	}
	r.sizes[item.ID] = size{nodes, deep + deepest}
}

// tooMany counts a query, and reports whether more of them are not followed.
func (r *resolver) tooMany(at int) bool {
	*r.resolved++
	if *r.resolved <= mostQueries {
		return false
	}
	r.full(max(0, at), "query that stands for too many others", "")
	return true
}
