package live

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/pmezard/go-difflib/difflib"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestRenamedExtension goes through the history of renames as an extension, by its scripts, forth and back.
func TestRenamedExtension(t *testing.T) {
	pgtest.Parallel(t)
	versions, released := renames(t)
	install := installed.Relocate(t, pgtest.Server(t).Install)
	ways := pgtest.ShortOrLong([][]int{{3, 0, 4}}, [][]int{{0, 1, 2, 3, 4}, {3, 0, 4}, {0, 4}, {2, 1, 3}})
	for n, e := range versions {
		if slices.Contains(slices.Concat(ways...), n) {
			installed.PutFiles(t, install, e, released[:n+1]...)
		}
	}
	server := installed.Start(t, install)
	ddl := readFile(t, "../upgrade/history/schema.sql")
	run(t, pgtest.Connect(t, server.DSN("postgres")), pgtest.MakeRoles("mail_worker", "mail_app", "mail_watch"))
	all := map[string][]string{}
	fresh := func(n int, e *generator.Extension) []string {
		if all[e.Version] == nil {
			conn := create(t, server, fmt.Sprintf("fresh%d", n))
			run(t, conn, ddl)
			applied(t, conn, e, released)
			all[e.Version] = pgtest.Column[string](t, conn, commandtest.SnapshotSQL)
		}
		return all[e.Version]
	}
	for n, steps := range ways {
		conn := create(t, server, fmt.Sprintf("steps%d", n))
		run(t, conn, ddl)
		for _, at := range steps {
			e := versions[at]
			applied(t, conn, e, released)
			got := pgtest.Column[string](t, conn, commandtest.SnapshotSQL)
			diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: withEnds(fresh(at, e)), B: withEnds(got), FromFile: "fresh", ToFile: "upgraded"})
			if err != nil || diff != "" {
				t.Errorf("steps %v to %s: %v\n%s", steps, e.Version, err, diff)
			}
		}
	}
}

func renames(t *testing.T) (versions []*generator.Extension, released []upgrade.Manifest) {
	t.Helper()
	paths, err := filepath.Glob("../upgrade/renames/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		loaded, problems := spec.Load(path)
		e, errs := generator.Generate(loaded[0], released...)
		if problems.Merge(errs); !problems.Empty() {
			t.Fatal(problems)
		}
		versions, released = append(versions, e), append(released, e.Manifest())
	}
	return versions, released
}

func applied(t *testing.T, conn *pgx.Conn, e *generator.Extension, released []upgrade.Manifest) {
	t.Helper()
	if _, err := commandtest.Apply(t.Context(), conn, e, commandtest.ApplyOptions{Flavour: generator.AsExtension, Released: released, Loss: true}); err != nil {
		t.Fatalf("%s: %s", e.Version, pgtest.ErrorText(err))
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func withEnds(lines []string) []string {
	ended := make([]string, len(lines))
	for n, line := range lines {
		ended[n] = line + "\n"
	}
	return ended
}
