// Package ddl reads scripts of DDL into definitions of relations, types and routines, statement by statement.
package ddl

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Definitions reads a script of DDL as pg_dump 14 to 18 or people write it. Statements that say nothing about relations, types, routines
// or names are skipped, and so are those that the grammar does not know, unless they make or change a relation, or begin with no word of SQL: these are
// errors. Offsets
// are bytes into the script.
func Definitions(script string) ([]Definition, []*sqltext.Error) {
	spans, open := split(script)
	r := &reader{script: script}
	for _, s := range spans {
		r.statement(s)
	}
	if open != nil {
		r.errors = append(r.errors, open)
	}
	return r.definitions, r.errors
}

// Statements cuts a script into statements as psql does. Its own commands are left out, and so is data after COPY … FROM stdin.
func Statements(script string) []string {
	spans, _ := split(script)
	var all []string
	for _, s := range spans {
		all = append(all, script[s.start:s.end])
	}
	return all
}

// reader turns statements into definitions.
type reader struct {
	script      string
	definitions []Definition
	errors      []*sqltext.Error

	// of the statement that is being read
	span   span
	text   string
	newer  newer
	masked bool // words that are newer than the grammar were replaced
	tokens []*pg_query.ScanToken
}

// relevant are the first words of statements that can define something.
var relevant = []string{"alter", "comment", "create", "do", "drop", "reset", "select", "set"}

func (r *reader) statement(s span) {
	text := r.script[s.start:s.end]
	r.span, r.text, r.tokens, r.newer = s, text, nil, newer{}
	if !slices.Contains(relevant, firstWord(text)) {
		r.misspelled()
		return
	}
	tree, err := sqltext.Parse(text)
	if r.masked = err != nil; r.masked {
		tree = r.parseNewer()
	}
	if tree == nil {
		r.unreadable(err)
		return
	}
	for _, raw := range tree.Stmts {
		r.node(raw.Stmt)
	}
}

func (r *reader) add(d Definition) { r.definitions = append(r.definitions, d) }

// at turns an offset into the statement into one into the script.
func (r *reader) at(offset int) place { return place(r.pos(offset)) }

func (r *reader) pos(offset int) int { return r.span.start + max(offset, 0) }

func (r *reader) node(node *pg_query.Node) {
	switch n := node.Node.(type) {
	case *pg_query.Node_CreateSchemaStmt:
		r.createSchema(n.CreateSchemaStmt)
	case *pg_query.Node_CreateStmt:
		r.add(r.createTable(n.CreateStmt))
		r.foreignKeys(n.CreateStmt)
		r.tableExpressions(n.CreateStmt)
	case *pg_query.Node_CreateForeignTableStmt:
		r.createForeignTable(n.CreateForeignTableStmt)
	case *pg_query.Node_CreateTableAsStmt:
		r.createTableAs(n.CreateTableAsStmt)
	case *pg_query.Node_ViewStmt:
		r.createView(n.ViewStmt)
	case *pg_query.Node_IndexStmt:
		r.createIndex(n.IndexStmt)
		r.indexExpressions(n.IndexStmt)
	case *pg_query.Node_AlterTableStmt:
		r.alterTable(n.AlterTableStmt)
	case *pg_query.Node_RenameStmt:
		r.rename(n.RenameStmt)
	case *pg_query.Node_AlterObjectSchemaStmt:
		r.setSchema(n.AlterObjectSchemaStmt)
	case *pg_query.Node_DropStmt:
		r.drop(n.DropStmt)
	case *pg_query.Node_CommentStmt:
		r.comment(n.CommentStmt)
	case *pg_query.Node_VariableSetStmt:
		r.setVariable(n.VariableSetStmt)
	case *pg_query.Node_SelectStmt:
		r.selectStatement(n.SelectStmt)
	default:
		r.typeOrRoutine(node)
	}
}

func (r *reader) typeOrRoutine(node *pg_query.Node) {
	switch n := node.Node.(type) {
	case *pg_query.Node_CreateEnumStmt:
		r.addType(n.CreateEnumStmt.TypeName, EnumType).Labels = sqltext.Strings(n.CreateEnumStmt.Vals)
	case *pg_query.Node_AlterEnumStmt:
		r.alterEnum(n.AlterEnumStmt)
	case *pg_query.Node_DoStmt:
		r.add(&Block{place: r.at(0)})
	case *pg_query.Node_CreateRangeStmt:
		r.createRange(n.CreateRangeStmt)
	case *pg_query.Node_CompositeTypeStmt:
		r.createComposite(n.CompositeTypeStmt)
	case *pg_query.Node_CreateDomainStmt:
		r.createDomain(n.CreateDomainStmt)
	case *pg_query.Node_AlterDomainStmt:
		r.alterDomain(n.AlterDomainStmt)
	case *pg_query.Node_CreateFunctionStmt:
		r.createFunction(n.CreateFunctionStmt)
	case *pg_query.Node_AlterFunctionStmt:
		r.alterFunction(n.AlterFunctionStmt)
	case *pg_query.Node_CreateOpClassStmt:
		r.createOperatorClass(n.CreateOpClassStmt)
	case *pg_query.Node_CreateCastStmt:
		r.createCast(n.CreateCastStmt)
	case *pg_query.Node_CreateExtensionStmt:
		r.createExtension(n.CreateExtensionStmt)
	case *pg_query.Node_DefineStmt:
		r.define(n.DefineStmt)
	}
}

func (r *reader) createSchema(n *pg_query.CreateSchemaStmt) {
	if len(n.SchemaElts) == 0 {
		return
	}
	r.add(&SchemaElements{place: r.at(0), Schema: n.Schemaname})
	for _, element := range n.SchemaElts {
		r.node(element)
	}
	r.add(&SchemaElements{place: r.at(0)})
}

// firstWord returns the first word of a statement in lower case.
func firstWord(text string) string {
	end := 0
	for end < len(text) && isWordPart(text[end]) {
		end++
	}
	return strings.ToLower(text[:end])
}
