package catalog

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// What DDL names and the catalog does not keep has to exist all the same: PostgreSQL would refuse it.

// checkNames checks the columns of an index or a foreign key, and what that references.
func (s *script) checkNames(r *Relation, d *ddl.Names) {
	missing := unknownKeyColumn
	if d.References.Name != "" {
		missing = unknownForeignColumn
	}
	s.checkColumns(r, d.Columns, missing)
	if d.References.Name == "" {
		return
	}
	to := s.named(d.References)
	if to == nil || !s.checkColumns(to, d.Referenced, unknownForeignColumn) {
		return
	}
	var columns []string
	for _, c := range d.Referenced {
		columns = append(columns, c.Name)
	}
	switch {
	case s.doubtful(d.References) || to.isView() || to.Kind == Foreign:
	case columns == nil && !to.hasKey(func(k key) bool { return k.primary }):
		s.report(d.References.Pos, noPrimaryKey, to.Name)
	case columns != nil && !to.hasKey(func(k key) bool { return !k.plain && sameColumns(k.columns, columns) }):
		s.report(d.At(), noMatchingKey, to.Name)
	}
}

func sameColumns(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(c string) bool { return !slices.Contains(b, c) })
}

// checkColumns reports columns that a table lacks; false if one is missing.
func (s *script) checkColumns(r *Relation, columns []ddl.ColumnName, p problem) bool {
	if r.isView() || s.doubtful(ddl.ObjectName{Schema: r.Schema, Name: r.Name}) {
		return true
	}
	ok := true
	for _, c := range columns {
		if r.Column(c.Name) < 0 && !slices.Contains(systemColumns, c.Name) {
			s.reportUnknown(c.Pos, p, r.ColumnNames(), c.Name)
			ok = false
		}
	}
	return ok
}

// systemColumns are those that each table has besides its own.
var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

// checkType reports a type that neither PostgreSQL has nor DDL makes, unless an extension or a block of code may make it.
func (s *script) checkType(t sqltext.Type) {
	if t.IsZero() || s.Extended() || s.HasType(s.path, t) || serialTypes[t.Name] {
		return
	}
	shown := name{t.Schema, t.Name}.String()
	if extension := extensionTypes[t.Name].extension; extension != "" {
		p := unknownType
		p.hint = fmt.Sprintf("the DDL has to say where it comes from: create extension %s", extension)
		s.report(t.Pos, p, shown)
		return
	}
	s.reportNearest(t.Pos, unknownType, t.Name, s.TypeNames(), shown)
}

var serialTypes = map[string]bool{"serial": true, "bigserial": true, "smallserial": true, "serial4": true, "serial8": true, "serial2": true}
