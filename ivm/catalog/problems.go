package catalog

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/diag"
)

// problem is a kind of error in DDL; message takes arguments, hint does not.
type problem struct {
	code, message, hint string
}

// All messages about DDL. Syntax errors have PostgreSQL's own.
var (
	duplicateRelation    = problem{"duplicate-name", "relation %q already exists", "drop it first, or leave one of the two out"}
	repeatedColumn       = problem{"duplicate-name", "column %q specified more than once", ""}
	duplicateColumn      = problem{"duplicate-name", "column %q of relation %q already exists", ""}
	secondPrimaryKey     = problem{"conflict", "multiple primary keys for table %q are not allowed", ""}
	unknownRelation      = problem{"unknown-name", "relation %q does not exist", "the DDL has to create it before it names it"}
	unknownColumn        = problem{"unknown-name", "column %q of relation %q does not exist", ""}
	unknownKeyColumn     = problem{"unknown-name", "column %q named in key does not exist", ""}
	unknownForeignColumn = problem{"unknown-name", "column %q referenced in foreign key constraint does not exist", ""}
	noPrimaryKey         = problem{"unknown-name", "there is no primary key for referenced table %q", ""}
	noMatchingKey        = problem{"unknown-name", "there is no unique constraint matching given keys for referenced table %q", ""}
	unknownType          = problem{"unknown-type", "type %q does not exist", "the DDL has to create it first: create type …, or create extension …"}
	unknownIndex         = problem{"unknown-name", "index %q does not exist", "it has to be a unique index that the DDL creates first"}
	unknownRowType       = problem{"unknown-name", "type %q does not exist", "the DDL has to create the composite type before the table"}
	unsortedKey          = problem{"no-ordering", "data type %s has no default operator class for access method \"btree\"", "an index of another kind may take it, or name an operator class"}
	noSchema             = problem{"missing-value", "no schema has been selected to create in", "write the name with its schema, or set search_path"}
	syntax               = problem{"sql-syntax", "%s", ""}
	queryColumns         = problem{"unsupported-ddl", "the columns of %q cannot be derived from %s", "write CREATE TABLE with its columns, as pg_dump -s does"}
	recursiveView        = problem{"unsupported-ddl", "CREATE RECURSIVE VIEW %q is not understood", "write CREATE VIEW … AS WITH RECURSIVE …, as pg_dump -s does"}
	viewColumn           = problem{"unsupported-ddl", "renaming the column %q of view %q is not understood", "create the view with the new name, as pg_dump -s does"}
)

// report records an error at an offset of the script.
func (s *script) report(at int, p problem, args ...any) {
	s.errs.Add(diag.Error{Pos: s.pos(at), Code: p.code, Message: fmt.Sprintf(p.message, args...), Hint: p.hint})
}

// reportUnknown records that a name is unknown, with the nearest of those that are known.
func (s *script) reportUnknown(at int, p problem, known []string, names ...any) {
	e := diag.Error{Pos: s.pos(at), Code: p.code, Message: fmt.Sprintf(p.message, names...), Hint: p.hint}
	if near := diag.Nearest(fmt.Sprint(names[0]), known); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	} else if p.hint == "" && len(known) > 0 {
		e.Hint = "its columns are " + strings.Join(known, ", ")
	}
	s.errs.Add(e)
}

// reportNearest records that something is unknown, with the nearest of what there is.
func (s *script) reportNearest(at int, p problem, unknown string, known []string, args ...any) {
	if near := diag.Nearest(unknown, known); near != "" {
		p.hint = fmt.Sprintf("did you mean %q?", near)
	}
	s.report(at, p, args...)
}

// reportTaken records that a relation's name is taken.
func (s *script) reportTaken(at int, taken *Relation) {
	s.errs.Add(diag.Error{
		Pos: s.pos(at), Code: duplicateRelation.code, Message: fmt.Sprintf(duplicateRelation.message, taken.Name), Hint: duplicateRelation.hint,
		Also: earlier(taken),
	})
}
