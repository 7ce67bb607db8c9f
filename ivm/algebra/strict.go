package algebra

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Refuses reports whether a condition compares something that is null where these columns are, so that it is not true there.
func Refuses(cond Scalar, columns []ColID) bool {
	form := cond.Expr.Form()
	return form.Kind == sqltext.OperationForm && isOwn(form.Operator, "=", "<>", "<", "<=", ">", ">=") &&
		slices.ContainsFunc(form.Parts, func(e sqltext.Expr) bool { return isNullWith(e, columns) })
}

// isNullWith reports whether an expression is null where these columns are: one of them, or what is computed from one by PostgreSQL's own arithmetic.
func isNullWith(e sqltext.Expr, columns []ColID) bool {
	if id, ok := e.Column(); ok {
		return slices.Contains(columns, ColID(id))
	}
	form := e.Form()
	arithmetic := form.Kind == sqltext.OperationForm && isOwn(form.Operator, "+", "-", "*", "/")
	return arithmetic && slices.ContainsFunc(form.Parts, func(e sqltext.Expr) bool { return isNullWith(e, columns) })
}

func isOwn(op sqltext.Operator, names ...string) bool {
	return (op.Schema == "" || op.Schema == "pg_catalog") && slices.Contains(names, op.Name)
}

// NeverNull reports whether an expression is a column that is never null, or what PostgreSQL's own arithmetic and casts make of such columns and constants.
func NeverNull(e sqltext.Expr, notNull func(ColID) bool) bool {
	if id, ok := e.Column(); ok {
		return notNull(ColID(id))
	}
	form := e.Form()
	switch {
	case form.Kind == sqltext.ConstantForm:
		return !e.IsNull()
	case form.Kind == sqltext.OperationForm && !isOwn(form.Operator, "+", "-", "*", "/"), form.Kind != sqltext.OperationForm && form.Kind != sqltext.CastForm:
		return false
	}
	return !slices.ContainsFunc(form.Parts, func(e sqltext.Expr) bool { return !NeverNull(e, notNull) })
}
