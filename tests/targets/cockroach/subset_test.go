package cockroach

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// statements are the forms of statements in scripts that CockroachDB 25.2 has.
var statements = []string{
	"CreateSchemaStmt", "CreateSeqStmt", "CreateStmt", "IndexStmt", "ViewStmt", "CreateFunctionStmt", "GrantStmt", "DropStmt",
	"SelectStmt", // of a changefeed
}

// inBodies are the statements of plpgsql that CockroachDB 25.2 has, of those that bodies use. It lacks PERFORM, EXECUTE, CASE, FOREACH, FOR over queries and
// GET DIAGNOSTICS, variables of type record, and FOUND.
var inBodies = []string{"stmt_block", "stmt_if", "stmt_assign", "stmt_return", "stmt_return_query", "stmt_execsql", "stmt_raise"}

var (
	bodyStatement = regexp.MustCompile(`"PLpgSQL_(stmt_\w+)"`)
	bodyVariable  = regexp.MustCompile(`"PLpgSQL_rec":\{"refname":"(\w+)"`)
)

// TestSubset holds every statement to PostgreSQL's grammar, and to the part of it that CockroachDB has.
func TestSubset(t *testing.T) {
	for _, name := range []string{"shop", "odd"} {
		for _, kind := range []string{"up", "down", "changefeeds"} {
			sql := script(t, name, kind)
			read(t, name+" "+kind, ifNotExists.ReplaceAllString(changefeed.ReplaceAllString(sql, ""), ""))
		}
	}
}

// TestFunctionsHaveSchemas holds that generated SQL calls CockroachDB's own functions, whatever others have made: it has no SET clause of functions, but also
// no operators and names of types but its own. What it calls event_op is known in changefeeds only.
func TestFunctionsHaveSchemas(t *testing.T) {
	for _, kind := range []string{"up", "down", "changefeeds"} {
		uses, err := sqltext.PathUses(strings.ReplaceAll(forPostgres(script(t, "shop", kind)), "public.unique_rowid", "pg_catalog.unique_rowid"))
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range uses {
			if use.Kind == sqltext.UsesFunction && use.Name != "event_op" {
				t.Errorf("%s: %s", kind, use)
			}
		}
	}
}

func read(t *testing.T, what, sql string) {
	t.Helper()
	tree, err := pg_query.Parse(sql)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, raw := range tree.Stmts {
		form := strings.TrimPrefix(fmt.Sprintf("%T", raw.Stmt.Node), "*pg_query.Node_")
		if !slices.Contains(statements, form) {
			t.Errorf("%s has a %s", what, form)
		}
		for _, p := range raw.Stmt.GetGrantStmt().GetPrivileges() {
			if len(p.GetAccessPriv().GetCols()) > 0 {
				t.Errorf("%s grants a right on columns", what)
			}
		}
		if f := raw.Stmt.GetCreateFunctionStmt(); f != nil {
			function(t, what, f, sql[raw.StmtLocation:raw.StmtLocation+raw.StmtLen])
		}
	}
}

// function checks the attributes and the body of one function.
func function(t *testing.T, what string, f *pg_query.CreateFunctionStmt, sql string) {
	t.Helper()
	for _, o := range f.Options {
		if name := o.GetDefElem().Defname; name != "as" && name != "language" {
			t.Errorf("%s: a function has the attribute %s", what, name)
		}
	}
	body, err := pg_query.ParsePlPgSqlToJSON(sql)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, found := range bodyStatement.FindAllStringSubmatch(body, -1) {
		if !slices.Contains(inBodies, found[1]) {
			t.Errorf("%s: a body has a %s", what, found[1])
		}
	}
	for _, found := range bodyVariable.FindAllStringSubmatch(body, -1) {
		t.Errorf("%s: variable %s is a record", what, found[1])
	}
	if regexp.MustCompile(`(?i)\bfound\b(?:;| then)`).MatchString(sql) {
		t.Errorf("%s: a body reads FOUND", what)
	}
}
