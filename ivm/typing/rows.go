package typing

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// rowOf are the values of ROW(…); nil if it is none.
func rowOf(e sqltext.Expr) []sqltext.Expr {
	if f := e.Form(); f.Kind == sqltext.RowForm && !slices.ContainsFunc(f.Parts, sqltext.Expr.Star) {
		return f.Parts
	}
	return nil
}

// rowSubquery is the subquery of ROW(…) = (SELECT …), with what its row is compared with.
func rowSubquery(f sqltext.Form) (sqltext.Subquery, bool) {
	if len(f.Parts) != 2 || rowOf(f.Parts[0]) == nil {
		return sqltext.Subquery{}, false
	}
	sub, ok := f.Parts[1].Subquery()
	sub.Test, sub.Operator = f.Parts[0], f.Operator
	return sub, ok && sub.Kind == sqltext.Scalar
}

// rows compares two rows value by value.
func (c *Checker) rows(f sqltext.Form) string {
	left, right := rowOf(f.Parts[0]), rowOf(f.Parts[1])
	if len(left) != len(right) {
		c.report(f.Operator.Pos, unequalRows)
		return Boolean
	}
	for i := range left {
		c.operator(f.Operator, c.operand(left[i]), c.operand(right[i]))
	}
	return Boolean
}

// compared checks value IN (SELECT …) and the like.
func (c *Checker) compared(sub sqltext.Subquery, columns []string) {
	values := []sqltext.Expr{sub.Test}
	if row := rowOf(sub.Test); row != nil {
		values = row
	}
	switch {
	case columns == nil:
		c.types(values)
		return
	case len(columns) > len(values):
		c.report(sub.Pos, tooManyColumns)
		return
	case len(columns) < len(values):
		c.report(sub.Pos, tooFewColumns)
		return
	}
	for i, value := range values {
		c.operator(sub.Operator, c.operand(value), operand{typ: columns[i]})
	}
}
