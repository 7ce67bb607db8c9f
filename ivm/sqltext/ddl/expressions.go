package ddl

import (
	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Expressions are those that a table or an index has: they have to fit its columns.
type Expressions struct {
	AlterTable
	List []Expression
}

// Expression is a default, a condition or a key of an index.
type Expression struct {
	Expr   sqltext.Expr // its offsets are into the statement
	From   int          // where that begins in the script
	Clause string       // DEFAULT, CHECK, WHERE; empty of a key
	Column string       // whose DEFAULT it is
}

// tableExpressions reads defaults and checks of CREATE TABLE.
func (r *reader) tableExpressions(n *pg_query.CreateStmt) {
	var list []Expression
	for _, element := range n.TableElts {
		if column := element.GetColumnDef(); column != nil {
			list = append(list, r.columnExpressions(column)...)
		}
		list = append(list, r.constraintExpressions(element.GetConstraint(), "")...)
	}
	table := r.rangeVar(n.Relation)
	r.addExpressions(AlterTable{place: place(table.Pos), Table: table}, list)
}

func (r *reader) columnExpressions(column *pg_query.ColumnDef) []Expression {
	var list []Expression
	for _, node := range column.Constraints {
		list = append(list, r.constraintExpressions(node.GetConstraint(), column.Colname)...)
	}
	return list
}

func (r *reader) constraintExpressions(n *pg_query.Constraint, column string) []Expression {
	switch n.GetContype() {
	case pg_query.ConstrType_CONSTR_CHECK:
		return []Expression{r.expression(n.RawExpr, "CHECK", "")}
	case pg_query.ConstrType_CONSTR_DEFAULT, pg_query.ConstrType_CONSTR_GENERATED:
		return []Expression{r.expression(n.RawExpr, "DEFAULT", column)}
	}
	return nil
}

// indexExpressions reads the keys and the predicate of an index.
func (r *reader) indexExpressions(n *pg_query.IndexStmt) {
	var list []Expression
	for _, param := range n.IndexParams {
		list = append(list, r.expression(param.GetIndexElem().GetExpr(), "", ""))
	}
	table := r.rangeVar(n.Relation)
	r.addExpressions(AlterTable{place: place(table.Pos), Table: table}, append(list, r.expression(n.WhereClause, "WHERE", "")))
}

func (r *reader) expression(n *pg_query.Node, clause, column string) Expression {
	return Expression{Expr: sqltext.ExprOf(n), From: r.span.start, Clause: clause, Column: column}
}

// addExpressions adds those that there are. What stands in words that are newer than the grammar was replaced by others, and is not looked at.
func (r *reader) addExpressions(of AlterTable, list []Expression) {
	e := &Expressions{AlterTable: of}
	for _, item := range list {
		if !item.Expr.IsZero() && !r.masked {
			e.List = append(e.List, item)
		}
	}
	if len(e.List) > 0 {
		r.add(e)
	}
}
