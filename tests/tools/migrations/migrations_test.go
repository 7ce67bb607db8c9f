// Package migrations runs what generate lays out for migration tools under these tools themselves: release by release, all at once in a new
// database, and back as far as nothing is lost. Each way must end in the catalog of a fresh install.
package migrations

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/pmezard/go-difflib/difflib"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/migrations"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// tool is a migration tool at work on one database.
type tool struct {
	up   func() error // all that is pending
	down func() error // the newest migration; nil where the tool has no way back
}

// start makes a tool that reads a directory.
type start func(t *testing.T, dsn, dir string) tool

// target is a database and how to reach it.
type target struct {
	dsn  string
	conn *pgx.Conn
}

// open makes an empty database on the server of all tests.
func open(t *testing.T) target {
	t.Helper()
	db := pgtest.DB(t)
	return target{db.DSN("sslmode=disable"), db.Connect(t)}
}

// history is the releases of testdata: an inbox and a stream table; an outbox more; another setting and another stream table.
func history(t *testing.T) []*generator.Extension {
	t.Helper()
	var all []*generator.Extension
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		all = append(all, installed.Load(t, "testdata/"+version+".yaml"))
	}
	return all
}

// lay writes the migrations of the releases up to one into a directory. What earlier releases were given must still be there, byte for byte.
func lay(t *testing.T, format migrations.Format, releases []*generator.Extension, dir string) {
	t.Helper()
	var released []upgrade.Manifest
	for _, e := range releases {
		released = append(released, e.Manifest())
	}
	last := releases[len(releases)-1]
	files, err := last.FilesOf([]string{format.Artifact()}, released)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		name, ours := strings.CutPrefix(path, "mail/migrations/")
		if !ours {
			continue
		}
		full := filepath.Join(dir, name)
		if old, err := os.ReadFile(full); err == nil && string(old) != text && name != "sqitch.plan" {
			t.Errorf("%s changed with release %s", name, last.Version)
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// follow takes a tool along the releases, and back.
func follow(t *testing.T, format migrations.Format, open func(*testing.T) target, start start) {
	releases, fresh := history(t), freshly(t)
	is := func(db target, version string) {
		t.Helper()
		if got := pgtest.One[string](t, db.conn, "select version from pgtrickle.pgt_extension"); got != version {
			t.Fatalf("version %s is installed, want %s", got, version)
		}
		same(t, fresh[version], snapshot(t, db))
	}
	dir, db := t.TempDir(), open(t)
	prepare(t, db)
	var at tool
	for n, e := range releases {
		lay(t, format, releases[:n+1], dir)
		at = start(t, db.dsn, dir)
		must(t, at.up())
		is(db, e.Version)
		filled(t, db, "totals", 2)
	}
	filled(t, db, "large", 1)
	must(t, at.up()) // nothing is pending

	created := open(t)
	prepare(t, created)
	must(t, start(t, created.dsn, dir).up())
	is(created, "1.2.0")
	filled(t, created, "totals", 2)
	filled(t, created, "large", 1)

	if at.down == nil {
		return
	}
	execute(t, db, "select pgtrickle.inbox_receive('letters', 'one', 'letter', '{}')")
	must(t, at.down()) // the filling
	must(t, at.down())
	is(db, "1.1.0")
	must(t, at.up())
	is(db, "1.2.0")
	must(t, at.down())
	must(t, at.down())
	if n := pgtest.One[int](t, db.conn, "select count(*) from pgtrickle.letters"); n != 1 {
		t.Errorf("%d letters are left, want 1", n)
	}
	if err := at.down(); err == nil || !strings.Contains(err.Error(), "cannot go back from version 1.1.0 to 1.0.0 and keep its data") {
		t.Errorf("going back where that loses data: %v", err)
	}
	is(db, "1.1.0")
}

var fresh map[string][]string // catalogs by version; made once

// freshly is what each release installs where nothing was before.
func freshly(t *testing.T) map[string][]string {
	t.Helper()
	if fresh != nil {
		return fresh
	}
	made := map[string][]string{}
	for _, e := range history(t) {
		db := open(t)
		prepare(t, db)
		if _, err := commandtest.Apply(t.Context(), db.conn, e, commandtest.ApplyOptions{}); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
		made[e.Version] = snapshot(t, db)
	}
	fresh = made
	return fresh
}

// prepare makes what the releases read.
func prepare(t *testing.T, db target) {
	t.Helper()
	ddl, err := os.ReadFile("testdata/schema.sql")
	must(t, err)
	execute(t, db, string(ddl)+"insert into orders values (1, 'ann', 10), (2, 'bob', 20), (3, 'ann', 5)")
}

func execute(t *testing.T, db target, sql string) {
	t.Helper()
	if _, err := db.conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
}

// filled checks that a stream table has its rows without any tick.
func filled(t *testing.T, db target, table string, want int) {
	t.Helper()
	if n := pgtest.One[int](t, db.conn, "select count(*) from pgtrickle."+table); n != want {
		t.Errorf("%s has %d rows, want %d", table, n, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// snapshot is the catalog without what the tools themselves keep in it.
func snapshot(t *testing.T, db target) []string {
	t.Helper()
	return slices.DeleteFunc(pgtest.Column[string](t, db.conn, commandtest.SnapshotSQL), func(line string) bool {
		for _, theirs := range []string{"goose_db_version", "schema_migrations", "flyway_schema_history", "sqitch"} {
			if strings.Contains(line, theirs) {
				return true
			}
		}
		return false
	})
}

// same compares two catalogs.
func same(t *testing.T, want, got []string) {
	t.Helper()
	lines := func(texts []string) []string { return difflib.SplitLines(strings.Join(texts, "\n") + "\n") }
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: lines(want), B: lines(got), FromFile: "fresh", ToFile: "migrated"})
	must(t, err)
	if diff != "" {
		t.Errorf("the catalogs differ\n%.3000s", diff)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	return string(text)
}
