// Package pull proves that what schema pull writes is the same again when it is loaded and pulled once more, and that others can read it.
package pull

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/tests/kit/livetest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestScripts are the cases in which the output itself is looked at, and all errors.
func TestScripts(t *testing.T) {
	livetest.Run(t, ".", livetest.Options{Main: commandtest.Main, Commands: map[string]livetest.Command{
		"cat": cat, "write": write, "tables": tables,
	}})
}

// cat prints a file, if there is one.
func cat(env *livetest.Env, data *datadriven.TestData) string {
	text, err := os.ReadFile(data.CmdArgs[0].Key)
	if err != nil {
		return "no such file\n"
	}
	// An empty line would end the expected output.
	return strings.ReplaceAll(string(text), "\n\n", "\n")
}

// tables pulls and prints the first line of each statement, but not the settings.
func tables(env *livetest.Env, data *datadriven.TestData) string {
	args := []string{"schema", "pull"}
	for _, a := range data.CmdArgs {
		args = append(args, a.String())
	}
	var out, talk bytes.Buffer
	if status := commandtest.Main(append(args, "-o", "-"), strings.NewReader(""), &out, &talk); status != 0 {
		return talk.String()
	}
	var b strings.Builder
	for _, line := range strings.Split(out.String(), "\n") {
		if strings.HasPrefix(line, "create") || strings.HasPrefix(line, "alter") {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}

// write makes its input a file.
func write(env *livetest.Env, data *datadriven.TestData) string {
	if err := os.WriteFile(data.CmdArgs[0].Key, []byte(data.Input+"\n"), 0o600); err != nil {
		return err.Error()
	}
	return ""
}

// TestPulledTwice pulls each schema of testdata, loads it into an empty database and pulls again.
func TestPulledTwice(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatal("no schemas", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".sql"), func(t *testing.T) {
			original := load(t, path)
			first := pull(t, original)
			again := pgtest.DB(t)
			runScript(t, again, "pulled", first)
			golden.CompareText(t, "the second pull", pull(t, again), first)
			if !strings.Contains(read(t, path), "-- dumps differ") {
				compareDumps(t, original, again)
			}
			checkCatalog(t, original, first)
		})
	}
}

// load makes a database of a file, whose first line may say for which versions it is.
func load(t *testing.T, path string) *pgtest.Database {
	t.Helper()
	text := read(t, path)
	var least int
	if _, err := fmt.Sscanf(text, "-- at least %d", &least); err == nil && pgtest.Server(t).Major < least {
		t.Skipf("needs PostgreSQL %d", least)
	}
	db := pgtest.DB(t)
	runScript(t, db, "original", text)
	return db
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// runScript runs a script as people do: with psql.
func runScript(t *testing.T, db *pgtest.Database, name, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".sql")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Server.Psql("-d", db.Name, "-f", path); err != nil {
		t.Fatalf("%v\nin:\n%s", err, script)
	}
}

func pull(t *testing.T, db *pgtest.Database, args ...string) string {
	t.Helper()
	var out, talk bytes.Buffer
	args = append([]string{"schema", "pull", "--all", "--dsn", db.SuperDSN()}, args...)
	if status := commandtest.Main(args, strings.NewReader(""), &out, &talk); status != 0 {
		t.Fatalf("exit status %d\n%s", status, &talk)
	}
	return out.String()
}

// compareDumps compares what pg_dump says of two databases, where there is one for the server. It knows nothing of how pull works.
func compareDumps(t *testing.T, original, again *pgtest.Database) {
	t.Helper()
	if original.Server.Command("pg_dump").Err != nil {
		return
	}
	golden.CompareText(t, "pg_dump of the copy", dump(t, again), dump(t, original))
}

// unwritten are words of statements about what pull does not write.
var unwritten = []string{"CREATE INDEX", "CREATE POLICY", "unneeded", "EXTENSION unaccent"}

// noise are the lines of a dump that say nothing of the schema.
var noise = regexp.MustCompile(`(?m)^(--.*|\\(un)?restrict .*|)\n`)

func dump(t *testing.T, db *pgtest.Database) string {
	t.Helper()
	out, err := db.Server.Command("pg_dump", "-s", "--no-owner", "--no-privileges", db.Name).Output()
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, statement := range strings.Split(strings.ReplaceAll(noise.ReplaceAllString(string(out), ""), "( VALUES", "(VALUES"), ";\n") {
		if !mentions(statement, unwritten) {
			kept = append(kept, statement)
		}
	}
	slices.Sort(kept) // their order may hang on oids
	return strings.Join(kept, ";\n")
}

func mentions(text string, phrases []string) bool {
	for _, phrase := range phrases {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// checkCatalog compares what the DDL says of tables with what the server says.
func checkCatalog(t *testing.T, db *pgtest.Database, ddl string) {
	t.Helper()
	known := catalog.New()
	if errs := known.AddDDL(diag.WholeFile("pulled.sql", ddl)); !errs.Empty() {
		t.Errorf("the catalog cannot read it: %v", errs)
	}
	var got, want strings.Builder
	db.Exec(t, "set search_path = ''")
	for _, row := range pgtest.Rows(t, db, columnsOfServer) {
		fmt.Fprintln(&want, strings.Join(row, " | "))
		fmt.Fprintln(&got, columnOfCatalog(known, row[0], row[1], row[2]))
	}
	golden.CompareText(t, "the catalog", got.String(), want.String())
}

const columnsOfServer = `
select n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    a.attnotnull and not exists (
        select from pg_constraint k where k.conrelid = c.oid and k.contype = 'n' and k.conkey[1] = a.attnum and (not k.convalidated or k.connoinherit)
    ),
    exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary and a.attnum = any (i.indkey[0:i.indnkeyatts - 1])),
    a.attgenerated <> ''
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relkind in ('r', 'p', 'f') and n.nspname !~ '^pg_|^information_schema$'
order by n.nspname collate "C", c.relname collate "C", a.attnum`

func columnOfCatalog(known *catalog.Catalog, schema, table, column string) string {
	r := known.Relation(schema, table)
	if r == nil {
		return fmt.Sprintf("%s | %s is not known", schema, table)
	}
	at := r.Column(column)
	if at < 0 {
		return fmt.Sprintf("%s | %s | %s is not known", schema, table, column)
	}
	c := r.Columns[at]
	key := false
	for _, k := range r.Key {
		key = key || k == at
	}
	return strings.Join([]string{schema, table, column, c.Type, tf(c.NotNull), tf(key), tf(c.Generated)}, " | ")
}

func tf(b bool) string {
	if b {
		return "t"
	}
	return "f"
}
