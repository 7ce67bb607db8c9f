// Package cockroach tests what is generated for CockroachDB without a server of it. The SQL keeps to what PostgreSQL understands too, so PostgreSQL's parsers read
// it, lists of what CockroachDB's documentation allows hold it, and PostgreSQL runs it. CockroachDB's own parser reads it in tests/tools/cockroach.
package cockroach

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// specOf is the path of a spec of testdata.
func specOf(name string) string { return filepath.Join("testdata", name, "spec.yaml") }

// script is a generated script of a kind: up, down or changefeeds.
func script(t testing.TB, name, kind string) string {
	return installed.Migration(t, specOf(name), kind)
}

// TestGolden compares what is generated with what was reviewed.
func TestGolden(t *testing.T) {
	golden.CompareFiles(t, filepath.Join("testdata", "shop"), installed.Files(t, specOf("shop")))
}

// Statements that PostgreSQL does not have, or has in other words.
var (
	ttl          = regexp.MustCompile(`(?s)\) with \(\s+ttl_expiration_expression = .*?\s+ttl_job_cron = '@hourly'\s+\);`)
	ifNotExists  = regexp.MustCompile(`create role if not exists ("(?:[^"]|"")*"|\w+);\n`)
	changefeed   = regexp.MustCompile(`(?m)^create changefeed into '(?:[^']|'')*' with (?:diff, )?format = 'json' as\n`)
	functionCall = regexp.MustCompile(`\b(\w+)\(`)
)

// forPostgres is a script for PostgreSQL: without what that does not have.
func forPostgres(sql string) string {
	sql = strings.ReplaceAll(sql, "pg_catalog.unique_rowid", "public.unique_rowid")
	return changefeed.ReplaceAllString(ifNotExists.ReplaceAllString(ttl.ReplaceAllString(sql, ");"), ""), "")
}

// called are the functions that generated SQL may call, all of CockroachDB's documentation. PostgreSQL has them, too, but for the last two.
var called = []string{
	"avg", "clock_timestamp", "coalesce", "count", "extract", "jsonb_typeof", "least", "left", "nextval", "now", "round", "statement_timestamp", "event_op", "unique_rowid",
}

// words stand before parentheses and are no functions.
var words = []string{"as", "exists", "filter", "in", "include", "table", "values", "varchar", "with"}

// TestCallsAreKnown holds that generated SQL calls functions that CockroachDB has, beside its own.
func TestCallsAreKnown(t *testing.T) {
	for _, kind := range []string{"up", "changefeeds"} {
		text := script(t, "shop", kind)
		text = regexp.MustCompile(`(?m)--.*$|'(?:[^']|'')*'`).ReplaceAllString(text, "")
		for _, call := range functionCall.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(called, call[1]) && !slices.Contains(words, call[1]) && !strings.Contains(text, "function shop."+call[1]+"(") {
				t.Errorf("%s calls %s", kind, call[1])
			}
		}
	}
}

// TestDownRemovesAll holds that a script removes what the other one makes, but for schemas and roles.
func TestDownRemovesAll(t *testing.T) {
	for _, name := range []string{"shop", "odd"} {
		db := database(t, name)
		db.Exec(t, script(t, name, "down"))
		left := pgtest.Column[string](t, db, `select c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname !~ '^pg_|information_schema|^public$' union all select p.proname::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname !~ '^pg_|information_schema|^public$'`)
		if len(left) > 0 {
			t.Errorf("%s leaves %v", name, left)
		}
	}
}

// lent is what CockroachDB has and PostgreSQL lacks.
const lent = `create sequence public.rowid;
create function public.unique_rowid() returns bigint language sql as $$ select nextval('public.rowid') $$;
grant usage on sequence public.rowid to public`

// database has a generated script installed, on a PostgreSQL that is lent what only CockroachDB has.
func database(t testing.TB, name string, changes ...string) *pgtest.Database {
	t.Helper()
	db := pgtest.DB(t)
	roles := map[string][]string{"shop": {"shop_app", "shop_worker", "work"}, "odd": {"family", "Robert'); drop table x; --", "string"}}[name]
	db.SuperExec(t, pgtest.MakeRoles(roles...))
	db.SuperExec(t, lent)
	db.Exec(t, strings.NewReplacer(changes...).Replace(forPostgres(script(t, name, "up"))))
	return db
}

// TestFilesAreFew holds that CockroachDB gets migrations and a reference, and nothing else.
func TestFilesAreFew(t *testing.T) {
	got := slices.Sorted(maps.Keys(installed.Files(t, specOf("shop"))))
	want := []string{"docs/README.md", "migrations/shop_1.0.0.changefeeds.sql", "migrations/shop_1.0.0.down.sql", "migrations/shop_1.0.0.up.sql"}
	if !slices.Equal(got, want) {
		t.Errorf("files are %v, want %v", got, want)
	}
}
