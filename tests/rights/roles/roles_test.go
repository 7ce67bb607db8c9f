// Package roles proves docs/roles.md on a server: each role may do what its tables list, and nothing else.
package roles

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

//go:embed testdata/spec.yaml
var specText string

//go:embed testdata/schema.sql
var schemaText string

//go:embed testdata/prepare.sql
var prepareText string

//go:embed testdata/calls.sql
var callsText string

//go:embed testdata/privileges.sql
var privilegesText string

const page = "../../../docs/roles.md"

// kinds are the roles in the order of the page's columns. A login has one of them alone. Everybody may use the schemas, and is a member of no role.
var kinds = []string{"producer", "consumer", "monitor", "everybody"}

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestRoles compares the tables of the page with the rights that logins have.
func TestRoles(t *testing.T) {
	db, conn := database(t)
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	calls := readCalls(t, conn)
	rights := readRights(t, conn)
	got := replaceTable(t, string(want), "functions", functionTable(calls))
	got = replaceTable(t, got, "privileges", rights.table())
	if golden.Update() {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden.CompareText(t, page, got, string(want))
	everyFunctionIsCalled(t, db, calls)
	everyRightIsNeeded(t, conn, calls, rights)
}

// database has inboxes, outboxes and stream tables of all kinds, and a superuser's connection.
func database(t *testing.T) (*pgtest.Database, *pgx.Conn) {
	db := pgtest.DB(t)
	db.SuperExec(t, pgtest.MakeRoles("rights_producer", "rights_consumer", "rights_monitor"))
	for _, kind := range kinds {
		db.SuperExec(t, pgtest.MakeRoles(login(kind)))
	}
	db.SuperExec(t, "grant rights_producer to "+login("producer")+"; grant rights_consumer to "+login("consumer")+"; grant rights_monitor to "+login("monitor"))
	db.Exec(t, schemaText+installed.Over(t, specText, schemaText).Install("plain"))
	conn := db.Connect(t)
	for _, statement := range pgtest.Split(prepareText) {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s\nin: %s", pgtest.ErrorText(err), statement)
		}
	}
	db.Exec(t, "grant usage on schema pgtrickle, pgtrickle_internal to "+login("everybody"))
	return db, pgtest.Connect(t, db.SuperDSN())
}

func login(kind string) string { return "rights_login_" + kind }

// call is a statement of calls.sql, the function that it tries, and which kinds of roles may run it.
type call struct {
	statement, function string
	allowed             []string
}

var calledFunction = regexp.MustCompile(`pgtrickle\.(\w+)\(`)

// readCalls tries each statement as each login, and fails the test if one fails for another reason than a missing right.
func readCalls(t *testing.T, conn *pgx.Conn) (calls []call) {
	for _, line := range strings.Split(strings.TrimSpace(callsText), "\n") {
		if strings.HasPrefix(line, "--") {
			continue
		}
		c := call{statement: line}
		if found := calledFunction.FindStringSubmatch(line); found != nil {
			c.function = found[1]
		}
		for _, kind := range kinds {
			switch code := try(t, conn, kind, line); code {
			case "":
				c.allowed = append(c.allowed, kind)
			case "42501": // insufficient_privilege
			default:
				t.Errorf("as %s: SQLSTATE %s: %s", kind, code, line)
			}
		}
		if len(c.allowed) == 0 && c.function == "" {
			t.Errorf("no role may: %s", line)
		}
		calls = append(calls, c)
	}
	return calls
}

// try returns the SQLSTATE of a statement as a login, which leaves nothing behind.
func try(t *testing.T, conn *pgx.Conn, kind, statement string) string {
	if strings.HasPrefix(statement, "call ") { // it ends transactions
		sqlstate(t, conn, "set session authorization "+login(kind), "")
		return sqlstate(t, conn, statement, "reset session authorization")
	}
	script := fmt.Sprintf("begin; set local pg_trickle.tenant = 'acme'; set local session authorization %s; %s; rollback", login(kind), statement)
	return sqlstate(t, conn, script, "rollback; reset session authorization")
}

// sqlstate runs a script and returns its SQLSTATE, after a second script if it fails.
func sqlstate(t *testing.T, conn *pgx.Conn, script, after string) string {
	t.Helper()
	_, err := conn.PgConn().Exec(t.Context(), script).ReadAll()
	if err == nil {
		return ""
	}
	failed, ok := err.(*pgconn.PgError)
	if !ok {
		t.Fatal(err)
	}
	if _, err := conn.PgConn().Exec(t.Context(), after).ReadAll(); err != nil {
		t.Fatal(err)
	}
	return failed.Code
}

// functionTable is the page's table of functions: who may call them with success.
func functionTable(calls []call) string {
	allowed, names := map[string][]string{}, []string(nil)
	for _, c := range calls {
		if c.function == "" {
			continue
		}
		if _, there := allowed[c.function]; !there {
			names = append(names, c.function)
			allowed[c.function] = c.allowed
		}
		for _, kind := range c.allowed {
			if !slices.Contains(allowed[c.function], kind) {
				allowed[c.function] = append(allowed[c.function], kind)
			}
		}
	}
	var out strings.Builder
	out.WriteString("| function | " + strings.Join(kinds, " | ") + " |\n|---" + strings.Repeat("|---", len(kinds)) + "|\n")
	for _, name := range names {
		out.WriteString("| `" + name + "`")
		for _, kind := range kinds {
			mark := ""
			if slices.Contains(allowed[name], kind) {
				mark = "yes"
			}
			out.WriteString(" | " + mark)
		}
		out.WriteString(" |\n")
	}
	return out.String()
}

// everyFunctionIsCalled finds functions that users may call and calls.sql lacks.
func everyFunctionIsCalled(t *testing.T, db *pgtest.Database, calls []call) {
	for _, name := range pgtest.Column[string](t, db, "select distinct p.proname::text from pg_proc p where p.pronamespace = 'pgtrickle'::regnamespace") {
		if !slices.ContainsFunc(calls, func(c call) bool { return c.function == name }) {
			t.Errorf("calls.sql lacks function %s", name)
		}
	}
}

// replaceTable puts a table in the place of the one behind a mark of the page.
func replaceTable(t *testing.T, text, mark, table string) string {
	before, rest, found := strings.Cut(text, "<!-- "+mark+" -->\n")
	_, after, ends := strings.Cut(rest, "<!-- end -->\n")
	if !found || !ends {
		t.Fatalf("%s has no place for the table of %s", page, mark)
	}
	return before + "<!-- " + mark + " -->\n" + table + "<!-- end -->\n" + after
}
