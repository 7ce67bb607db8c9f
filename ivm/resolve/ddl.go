package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// DDL checks what statements of DDL say in queries and expressions, as PostgreSQL does when it runs them.
type DDL struct {
	Errs *diag.List
	Made func(schema, name string) bool // by what is generated: DDL may name it, and does not have it
}

// View checks the query of a view.
func (d DDL) View(c *catalog.Catalog, view *catalog.Relation) {
	q, err := sqltext.ParseQuery(view.Query)
	if err != nil || d.readsMade(q) { // which is said where it is read
		return
	}
	found := &diag.List{}
	repeated(found, func(errs *diag.List) *resolver {
		r := newResolver(view.Query, view.QueryPos, c, &algebra.Columns{}, errs)
		r.path = view.SearchPath
		return r
	}, func(r *resolver) { r.query(q, nil) })
	d.add(c, found)
}

// readsMade reports whether a query reads what is generated.
func (d DDL) readsMade(q sqltext.Query) bool {
	return slices.ContainsFunc(sqltext.Tables(q), func(t *sqltext.TableRef) bool { return d.Made(t.Schema, t.Name) })
}

// Expression checks a default, a condition or a key of an index of a table.
func (d DDL) Expression(c *catalog.Catalog, path []string, table *catalog.Relation, e catalog.Expression) {
	found := &diag.List{}
	r := newResolver("", e.Pos, c, &algebra.Columns{}, found)
	r.path = path
	s := &scope{}
	named := namedTable{schema: table.Schema, name: table.Name, stored: true}
	for _, c := range table.Columns {
		id := r.columns.New(algebra.Info{Name: c.Name, Type: c.Type})
		named.columns = append(named.columns, column{c.Name, id})
	}
	s.tables, s.visible = []namedTable{named}, named.columns
	bound := r.bind(e.Expr, s, e.Clause)
	switch at := table.Column(e.Column); {
	case e.Clause == "DEFAULT" && at >= 0:
		r.checker().Assigned(bound.Expr, e.Column, table.Columns[at].Type)
	case e.Clause == "CHECK", e.Clause == "WHERE":
		r.checker().Boolean(bound.Expr, e.Clause)
	}
	d.add(c, found)
}

// ofDDL are the errors that are PostgreSQL's; others are about what a stream table cannot follow.
var ofDDL = []string{
	"unknown-table", "unknown-column", "ambiguous-column", "unknown-function", "ambiguous-function", "unknown-operator", "ambiguous-operator", "unknown-type",
	"unknown-window", "bad-cast", "bad-value", "type-mismatch", "not-boolean", "no-equality", "column-count", "grouping", "duplicate-alias", "conflict",
}

// add reports what PostgreSQL would. Tables that extensions make are not known.
func (d DDL) add(c *catalog.Catalog, found *diag.List) {
	for _, e := range found.Errors() {
		if slices.Contains(ofDDL, e.Code) && !(e.Code == "unknown-table" && c.Extended()) {
			d.Errs.Add(e)
		}
	}
}
