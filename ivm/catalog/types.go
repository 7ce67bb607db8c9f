package catalog

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// Type is a type that DDL makes.
type Type struct {
	Schema, Name string
	Kind         ddl.TypeKind
	Columns      []Column // of a composite type
	Labels       []string // of an enum
	Base         string   // of a domain, as Column.Type spells it
	NotNull      bool     // of a domain
	Collation    string   // of a domain, as Column.Collation spells it
	Checks       []string // conditions of a domain
	Varied       bool     // values that are equal may differ
	Equality     Equality
	classes      classes // that DDL makes for a base type
}

func (s *script) createType(d *ddl.CreateType) {
	key, ok := s.newName(d.Name)
	if !ok {
		return
	}
	t := &Type{Schema: key.schema, Name: key.name, Kind: d.Kind, Labels: d.Labels, NotNull: d.NotNull, Checks: d.Checks, Varied: d.Kind != ddl.EnumType}
	for _, c := range d.Columns {
		t.Columns = append(t.Columns, s.column(c))
	}
	var base Column
	if d.Kind == ddl.DomainType {
		base = s.setBase(t, d)
	}
	t.setEquality(base)
	s.types[key] = t
	if d.Kind == ddl.RangeType {
		s.addConstructors(key, d.Multi)
		s.multiranges[multirangeOf(key, d.Multi)] = true
	}
}

// setBase gives a domain its base type. A domain over a domain has what that one has.
func (s *script) setBase(t *Type, d *ddl.CreateType) (base Column) {
	s.setType(&base, d.Base, d.Collation)
	t.Base, t.Collation, t.Varied = base.Type, base.Collation, base.Varied
	if below := s.types[name{base.typ.Schema, base.typ.Name}]; below != nil && !base.typ.Array {
		t.NotNull = t.NotNull || below.NotNull
		t.Checks = append(t.Checks, below.Checks...)
	}
	return base
}

// multirangeOf is the name of the type that PostgreSQL makes beside a range type.
func multirangeOf(key name, given ddl.ObjectName) name {
	switch {
	case given.Name != "":
		return renamed(key, given)
	case strings.Contains(key.name, "range"):
		return name{key.schema, strings.Replace(key.name, "range", "multirange", 1)}
	}
	return name{key.schema, key.name + "_multirange"}
}

// addConstructors adds the functions that make values of a range type and of its multirange type.
func (s *script) addConstructors(of name, multi ddl.ObjectName) {
	constructor := Function{Schema: of.schema, Name: of.name, Returns: sqltext.Qualified(of.schema, of.name), Args: []string{"", "", ""}, Defaults: 1}
	s.addFunction(constructor)
	if multi.Name != "" {
		key := renamed(of, multi)
		s.addFunction(Function{Schema: key.schema, Name: key.name, Returns: sqltext.Qualified(key.schema, key.name), Args: []string{""}, Defaults: 1, Variadic: true})
	}
}

func (s *script) alterDomain(d *ddl.AlterDomain) {
	if t := lookup(s.types, s.path, d.Name.Schema, d.Name.Name); t != nil {
		t.NotNull = d.NotNull
	}
}

// alterEnum adds or renames a label.
func (s *script) alterEnum(d *ddl.AlterEnum) {
	t := lookup(s.types, s.path, d.Name.Schema, d.Name.Name)
	if t == nil {
		return
	}
	if at := slices.Index(t.Labels, d.Old); at >= 0 && d.Old != "" {
		t.Labels[at] = d.New
		return
	}
	t.Labels = append(t.Labels, d.New)
}

// renameType renames a type that DDL made, and in the columns that have it.
func (s *script) renameType(d *ddl.Rename) {
	t := lookup(s.types, s.path, d.Object.Schema, d.Object.Name)
	if t == nil {
		return
	}
	old := name{t.Schema, t.Name}
	key := renamed(old, d.To)
	delete(s.types, old)
	s.types[key] = t
	t.Schema, t.Name = key.schema, key.name
	for _, r := range s.relations {
		renameTypeIn(r.Columns, old, key)
	}
	for _, t := range s.types {
		renameTypeIn(t.Columns, old, key)
	}
}

func renameTypeIn(columns []Column, old, to name) {
	for i := range columns {
		if c := &columns[i]; c.typ.Schema == old.schema && c.typ.Name == old.name {
			c.typ.Schema, c.typ.Name = to.schema, to.name
			c.Type = c.typ.SQL()
		}
	}
}

// resolve qualifies a type that is not PostgreSQL's own. One that no DDL makes belongs to an extension: the one of the same name if there
// is one, and else one in the schema where the script makes things.
func (s *script) resolve(t sqltext.Type) sqltext.Type {
	if t.IsZero() || t.Schema != "" || builtin().types[t.Name] {
		return t
	}
	if found := lookup(s.types, s.path, "", t.Name); found != nil {
		t.Schema = found.Schema
	} else if r := s.RelationIn(s.path, "", t.Name); r != nil {
		t.Schema = r.Schema
	} else if schema := s.extensions[t.Name]; schema != "" {
		t.Schema = schema
	} else if len(s.path) > 0 {
		t.Schema = s.path[0]
	}
	return t
}

func (s *script) createCollation(d *ddl.CreateCollation) {
	key, ok := s.newName(d.Name)
	if !ok {
		return
	}
	deterministic := d.Deterministic
	if d.From.Name != "" {
		deterministic = s.Deterministic(s.collationName(d.From))
	}
	s.collations[key] = deterministic
}

// collationName spells a collation. One that no DDL makes belongs to PostgreSQL.
func (s *script) collationName(n ddl.ObjectName) string {
	if n.Name == "" {
		return ""
	}
	if n.Schema != "" {
		return sqltext.Qualified(n.Schema, n.Name)
	}
	for _, schema := range searched(s.path) {
		if _, ok := s.collations[name{schema, n.Name}]; ok {
			return sqltext.Qualified(schema, n.Name)
		}
	}
	return sqltext.Qualified("pg_catalog", n.Name)
}
