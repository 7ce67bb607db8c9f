package catalog

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// script is the DDL that is being added.
type script struct {
	*Catalog
	block diag.Block
	path  []string // where unqualified names are looked up, and made in the first
	outer []string // the path around CREATE SCHEMA
	errs  *diag.List
}

// AddDDL adds what a script of DDL makes, and returns what is wrong with it.
func (c *Catalog) AddDDL(block diag.Block) *diag.List {
	s := &script{Catalog: c, block: block, path: c.path, errs: &diag.List{}}
	definitions, errs := ddl.Definitions(block.Text)
	for _, e := range errs {
		s.report(e.Offset, syntax, e.Message)
	}
	for _, d := range definitions {
		s.define(d)
	}
	c.settleNulls()
	return s.errs
}

func (s *script) pos(offset int) diag.Pos { return s.block.Pos(offset) }

func (s *script) define(d ddl.Definition) {
	switch d := d.(type) {
	case *ddl.SearchPath:
		s.setPath(d)
	case *ddl.SchemaElements:
		s.setElements(d)
	case *ddl.Distribute:
		s.distribute(d)
	case *ddl.NotUnderstood:
		s.notUnderstood(d)
	case *ddl.CreateTable:
		s.createTable(d)
	case *ddl.CreateView:
		s.createView(d)
	case *ddl.CommentOnView:
		if r := s.RelationIn(s.path, d.View.Schema, d.View.Name); r != nil {
			r.Comment = d.Text
		}
	case *ddl.CreateType:
		s.createType(d)
	case *ddl.AlterDomain:
		s.alterDomain(d)
	case *ddl.AlterEnum:
		s.alterEnum(d)
	case *ddl.Block:
		s.opaque = true
	case *ddl.CreateExtension:
		s.createExtension(d)
	case *ddl.CreateCollation:
		s.createCollation(d)
	case *ddl.CreateTextSearch:
		if key, ok := s.newName(d.Name); ok {
			s.textSearch[key] = d.Dictionary
		}
	case *ddl.CreateRoutine:
		s.createRoutine(d)
	case *ddl.AlterRoutine:
		s.alterRoutine(d)
	case *ddl.CreateOperator:
		s.createOperator(d)
	case *ddl.CreateOperatorClass:
		s.createOperatorClass(d)
	case *ddl.CreateCast:
		s.createCast(d)
	case *ddl.Rename:
		s.rename(d)
	case *ddl.Drop:
		s.drop(d)
	default:
		s.alterTable(d)
	}
}

// setPath follows SET search_path, with which a script says what its unqualified names mean.
func (s *script) setPath(d *ddl.SearchPath) {
	s.path = s.Catalog.path
	if !d.Reset {
		s.path = slices.DeleteFunc(slices.Clone(d.Schemas), func(schema string) bool {
			return schema == "$user" || schema == "pg_catalog" || schema == tempSchema
		})
	}
}

// setElements puts the schema of CREATE SCHEMA before the search path while its elements are made.
func (s *script) setElements(d *ddl.SchemaElements) {
	if d.Schema == "" {
		s.path = s.outer
		return
	}
	s.outer = s.path
	s.path = append([]string{d.Schema}, s.path...)
}

// newName is the name under which an object is made.
func (s *script) newName(n ddl.ObjectName) (name, bool) {
	switch {
	case n.Schema != "":
		return name{n.Schema, n.Name}, true
	case len(s.path) > 0:
		return name{s.path[0], n.Name}, true
	}
	s.report(n.Pos, noSchema)
	return name{}, false
}

// notUnderstood reports a statement, unless that is done, and remembers that errors about its relation may follow from it.
func (s *script) notUnderstood(d *ddl.NotUnderstood) {
	switch d.Statement {
	case "":
	case "CREATE RECURSIVE VIEW":
		s.report(d.At(), recursiveView, d.Name.Name)
	default:
		s.report(d.At(), queryColumns, d.Name.Name, d.Statement)
	}
	if key, ok := s.newName(d.Name); ok {
		s.unreadable[key] = true
	}
}

// doubtful reports whether something about the relation of this name has been reported already.
func (s *script) doubtful(n ddl.ObjectName) bool {
	return lookup(s.unreadable, s.path, n.Schema, n.Name)
}

// named returns the relation of this name, and reports it if there is none.
func (s *script) named(n ddl.ObjectName) *Relation {
	r := s.RelationIn(s.path, n.Schema, n.Name)
	if r == nil && !s.doubtful(n) {
		known := s.namesIn(s.path)
		if n.Schema != "" {
			known = s.namesIn(nil)
		}
		s.reportUnknown(n.Pos, unknownRelation, known, name{n.Schema, n.Name}.String())
	}
	return r
}

func (s *script) createView(d *ddl.CreateView) {
	key, ok := s.relationKey(d.Name, d.Temporary)
	if !ok {
		return
	}
	taken := s.relations[key]
	switch {
	case taken != nil && d.IfNotExists:
		return
	case taken != nil && !(d.Replace && taken.Kind == View):
		s.reportTaken(d.At(), taken)
		return
	}
	r := &Relation{
		Schema: key.schema, Name: key.name, Kind: View, At: s.pos(d.At()),
		Query: sqltext.WithoutFilledCheck(d.Query), Aliases: d.Columns, SearchPath: slices.Clone(s.path),
		source: s.block, queryAt: d.QueryAt,
	}
	if d.Materialized {
		r.Kind = MaterializedView
	}
	s.relations[key] = r
	if s.checker != nil {
		s.checker.View(s.Catalog, r)
	}
}

// relationKey is the name under which a relation is made.
func (s *script) relationKey(n ddl.ObjectName, temporary bool) (name, bool) {
	if temporary {
		return name{tempSchema, n.Name}, true
	}
	return s.newName(n)
}

// settleNulls takes back NOT NULL where a table below may hold nulls, as it is read together with those above it.
func (c *Catalog) settleNulls() {
	for _, r := range c.relations {
		for _, below := range r.withInherited(false)[1:] {
			for i := range r.Columns {
				column := &r.Columns[i]
				if at := below.Column(column.Name); at >= 0 && !below.Columns[at].NotNull {
					column.NotNull = false
				}
			}
		}
	}
}
