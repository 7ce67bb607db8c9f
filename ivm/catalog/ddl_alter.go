package catalog

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

func (s *script) alterTable(d ddl.Definition) {
	switch d := d.(type) {
	case *ddl.AddColumn:
		s.alter(d.AlterTable, func(r *Relation) { s.addColumn(r, d) })
	case *ddl.DropColumn:
		s.alter(d.AlterTable, func(r *Relation) { s.dropColumn(r, d) })
	case *ddl.RenameColumn:
		s.alter(d.AlterTable, func(r *Relation) { s.renameColumn(r, d) })
	case *ddl.AlterColumn:
		s.alter(d.AlterTable, func(r *Relation) { s.alterColumn(r, d) })
	case *ddl.AddKey:
		s.alter(d.AlterTable, func(r *Relation) { s.alterAddKey(r, d) })
	case *ddl.Names:
		s.alter(d.AlterTable, func(r *Relation) { s.checkNames(r, d) })
	case *ddl.Expressions:
		s.alter(d.AlterTable, func(r *Relation) { s.checkExpressions(r, d) })
	case *ddl.DropKey:
		s.dropKey(d)
	case *ddl.RenameKey:
		s.alter(d.AlterTable, func(r *Relation) { renameKey(r, d.Name, d.To) })
	case *ddl.SetLogged:
		s.alter(d.AlterTable, func(r *Relation) { r.Unlogged = !d.On })
	case *ddl.RowSecurity:
		s.alter(d.AlterTable, func(r *Relation) { r.RowSecurity = d.On })
	case *ddl.Attach:
		s.alter(d.AlterTable, func(r *Relation) { s.attach(r, d) })
	case *ddl.Detach:
		s.alter(d.AlterTable, func(r *Relation) { s.detach(r, d) })
	}
}

// alter changes the table of a clause, if it exists.
func (s *script) alter(of ddl.AlterTable, change func(*Relation)) {
	if of.IfExists && s.RelationIn(s.path, of.Table.Schema, of.Table.Name) == nil {
		return
	}
	if r := s.named(of.Table); r != nil {
		change(r)
	}
}

func (s *script) addColumn(r *Relation, d *ddl.AddColumn) {
	if r.Column(d.Column.Name) >= 0 {
		if !d.IfNotExists {
			s.report(d.At(), duplicateColumn, d.Column.Name, r.Name)
		}
		return
	}
	for _, table := range r.withInherited(d.Only) {
		if table.Column(d.Column.Name) < 0 {
			column := s.column(d.Column)
			column.inherited = table != r
			table.Columns = append(table.Columns, column)
		}
	}
	for _, k := range d.Keys {
		s.addKey(r, k, d.Only)
	}
}

func (s *script) dropColumn(r *Relation, d *ddl.DropColumn) {
	if r.Column(d.Column.Name) < 0 {
		if !d.IfColumnExists {
			s.reportColumn(r, d.Column)
		}
		return
	}
	for _, table := range r.withInherited(d.Only) {
		if at := table.Column(d.Column.Name); table == r || at >= 0 && table.Columns[at].inherited {
			table.dropColumn(d.Column.Name)
		}
	}
}

func (s *script) renameColumn(r *Relation, d *ddl.RenameColumn) {
	switch {
	case r.Kind == View || r.Kind == MaterializedView:
		s.report(d.At(), viewColumn, d.Column.Name, r.Name)
		return
	case r.Column(d.Column.Name) < 0:
		s.reportColumn(r, d.Column)
		return
	case r.Column(d.To) >= 0:
		s.report(d.At(), duplicateColumn, d.To, r.Name)
		return
	}
	for _, table := range r.withInherited(false) {
		if table.Column(d.Column.Name) >= 0 {
			table.renameColumn(d.Column.Name, d.To)
		}
	}
}

func (s *script) alterColumn(r *Relation, d *ddl.AlterColumn) {
	if r.Column(d.Column.Name) < 0 {
		s.reportColumn(r, d.Column)
		return
	}
	for _, table := range r.withInherited(d.Only && d.Change != ddl.SetType) {
		if at := table.Column(d.Column.Name); at >= 0 {
			s.changeColumn(&table.Columns[at], d)
		}
	}
}

func (s *script) changeColumn(column *Column, d *ddl.AlterColumn) {
	switch d.Change {
	case ddl.SetType:
		s.setType(column, d.Type, d.Collation)
	case ddl.SetNotNull:
		column.NotNull, column.notNullAs = true, d.NotNullAs
	case ddl.DropNotNull:
		column.NotNull = false
	case ddl.AddIdentity:
		column.Identity = true
	case ddl.DropIdentity:
		column.Identity = false
	case ddl.DropExpression:
		column.Generated, column.Virtual = false, false
	}
}

// setNotNull is NOT NULL of a column, apart from its definition.
func (s *script) setNotNull(r *Relation, column ddl.ColumnName, constraint string) {
	at := r.Column(column.Name)
	if at < 0 {
		s.reportColumn(r, column)
		return
	}
	r.Columns[at].NotNull, r.Columns[at].notNullAs = true, constraint
}

// reportColumn reports a column that a table does not have, unless the table is not known well enough.
func (s *script) reportColumn(r *Relation, column ddl.ColumnName) {
	if !s.doubtful(ddl.ObjectName{Schema: r.Schema, Name: r.Name}) {
		s.reportUnknown(column.Pos, unknownColumn, r.ColumnNames(), column.Name, r.Name)
	}
}

func (s *script) attach(r *Relation, d *ddl.Attach) {
	parent := s.named(d.Parent)
	if parent == nil || slices.Contains(r.Parents, parent) {
		return
	}
	link(r, parent, d.Partition)
	cloneKeys(parent, r)
}

func (s *script) detach(r *Relation, d *ddl.Detach) {
	parent := s.named(d.Parent)
	if parent == nil {
		return
	}
	unlink(r, parent)
}

// unlink makes a table no longer a child of another one.
func unlink(r, parent *Relation) {
	r.Partition = false
	r.Parents = slices.DeleteFunc(r.Parents, func(p *Relation) bool { return p == parent })
	parent.Children = slices.DeleteFunc(parent.Children, func(c *Relation) bool { return c == r })
}
