package resolve

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// bind replaces the names in an expression by columns. clause names a clause
// that may hold no aggregate; it is empty where one may.
func (r *resolver) bind(e sqltext.Expr, s *scope, clause string) algebra.Scalar {
	return algebra.Scalar{Expr: e.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		if ref, ok := e.Ref(); ok {
			return r.bindRef(e, ref, s), true
		}
		if sub, ok := e.Subquery(); ok {
			r.full(e.At(), "subquery in an expression", "")
			r.query(sub.Query, s)
		}
		if call, ok := e.Call(); ok {
			r.checkCall(call, clause)
			r.checkNested(call)
		}
		r.checkTime(e)
		return sqltext.Expr{}, false
	})}
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
	r.checkCondition(e, all, clause)
	return all
}

// bindRef binds one name. One that is unknown is reported and stays.
func (r *resolver) bindRef(e sqltext.Expr, ref sqltext.Ref, s *scope) sqltext.Expr {
	if r.wholeRow(ref, s) {
		r.full(ref.Pos, "whole row of a table", "name its columns")
		return e
	}
	if id, ok := r.column(ref, s); ok {
		return sqltext.Column(int(id))
	}
	return e
}

// wholeRow tells whether a name means a table rather than a column.
func (r *resolver) wholeRow(ref sqltext.Ref, s *scope) bool {
	if len(ref.Parts) != 1 {
		return false
	}
	for ; s != nil; s = s.outer {
		if len(named(s.visible, ref.Parts[0])) > 0 {
			return false
		}
		for _, t := range s.tables {
			if t.name == ref.Parts[0] {
				return true
			}
		}
	}
	return false
}
