package resolve

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// bind replaces the names in an expression by columns. clause names a clause
// that may hold no aggregate of its own query; it is empty where one may.
func (r *resolver) bind(e sqltext.Expr, s *scope, clause string) algebra.Scalar {
	return r.bindWith(e, s, clause, func(e sqltext.Expr, sub sqltext.Subquery) (relation, sqltext.Expr) {
		r.result.Full = append(r.result.Full, subqueryReason(r.pos(max(0, e.At()))))
		return r.query(sub.Query, s), sqltext.Expr{}
	})
}

// subqueryReason is why a query with a subquery that nothing follows can only be recomputed.
func subqueryReason(at diag.Pos) Reason {
	return Reason{Pos: at, What: "subquery in an expression", Hint: subqueryHint}
}

const subqueryHint = "have an aggregate compute its value, find its row by a key, or end it with ORDER BY and LIMIT 1"

// bindWith is bind where subquery resolves the subqueries of the expression, and says what stands for one, if anything does.
func (r *resolver) bindWith(e sqltext.Expr, s *scope, clause string, subquery func(sqltext.Expr, sqltext.Subquery) (relation, sqltext.Expr)) algebra.Scalar {
	defer s.inClause(clause)()
	bound := r.rowsAsJSON(e, s).Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		if column, ok := r.outerAggregate(e, s); ok {
			return column, true
		}
		if ref, ok := e.Ref(); ok {
			return r.bindRef(e, ref, s), true
		}
		if text, ok := r.pathText(e, s); ok {
			return text, true
		}
		if field, ok := r.fieldOf(e, s); ok {
			return field, true
		}
		if form := e.Form(); form.Kind == sqltext.RowForm && slices.ContainsFunc(form.Parts, sqltext.Expr.Star) { // which stands for columns there
			r.full(max(0, form.Pos), "expansion of a row", "name its columns")
			return e, true
		}
		if sub, ok := e.Subquery(); ok {
			rel, value := subquery(e, sub)
			r.subqueryTypes(e, rel)
			if !value.IsZero() {
				return value, true
			}
		}
		if known, ok := r.isTime(e); ok {
			return known, true
		}
		r.checkTime(e)
		return sqltext.Expr{}, false
	}).Map(r.qualified)
	r.checkCalls(bound, s, clause)
	r.checker().Type(bound)
	r.checkOutside(bound)
	return algebra.Scalar{Expr: bound}
}

func (r *resolver) bindAll(list []sqltext.Expr, s *scope, clause string) []algebra.Scalar {
	all := make([]algebra.Scalar, len(list))
	for i, e := range list {
		all[i] = r.bind(e, s, clause)
	}
	return all
}

// conditions binds what AND joins, one by one.
func (r *resolver) conditions(e sqltext.Expr, s *scope, clause string) []algebra.Scalar {
	all := r.bindAll(e.Conjuncts(), s, clause)
	r.checkCondition(all, clause)
	return all
}

// bindRef binds one name. One that is unknown is reported and stays.
func (r *resolver) bindRef(e sqltext.Expr, ref sqltext.Ref, s *scope) sqltext.Expr {
	if r.wholeRow(ref, s) {
		return r.bindRow(e, ref, s)
	}
	if ref.Star {
		r.errs.Add(unknownAlias(r.pos(ref.Pos), ref.Parts, s))
		return e
	}
	if id, ok := r.column(ref, s); ok {
		if r.paths[id] {
			r.full(ref.Pos, pathsReason+" whose path is read otherwise than as a text", pathsHint)
		}
		return e.Bound(int(id))
	}
	return e
}

// wholeRow reports whether a name means a table rather than a column: t where no column has that name, or t.*.
func (r *resolver) wholeRow(ref sqltext.Ref, s *scope) bool {
	if ref.Star {
		return len(ref.Parts) == 0 || r.tableAround(s, ref.Parts) != nil
	}
	if len(ref.Parts) != 1 {
		return false
	}
	for at := s; at != nil; at = at.outer {
		if len(named(at.visible, ref.Parts[0])) > 0 {
			return false
		}
	}
	return r.tableAround(s, ref.Parts) != nil
}

// qualified writes names in string constants with their schemas, so that they mean the same wherever they are looked up.
func (r *resolver) qualified(e sqltext.Expr) (sqltext.Expr, bool) {
	if form := e.Form(); form.Kind == sqltext.CastForm {
		typ := r.catalog.TypeIn(r.path, form.Type)
		element := strings.TrimRight(typ, "[]")
		if !catalog.IsName(element) {
			return sqltext.Expr{}, false
		}
		r.result.LooksUp = true
		if element != typ {
			r.elsewhere(e.At())
			return sqltext.Expr{}, false
		}
		text, ok := form.Parts[0].Text()
		if meant := r.meant(typ, text, e.At()); ok && meant != text {
			return e.CastText(meant), true
		}
		return sqltext.Expr{}, false
	}
	call, ok := e.Call()
	if !ok || call.Named || call.Variadic {
		return sqltext.Expr{}, false
	}
	replaced, changed := e, false
	for i, arg := range call.Args {
		typ, sure := r.catalog.NameArgument(r.path, call.Schema, call.Name, i, len(call.Args))
		if typ == "" {
			continue
		}
		r.result.LooksUp = true
		if !sure {
			r.elsewhere(arg.At())
			continue
		}
		text, ok := arg.Text()
		if meant := r.meant(typ, text, arg.At()); ok && meant != text {
			replaced, changed = replaced.WithText(i, meant), true
		}
	}
	if !changed {
		return sqltext.Expr{}, false
	}
	return replaced.Map(r.qualified), true // what is qualified stays as it is
}

// meant is a name in a constant with its schema. What no DDL makes is looked up where the query runs, and so cannot be what a view looks up elsewhere.
func (r *resolver) meant(typ, text string, at int) string {
	meant, known := r.catalog.Meant(r.path, typ, text)
	if !known {
		r.elsewhere(at)
	}
	return meant
}

// elsewhere has a query recomputed with a name that is looked up where the query runs, in a view that looks it up in other schemas.
func (r *resolver) elsewhere(at int) {
	if r.path != nil && !r.catalog.IsPath(r.path) {
		r.full(at, "name in a constant of a view, which looks it up in other schemas", "write it with its schema")
	}
}
