package resolve

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/typing"
)

// checker finds the types of bound expressions, and reports what is wrong with them.
func (r *resolver) checker() *typing.Checker {
	return &typing.Checker{
		Catalog: r.catalog, Path: r.path,
		Column: func(id int) string {
			if typ := r.exactType(algebra.ColID(id)); typ != typing.Unknown {
				return typ
			}
			return "text" // which a literal is once it is a column
		},
		Subquery: func(e sqltext.Expr) []string { return r.subqueries[e.SubqueryID()] },
		Report: func(at int, code, message, hint string) {
			r.errs.Add(diag.Error{Pos: r.pos(at), Code: code, Message: message, Hint: hint})
		},
	}
}

// exactType is the type of a column by PostgreSQL's rules; "" if it is not known, typing.Unknown that of a literal.
func (r *resolver) exactType(id algebra.ColID) string {
	if typ, ok := r.types[id]; ok {
		return typ
	}
	return r.catalog.PlainType(r.columns.Info(id).Type)
}

// typed adds a column that an expression computes.
func (r *resolver) typed(info algebra.Info, shape shapeOf, e sqltext.Expr) algebra.ColID {
	id := r.newColumn(info, shape)
	r.types[id] = r.silent().checker().Type(e)
	return id
}

// subqueryTypes notes the types of the columns of a subquery in an expression.
func (r *resolver) subqueryTypes(e sqltext.Expr, rel relation) {
	if rel.open != nil {
		return
	}
	column := r.checker().Column
	types := []string{}
	for _, id := range rel.ids {
		types = append(types, column(int(id)))
	}
	r.subqueries[e.SubqueryID()] = types
}

// commonTypes are the types that the columns of both sides of UNION and the like have in common.
func (r *resolver) commonTypes(kind string, left, right relation) []string {
	types := make([]string, len(left.ids))
	for i := range types {
		c := r.checker()
		c.Report = func(_ int, code, message, hint string) {
			r.errs.Add(diag.Error{Pos: right.at[i], Code: code, Message: message, Hint: hint})
		}
		types[i] = c.CommonType([]string{r.exactType(left.ids[i]), r.exactType(right.ids[i])}, []int{0, 0}, kind)
	}
	return types
}

// checkDistinct checks that rows can be compared.
func (r *resolver) checkDistinct(rel relation) {
	for i, id := range rel.ids {
		c := r.checker()
		c.Report = func(_ int, code, message, hint string) {
			r.errs.Add(diag.Error{Pos: rel.at[i], Code: code, Message: message, Hint: hint})
		}
		c.GroupableType(c.Column(int(id)), 0)
	}
}

// checkSorted checks that values of a column of the output can be sorted.
func (r *resolver) checkSorted(e sqltext.Expr, id algebra.ColID, using sqltext.Operator) {
	r.checker().Sortable(e.Bound(int(id)), using)
}

// merge is the type of the column that USING makes of two.
func (r *resolver) mergeTypes(at int, left, right algebra.ColID) string {
	column := r.checker().Column
	return r.checker().CommonType([]string{column(int(left)), column(int(right))}, []int{at, at}, "JOIN/USING")
}
