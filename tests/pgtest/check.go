package pgtest

import (
	"fmt"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
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
	text += more(f.Detail, f.Hint)
	if f.Query != "" {
		text += "\nQUERY: " + f.Query
	}
	return text
}

// findingsQuery checks every plpgsql routine of a schema: functions and
// procedures once, trigger functions once for each table and pair of transition
// tables that a trigger gives them. A trigger function without a trigger cannot
// be checked, which is a finding.
const findingsQuery = `
with routine as (
    select p.oid, p.prorettype = 'trigger'::regtype as is_trigger
      from pg_proc p
      join pg_language l on l.oid = p.prolang
     where l.lanname = 'plpgsql'
       and p.pronamespace = $1::text::regnamespace
), target as (
    select distinct r.oid, coalesce(t.tgrelid, 0)::regclass as rel, t.tgoldtable, t.tgnewtable
      from routine r
      left join pg_trigger t on r.is_trigger and t.tgfoid = r.oid and not t.tgisinternal
     where not r.is_trigger or t.oid is not null
)
select t.oid::regprocedure::text,
       case when t.rel::oid = 0 then '' else t.rel::text end,
       coalesce(c.lineno, 0), c.level, c.sqlstate, c.message,
       coalesce(c.detail, ''), coalesce(c.hint, ''), coalesce(c.query, '')
  from target t
 cross join lateral plpgsql_check.plpgsql_check_function_tb(
       funcoid => t.oid::regprocedure, relid => t.rel, fatal_errors => false,
       other_warnings => true, performance_warnings => true, extra_warnings => true,
       security_warnings => true, compatibility_warnings => true,
       oldtable => t.tgoldtable, newtable => t.tgnewtable) c
union all
select r.oid::regprocedure::text, '', 0, 'error', '00000', 'no trigger calls this trigger function: it cannot be checked',
       '', '', ''
  from routine r
 where r.is_trigger and not exists (select from target t where t.oid = r.oid)
 order by 1, 2, 3, 6`

// Findings runs plpgsql_check, all warnings on, over the plpgsql functions of a
// schema, given as SQL writes its name. It leaves nothing in the database.
func Findings(t testing.TB, db *Database, schema string) []Finding {
	t.Helper()
	if !db.Server.HasLibrary("plpgsql_check") {
		return noChecker(t, db)
	}
	tx, err := Connect(t, db.SuperDSN()).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(), "create schema plpgsql_check; create extension plpgsql_check schema plpgsql_check"); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(t.Context(), findingsQuery, schema)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Finding])
	if err != nil {
		t.Fatal(ErrorText(err))
	}
	return findings
}

// noChecker fails the test on the default server. The matrix runs also on
// servers that plpgsql_check is not packaged for.
func noChecker(t testing.TB, db *Database) []Finding {
	t.Helper()
	if os.Getenv("SLUICE_TEST_PG") == "" {
		t.Fatalf("plpgsql_check not found: install postgresql-%d-plpgsql-check", db.Server.Major)
	}
	t.Logf("PostgreSQL %s has no plpgsql_check here: functions not checked", db.Server.Version)
	return nil
}

// CheckPlpgsql fails the test for each of Findings.
func CheckPlpgsql(t testing.TB, db *Database, schema string) {
	t.Helper()
	for _, finding := range Findings(t, db, schema) {
		t.Error(finding)
	}
}
