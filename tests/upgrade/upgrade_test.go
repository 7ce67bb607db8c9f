// Package upgrade installs each version of a history and brings it to each later one: the catalog must be that of a fresh install, and the
// data must still be there.
package upgrade

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/pgsluice/sluice/cmd/live"
	"github.com/pgsluice/sluice/cmd/verify"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var makeRoles = pgtest.MakeRoles("mail_worker", "mail_app", "mail_watch")

// history generates the versions, oldest first.
func history(t *testing.T) []*generator.Extension {
	t.Helper()
	return generated(t, "history/*.yaml", 12)
}

// generated generates each of some specs as the next version after those before it.
func generated(t *testing.T, pattern string, least int) []*generator.Extension {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) < least {
		t.Fatalf("%d versions, want %d or more: %v", len(paths), least, err)
	}
	slices.Sort(paths)
	var versions []*generator.Extension
	for _, path := range paths {
		loaded, problems := spec.Load(path)
		if !problems.Empty() {
			t.Fatal(problems)
		}
		e, problems := generator.Generate(loaded[0], manifests(versions)...)
		if !problems.Empty() {
			t.Fatal(problems)
		}
		versions = append(versions, e)
	}
	return versions
}

func manifests(versions []*generator.Extension) []upgrade.Manifest {
	var all []upgrade.Manifest
	for _, e := range versions {
		all = append(all, e.Manifest())
	}
	return all
}

// sources makes the tables that stream tables read.
func sources(t *testing.T, db *pgtest.Database) {
	t.Helper()
	db.SuperExec(t, makeRoles)
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

func apply(t *testing.T, db *pgtest.Database, e *generator.Extension, options live.Options) live.Applied {
	t.Helper()
	did, err := live.Apply(t.Context(), db.Connect(t), e, options)
	if err != nil {
		t.Fatalf("applying %s: %v", e.Version, err)
	}
	return did
}

func snapshot(t *testing.T, db *pgtest.Database) []string {
	t.Helper()
	return pgtest.Column[string](t, db, verify.SnapshotSQL)
}

var freshCatalogs = map[string][]string{} // by digest, as two histories have the same versions

// fresh is the catalog of a version that was installed at once, in the plain flavour.
func fresh(t *testing.T, e *generator.Extension) []string {
	t.Helper()
	digest := e.Manifest().Digest()
	if freshCatalogs[digest] == nil {
		db := pgtest.DB(t)
		sources(t, db)
		apply(t, db, e, live.Options{})
		freshCatalogs[digest] = snapshot(t, db)
	}
	return freshCatalogs[digest]
}

// TestUpgradedEqualsFresh goes from every version to every later one.
func TestUpgradedEqualsFresh(t *testing.T) {
	versions := history(t)
	released := manifests(versions)
	for i, from := range versions {
		for _, to := range versions[i+1:] {
			t.Run(fmt.Sprintf("%s to %s", from.Version, to.Version), func(t *testing.T) {
				db := pgtest.DB(t)
				sources(t, db)
				apply(t, db, from, live.Options{})
				if did := apply(t, db, to, live.Options{Released: released, Loss: true}); did.From != from.Version {
					t.Fatalf("upgraded from %q", did.From)
				}
				same(t, fresh(t, to), snapshot(t, db))
				if again := apply(t, db, to, live.Options{Released: released}); again.Changed || len(again.Left) > 0 {
					t.Errorf("a second apply changed something: %v %v", again.Repaired, again.Left)
				}
			})
		}
	}
}

// TestMigrations runs the scripts of plain migrations, one release after the other.
func TestMigrations(t *testing.T) {
	versions := history(t)
	last := len(versions) - 1
	files, err := versions[last].Files(manifests(versions[:last]))
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.DB(t)
	sources(t, db)
	for n, e := range versions {
		name, script := e.Version, e.Install(generator.Plain)
		if n > 0 {
			name = versions[n-1].Version + "_to_" + e.Version
			script = files["mail/migrations/mail_"+name+".up.sql"]
		}
		if script == "" {
			t.Fatalf("no migration %s", name)
		}
		db.Exec(t, script)
		t.Run(name, func(t *testing.T) { same(t, fresh(t, e), snapshot(t, db)) })
	}
}

// installedFresh are the catalogs of the versions of another history, by their numbers.
func installedFresh(t *testing.T, versions []*generator.Extension) map[string][]string {
	t.Helper()
	fresh := map[string][]string{}
	for _, e := range versions {
		db := pgtest.DB(t)
		sources(t, db)
		apply(t, db, e, live.Options{})
		fresh[e.Version] = snapshot(t, db)
	}
	return fresh
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
