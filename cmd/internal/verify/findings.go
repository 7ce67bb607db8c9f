package verify

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Finding is what plpgsql_check has to say about a line of a function.
type Finding struct {
	Function string // signature
	Table    string // of the trigger, for trigger functions
	Line     int
	Level    string // error, warning, performance, security, …
	SQLState string
	Message  string
	Detail   string
	Hint     string
	Query    string
}

// String writes a finding on one line, with its query below.
func (f Finding) String() string {
	where := f.Function
	if f.Table != "" {
		where += " on " + f.Table
	}
	text := fmt.Sprintf("%s line %d: %s (%s): %s", where, f.Line, f.Level, f.SQLState, f.Message)
	for _, more := range []struct{ name, text string }{{"DETAIL", f.Detail}, {"HINT", f.Hint}, {"QUERY", f.Query}} {
		if more.text != "" {
			text += "\n" + more.name + ": " + more.text
		}
	}
	return text
}

//go:embed sql/findings.sql
var findingsSQL string

// Findings runs plpgsql_check, which is installed in schema plpgsql_check, with all warnings over the functions of schemas. What functions of the
// runtime do with a module that is not installed, and therefore never do, is no finding, and neither is a trigger function of it that nothing here uses.
func Findings(ctx context.Context, tx pgx.Tx, schemas ...string) ([]Finding, error) {
	// It plans statements that read stream tables, which are not filled.
	if _, err := tx.Exec(ctx, "set local check_function_bodies = off"); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, findingsSQL, schemas)
	if err != nil {
		return nil, err
	}
	findings, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Finding])
	if err != nil {
		return nil, err
	}
	rows, err = tx.Query(ctx, `
		select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = any ($1::text[])
		union
		select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = any ($1::text[])`, schemas)
	if err != nil {
		return nil, err
	}
	installed, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	return withoutOtherModules(findings, schemas, installed), nil
}

// missing finds the name in a message that something is not there, or that it could therefore not be planned.
var missing = regexp.MustCompile(`^(?:relation "|type "|function |procedure |there are no plan for query: "call )(.+?)\.(\w+)["(]`)

// noTrigger is what findings.sql says of a trigger function that no trigger calls.
const noTrigger = "no trigger calls this trigger function: it cannot be checked"

var ofRuntime = regexp.MustCompile(`\.(\w+)\(\)$`)

// withoutOtherModules removes findings that name what another module of the runtime has, and, of the functions that these are in, what follows from them.
func withoutOtherModules(findings []Finding, schemas, installed []string) []Finding {
	ofOther := func(f Finding) bool {
		m := missing.FindStringSubmatch(f.Message)
		if f.Level != "error" || m == nil || !generator.IsShared(m[2]) || slices.Contains(installed, m[2]) {
			return false
		}
		return slices.Contains(schemas, m[1]) || slices.Contains(schemas, sqltext.Unquoted(m[1])) // messages have it as it is, queries as SQL
	}
	unused := func(f Finding) bool { // by this extension, of the runtime
		m := ofRuntime.FindStringSubmatch(f.Function)
		return f.Message == noTrigger && m != nil && generator.IsShared(m[1])
	}
	partly := map[string]bool{}
	for _, f := range findings {
		partly[f.Function] = partly[f.Function] || ofOther(f)
	}
	return slices.DeleteFunc(findings, func(f Finding) bool {
		return ofOther(f) || unused(f) || partly[f.Function] && f.Level != "error"
	})
}
