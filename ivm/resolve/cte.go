package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// cteScope holds the WITH queries that are visible, innermost first.
type cteScope struct {
	with   sqltext.CTE
	outer  *cteScope // what the WITH query itself sees; all of its clause where that is recursive
	next   *cteScope // the one that is looked at next for a name
	around *scope    // of the query that the clause belongs to: columns that it may read
	read   bool      // by anything

	busy    bool              // it is being resolved, so that a reference is one to itself
	columns []column          // that a reference to itself means; nil if they are not known
	self    *catalog.Relation // the same as a relation
	carried []algebra.ColID   // what SEARCH and CYCLE add to its rows, where it reads itself
	known   []column          // of its result, once it was resolved
	itself  bool              // there was one
}

func (s *cteScope) find(name string) *cteScope {
	for ; s != nil; s = s.next {
		if s.with.Name == name {
			return s
		}
	}
	return nil
}

// has reports whether a WITH query is visible.
func (s *cteScope) has(cte *cteScope) bool {
	for ; s != nil && s != cte; s = s.next {
	}
	return s != nil
}

// with resolves a query that sees WITH queries besides what is visible. Each reference resolves them again, so that each has columns of its own.
func (r *resolver) with(queries []sqltext.CTE, recursive bool, outer *scope, query func(*scope) relation) relation {
	if len(queries) == 0 {
		return query(outer)
	}
	s := &scope{}
	if outer != nil {
		*s = *outer
	}
	var made []*cteScope
	for n, q := range queries {
		if slices.ContainsFunc(queries[:n], func(before sqltext.CTE) bool { return before.Name == q.Name }) {
			r.errs.Add(repeatedWith(r.pos(q.Pos), q.Name))
		}
		s.ctes = &cteScope{with: q, outer: s.ctes, next: s.ctes, around: outer}
		made = append(made, s.ctes)
	}
	for _, cte := range made {
		if recursive {
			cte.outer = s.ctes
		}
	}
	rel := query(s)
	for i := len(made) - 1; i >= 0; i-- {
		r.unread(made[i])
	}
	return rel
}

// unread finds what is wrong with a WITH query that nothing reads; PostgreSQL looks at it, too.
func (r *resolver) unread(cte *cteScope) {
	if !cte.read {
		r.apart().cte(&sqltext.TableRef{Pos: cte.with.Pos, Name: cte.with.Name}, cte)
	}
}

// sees is the scope in which a WITH query is resolved.
func (cte *cteScope) sees() *scope {
	s := &scope{}
	if cte.around != nil {
		*s = *cte.around
	}
	s.ctes = cte.outer
	return s
}

// cte resolves a reference to a WITH query.
func (r *resolver) cte(t *sqltext.TableRef, cte *cteScope) (algebra.Node, *scope) {
	if cte.busy {
		cte.itself = true
		node, s := r.opaque(nameOf(t), cte.columns, t)
		if cte.columns != nil {
			node = r.readsSelf(cte, s)
		}
		return node, s
	}
	cte.read = true
	if *r.resolved > mostQueries {
		return r.opaque(nameOf(t), cte.known, t)
	}
	rel := r.withQuery(cte)
	columns := r.renameRelation(cte.with.Pos, rel, theQuery(cte.with.Name), cte.with.Columns)
	if columns = r.notePaths(cte, columns); len(columns) == len(cte.columns) || cte.self == nil {
		columns = append(columns, r.added(cte.with)...)
	}
	if rel.open == nil {
		cte.known = columns
	}
	if cte.itself {
		r.checkRecursion(cte)
		rel = r.recursion(cte, rel)
	}
	switch {
	case !cte.hasPaths():
	case !cte.itself:
		r.errs.Add(notRecursive(r.pos(cte.with.Pos)))
	case cte.self == nil:
		r.full(cte.with.Pos, pathsReason, pathsHint)
	}
	columns = r.rename(t.Pos, columns, theTable(nameOf(t)), t.Columns, rel.open != nil)
	s := rel.under(nameOf(t), columns)
	return r.withJSON(rel.node, s, t.Pos), s
}

// withQuery resolves a WITH query, which may read itself right of a UNION: the columns are those of the left side.
func (r *resolver) withQuery(cte *cteScope) relation {
	cte.busy, cte.itself, cte.columns, cte.self, cte.carried = true, false, nil, nil, nil
	defer func() { cte.busy = false }()
	union, ok := cte.with.Query.(*sqltext.SetOp)
	if !ok || union.Kind != sqltext.Union {
		return r.query(cte.with.Query, cte.sees())
	}
	return r.with(union.With, union.Recursive, cte.sees(), func(s *scope) relation {
		left := r.query(union.Left, s)
		if left.open == nil {
			cte.columns = r.renameRelation(cte.with.Pos, left, theQuery(cte.with.Name), cte.with.Columns)
			seeds := left
			if cte.hasPaths() {
				r.checkPaths(cte, union)
				seeds = r.seeds(cte, left)
			}
			cte.self = r.selfOf(cte, seeds)
			right := r.query(union.Right, s)
			if !cte.hasPaths() {
				return r.united(union, left, right, s)
			}
			if steps, ok := r.steps(cte, right); ok {
				return r.united(union, seeds, steps, s)
			}
			cte.self = nil
			if q, ok := union.Right.(*sqltext.Select); ok && cte.itself && !slices.ContainsFunc(q.From, cte.isIn) {
				r.errs.Add(deepRecursion(r.pos(cte.with.Pos), cte.with.Name))
			}
			return r.united(union, left, right, s)
		}
		return r.united(union, left, r.query(union.Right, s), s)
	})
}

// checkRecursion checks the form of a query that reads itself.
func (r *resolver) checkRecursion(cte *cteScope) {
	union, ok := cte.with.Query.(*sqltext.SetOp)
	if !ok || union.Kind != sqltext.Union {
		r.errs.Add(badRecursion(r.pos(cte.with.Pos), cte.with.Name))
		return
	}
	for _, clause := range []struct {
		has  bool
		at   int
		word string
	}{{len(union.Order) > 0, firstOf(union.Order), "ORDER BY"}, {!union.Offset.IsZero(), union.Offset.At(), "OFFSET"}, {!union.Limit.IsZero(), union.Limit.At(), "LIMIT"}} {
		if clause.has {
			r.errs.Add(noRecursive(r.pos(max(0, clause.at)), clause.word))
			return
		}
	}
}

func firstOf(items []sqltext.SortItem) int {
	if len(items) == 0 {
		return 0
	}
	return items[0].Expr.At()
}

// added are the columns that SEARCH and CYCLE add to a WITH query.
func (r *resolver) added(with sqltext.CTE) []column {
	var all []column
	add := func(name string) {
		if name != "" {
			all = append(all, column{name, r.columns.New(algebra.Info{Name: name})})
		}
	}
	if with.Search != nil {
		add(with.Search.Sequence)
	}
	if with.Cycle != nil {
		add(with.Cycle.Mark)
		add(with.Cycle.Path)
	}
	return all
}
