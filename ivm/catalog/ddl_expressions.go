package catalog

import (
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// DDLChecker checks queries and expressions of DDL when the statement that has them is added.
type DDLChecker interface {
	View(c *Catalog, view *Relation)
	Expression(c *Catalog, path []string, table *Relation, e Expression)
}

// Expression is one that a table or an index has.
type Expression struct {
	Expr   sqltext.Expr
	Clause string                    // DEFAULT, CHECK, WHERE; empty of a key of an index
	Column string                    // whose DEFAULT it is
	Pos    func(offset int) diag.Pos // where an offset of the expression is
}

// CheckDDL has a checker look at the DDL that is added from now on.
func (c *Catalog) CheckDDL(checker DDLChecker) { c.checker = checker }

func (s *script) checkExpressions(r *Relation, d *ddl.Expressions) {
	if s.checker == nil || r.isView() || s.doubtful(ddl.ObjectName{Schema: r.Schema, Name: r.Name}) {
		return
	}
	for _, e := range d.List {
		s.checker.Expression(s.Catalog, s.path, r, Expression{Expr: e.Expr, Clause: e.Clause, Column: e.Column, Pos: func(offset int) diag.Pos { return s.pos(e.From + offset) }})
	}
}
