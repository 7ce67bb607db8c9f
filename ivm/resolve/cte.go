package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// cteScope holds the WITH queries that are visible, innermost first.
type cteScope struct {
	with  sqltext.CTE
	outer *cteScope // what the WITH query itself sees
	read  bool      // by anything
}

func (s *cteScope) find(name string) *cteScope {
	for ; s != nil; s = s.outer {
		if s.with.Name == name {
			return s
		}
	}
	return nil
}

// with resolves a query that sees WITH queries besides what is visible. Each reference resolves them anew, so that each has columns of its own.
func (r *resolver) with(queries []sqltext.CTE, outer *scope, query func(*scope) relation) relation {
	if len(queries) == 0 {
		return query(outer)
	}
	s := &scope{}
	if outer != nil {
		*s = *outer
	}
	for _, q := range queries {
		s.ctes = &cteScope{with: q, outer: s.ctes}
	}
	rel := query(s)
	r.unread(s.ctes, len(queries))
	return rel
}

// unread finds what is wrong with WITH queries that nothing reads; PostgreSQL looks at them, too.
func (r *resolver) unread(cte *cteScope, count int) {
	var later []string
	for range count {
		later = append(later, cte.with.Name)
		if !cte.read && !r.readsLater(cte, later) {
			cte.read = true
			if rel := r.apart().query(cte.with.Query, &scope{ctes: cte.outer}); rel.open == nil {
				r.rename(cte.with.Pos, rel.columns(), cte.with.Name, cte.with.Columns)
			}
		}
		cte = cte.outer
	}
}

// cte resolves a reference to a WITH query.
func (r *resolver) cte(t *sqltext.TableRef, cte *cteScope) (algebra.Node, *scope) {
	cte.read = true
	with := cte.with
	if r.readsLater(cte, []string{with.Name}) {
		r.full(with.Pos, "recursive WITH query", "")
		return r.opaque(nameOf(t), with.Columns)
	}
	rel := r.query(with.Query, &scope{ctes: cte.outer})
	columns := r.rename(with.Pos, rel.columns(), with.Name, with.Columns)
	columns = r.rename(t.Pos, columns, nameOf(t), t.Columns)
	return rel.node, rel.under(nameOf(t), columns)
}

// readsLater tells whether a WITH query reads itself, or another one that does not stand before it.
func (r *resolver) readsLater(cte *cteScope, names []string) bool {
	return cte.with.Search != nil || cte.with.Cycle != nil || slices.ContainsFunc(sqltext.Tables(cte.with.Query), func(o *sqltext.TableRef) bool {
		return o.Schema == "" && slices.Contains(names, o.Name) && cte.outer.find(o.Name) == nil && r.relation("", o.Name) == nil
	})
}
