// Package upgrade installs each version of a history and brings it to each later one: the catalog must be that of a fresh install, and the
// data must still be there.
package upgrade

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

var makeRoles = pgtest.MakeRoles("mail_worker", "mail_app", "mail_watch")

// roles makes the roles that versions grant rights to.
func roles(t *testing.T) {
	t.Helper()
	exec(t, pgtest.Connect(t, pgtest.Server(t).DSN("postgres")), makeRoles)
}

// sources makes the tables that stream tables read.
func sources(t *testing.T, db *pgtest.Database) {
	t.Helper()
	roles(t)
	db.Exec(t, sourceTables(t))
}

func sourceTables(t *testing.T) string {
	t.Helper()
	ddl, err := os.ReadFile("history/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	return string(ddl)
}

func apply(t *testing.T, db *pgtest.Database, e *generator.Extension, options commandtest.ApplyOptions) commandtest.Applied {
	t.Helper()
	did, err := commandtest.Apply(t.Context(), db.Connect(t), e, options)
	if err != nil {
		t.Fatalf("applying %s: %s", e.Version, pgtest.ErrorText(err))
	}
	return did
}

// snapshot is the catalog, and the rights that policies go by.
func snapshot(t *testing.T, db pgtest.Querier) []string {
	t.Helper()
	lines := pgtest.Column[string](t, db, commandtest.SnapshotSQL)
	if pgtest.One[bool](t, db, "select to_regclass('pgtrickle_internal.pgt_rights') is not null") {
		lines = append(lines, pgtest.Column[string](t, db, "select 'right ' || r::text from pgtrickle_internal.pgt_rights r order by 1")...)
	}
	return lines
}

// TestUpgradedEqualsFresh goes from each version to the next and between two others, chosen by SLUICE_TEST_SEED; with SLUICE_TEST_LONG=1
// from every one to every later one.
func TestUpgradedEqualsFresh(t *testing.T) {
	versions := history(t)
	released := manifests(versions)
	for _, pair := range somePairs(t, later(len(versions)), 2, 1) {
		from, to := versions[pair[0]], versions[pair[1]]
		t.Run(fmt.Sprintf("%s to %s", from.Version, to.Version), func(t *testing.T) {
			t.Parallel() // all on one server, where each version is installed once
			db := at(t, from)
			if did := apply(t, db, to, commandtest.ApplyOptions{Released: released, Loss: true}); did.From != from.Version {
				t.Fatalf("upgraded from %q", did.From)
			}
			again := cameAgain(t, versions[pair[0]:pair[1]+1])
			same(t, unplaced(fresh(t, to), again), unplaced(snapshot(t, db), again))
			if again := apply(t, db, to, commandtest.ApplyOptions{Released: released}); again.Changed || len(again.Left) > 0 {
				t.Errorf("a second apply changed something: %v %v", again.Repaired, again.Left)
			}
		})
	}
}

// cameAgain are the tables with a column that the first and the last of some versions have and one between has not. An upgrade from the first to the last
// keeps it where it is; one after the other, it comes back behind the others.
func cameAgain(t *testing.T, versions []*generator.Extension) []string {
	t.Helper()
	last, found := len(versions)-1, []string{}
	columns := make([]map[string]bool, len(versions)) // by table and name
	for n, e := range versions {
		columns[n] = map[string]bool{}
		for _, o := range e.Manifest().Objects {
			if o.Kind != "table" {
				continue
			}
			table, err := sqltext.DefineTable(o.SQL)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range table.Columns {
				columns[n][strings.ReplaceAll(o.Signature, `"`, "")+" "+c.Name] = true
			}
		}
	}
	for column := range columns[last] {
		if columns[0][column] && slices.ContainsFunc(columns, func(c map[string]bool) bool { return !c[column] }) {
			found = append(found, column[:strings.LastIndex(column, " ")])
		}
	}
	return found
}

var placed = regexp.MustCompile(`(?s)^(column .*?) [0-9]+ (\S+ .*)$`)

// unplaced is a catalog without the places of columns in some tables.
func unplaced(catalog, tables []string) []string {
	for n, line := range catalog {
		if slices.ContainsFunc(tables, func(table string) bool { return strings.HasPrefix(line, "column "+table+" ") }) {
			catalog[n] = placed.ReplaceAllString(line, "$1 $2")
		}
	}
	slices.Sort(catalog)
	return catalog
}

// TestMigrations runs the scripts of plain migrations, one release of a stretch of the history after the other.
func TestMigrations(t *testing.T) {
	pgtest.Parallel(t)
	versions := stretch(t, history(t), 12, 4)
	last := len(versions) - 1
	files, err := versions[last].Files(manifests(versions))
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.DB(t)
	sources(t, db)
	for n, e := range versions {
		name := e.Version
		if n > 0 {
			name = versions[n-1].Version + "_to_" + e.Version
		}
		script := files["mail/migrations/mail_"+name+".up.sql"]
		if script == "" {
			t.Fatalf("no migration %s", name)
		}
		db.Exec(t, script)
		t.Run(name, func(t *testing.T) { same(t, fresh(t, e), snapshot(t, db)) })
	}
}

// same compares two catalogs.
func same(t *testing.T, want, got []string) {
	t.Helper()
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines(want), B: lines(got), FromFile: "fresh", ToFile: "upgraded", Context: 0,
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff != "" {
		t.Errorf("the catalogs differ\n%s", diff)
	}
}

func lines(texts []string) []string { return difflib.SplitLines(strings.Join(texts, "\n") + "\n") }
