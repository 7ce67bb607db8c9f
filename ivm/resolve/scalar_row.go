package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/typing"
)

// valueOfRow is the value of a subquery that reads no table and so has one row: an expression over the rows around it.
func (j *joining) valueOfRow(rel relation) (sqltext.Expr, bool) {
	value := sqltext.Column(int(rel.ids[0]))
	for node := rel.node; ; {
		switch n := node.(type) {
		case *algebra.Project:
			value = inPlaceOf(value, n.Columns(), func(i int) sqltext.Expr { return n.Items[i].Expr.Expr })
			node = n.Input
		case *algebra.Values:
			if len(n.Rows) != 1 {
				return value, false
			}
			value = inPlaceOf(value, n.Cols, func(i int) sqltext.Expr { return n.Rows[0][i].Expr })
			if j.exactType(rel.ids[0]) == typing.Unknown {
				value = j.withColumn("e::text", value)
			}
			return value, true
		default:
			return value, false
		}
	}
}

// inPlaceOf is an expression with others in the place of columns.
func inPlaceOf(e sqltext.Expr, columns []algebra.ColID, with func(i int) sqltext.Expr) sqltext.Expr {
	return e.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		id, isColumn := e.Column()
		at := slices.Index(columns, algebra.ColID(id))
		if !isColumn || at < 0 {
			return sqltext.Expr{}, false
		}
		return with(at), true
	})
}
