package resolve

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// RecursionHint is what to write instead of a query that reads itself and cannot be followed.
const RecursionHint = "use refresh_mode auto or full, which recompute it, or where paths have few steps, join the table for each of them, and unite these with UNION ALL"

// RecursionReason is why a query that reads itself can only be recomputed.
const RecursionReason = "recursive WITH query"

// selfOf stands for the rows of a WITH query where it reads itself.
func (r *resolver) selfOf(cte *cteScope, rows relation) *catalog.Relation {
	self := &catalog.Relation{Name: cte.with.Name, Recursive: true, At: r.pos(cte.with.Pos)}
	for i, id := range rows.ids {
		info, name := r.columns.Info(id), rows.names[i]
		if i < len(cte.columns) {
			name = cte.columns[i].name
		}
		self.Columns = append(self.Columns, catalog.Column{Name: name, Type: info.Type, Varied: info.Varied, Equality: info.Equality})
	}
	return self
}

// readsSelf is an occurrence of a WITH query in itself, with the columns of a scope.
func (r *resolver) readsSelf(cte *cteScope, s *scope) algebra.Node {
	read := &algebra.Source{Table: cte.self}
	for i, c := range s.visible[:min(len(s.visible), len(cte.self.Columns))] {
		read.Cols = append(read.Cols, algebra.SourceCol{ID: c.id, Attr: i})
	}
	cte.carried = nil
	for i := len(cte.columns); i < len(cte.self.Columns); i++ {
		c := cte.self.Columns[i]
		id := r.columns.New(algebra.Info{Name: c.Name, Type: c.Type, Varied: c.Varied, Equality: c.Equality})
		cte.carried, read.Cols = append(cte.carried, id), append(read.Cols, algebra.SourceCol{ID: id, Attr: i})
	}
	return read
}

// recursion makes an operator of the union that a WITH query is which reads itself. What is no single SELECT over the rows that were made last, only PostgreSQL
// can compute, or refuse.
func (r *resolver) recursion(cte *cteScope, rel relation) relation {
	node := rel.node
	distinct, once := node.(*algebra.Distinct)
	if once {
		node = distinct.Input
	}
	union, ok := node.(*algebra.Union)
	if rel.open == nil && cte.self != nil && ok && len(union.From) == 2 && len(union.Cols) > 0 {
		n := &algebra.Recursion{Cols: union.Cols, Seed: union.From[0], Step: union.From[1], Self: cte.self, All: !once}
		if n.Plain() && algebra.Verify(n) == nil {
			rel.node = n
			return rel
		}
	}
	r.full(cte.with.Pos, RecursionReason, RecursionHint)
	return relation{node: &algebra.Values{}, open: rel.open}
}
