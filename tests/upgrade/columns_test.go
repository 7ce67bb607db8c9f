package upgrade

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const withColumns = `version: 1
extension: {name: mail, version: 1.%d.0, imperative: [outboxes]}
schema: [schema.sql]
stream_tables:
  - name: amounts
    outbox: %s
    query: |
      SELECT %s FROM orders
  - name: silent
    query: |
      SELECT %[3]s FROM orders
`

// versionWith is a version with two stream tables of these columns, generated as if nobody had looked at the one before.
func versionWith(t *testing.T, number int, outbox, columns string) *generator.Extension {
	t.Helper()
	dir := t.TempDir()
	ddl, err := os.ReadFile("history/schema.sql")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "schema.sql"), ddl, 0o666)
	}
	path := filepath.Join(dir, "spec.yaml")
	if err == nil {
		err = os.WriteFile(path, fmt.Appendf(nil, withColumns, number, outbox, columns), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	loaded, problems := spec.Load(path)
	e, errs := generator.Generate(loaded[0])
	if problems.Merge(errs); !problems.Empty() {
		t.Fatal(problems)
	}
	return e
}

// TestOutboxColumns: columns of a stream table with an outbox change only if the spec says that consumers are ready, also where the outbox was
// enabled at run time.
func TestOutboxColumns(t *testing.T) {
	pgtest.Parallel(t)
	first := versionWith(t, 0, "true", "id, amount")
	released := manifests([]*generator.Extension{first})
	db := at(t, first)
	refused := func(e *generator.Extension, want string) {
		t.Helper()
		_, err := commandtest.Apply(t.Context(), db.Connect(t), e, commandtest.ApplyOptions{Released: released, Loss: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	const change = "its columns change: no longer amount, now also status"
	next := versionWith(t, 1, "true", "id, status")
	refused(next, "stream table pgtrickle.amounts has an outbox, and "+change)
	if _, err := upgrade.Derive(first.Manifest(), next.Manifest(), true); !errors.As(err, new(upgrade.Refused)) {
		t.Errorf("no upgrade script is refused: %v", err)
	}
	var refusal commandtest.Refusal
	if _, err := commandtest.Diff(t.Context(), db.Connect(t), next, released); !errors.As(err, &refusal) || !strings.Contains(refusal.Hint, "on_column_change: full_refresh") {
		t.Errorf("diff says what to do: %v, %q", err, refusal.Hint)
	}

	ready := versionWith(t, 1, "{on_column_change: full_refresh}", "id, status")
	db.Exec(t, "select pgtrickle.enable_outbox('silent')")
	refused(ready, "stream table pgtrickle.silent has an outbox, and "+change)
	db.Exec(t, "select pgtrickle.disable_outbox('silent')")
	db.Exec(t, "select pgtrickle.create_consumer_group('copy', 'amounts')")
	apply(t, db, ready, commandtest.ApplyOptions{Released: released})
	got := pgtest.One[string](t, db, "select format('%s %s %s', payload -> 'full_refresh', inserted_count, jsonb_path_query_first(payload, '$.inserted[*] ? (@.id == 3)')) from pgtrickle.poll_outbox('copy', 'c')")
	if want := `true 300 {"id": 3, "status": "new"}`; got != want {
		t.Errorf("consumers get %s, want %s", got, want)
	}
}

// TestColumnOrder: columns that later versions bring come last in a fresh install, too, whatever their place in the definition.
func TestColumnOrder(t *testing.T) {
	pgtest.Parallel(t)
	loaded, problems := spec.Load("renames/01.yaml")
	if !problems.Empty() {
		t.Fatal(problems)
	}
	next := func(released []upgrade.Manifest, without ...string) *generator.Extension {
		loaded[0].Extension.Version = fmt.Sprintf("1.%d.0", len(released))
		e, errs := generator.Generate(loaded[0], released...)
		if !errs.Empty() {
			t.Fatal(errs)
		}
		for n := range e.Objects {
			for _, column := range without {
				if o := &e.Objects[n]; o.Kind == "table" {
					o.SQL = regexp.MustCompile("(?m)^    "+column+" .*,\n").ReplaceAllString(o.SQL, "")
				}
			}
		}
		return e
	}
	versions := []*generator.Extension{next(nil, "runs", "calls", "finished")}
	versions = append(versions, next(manifests(versions), "finished"))
	versions = append(versions, next(manifests(versions)))
	released := manifests(versions)
	for from := range versions {
		for to := from + 1; to < len(versions); to++ {
			if to < len(versions)-1 && !pgtest.Long() {
				continue
			}
			db := at(t, versions[from])
			apply(t, db, versions[to], commandtest.ApplyOptions{Released: released})
			same(t, fresh(t, versions[to]), snapshot(t, db))
		}
	}
	want := "column pgtrickle_internal.pgt_inbox_deltas 13 finished bigint"
	if !slices.ContainsFunc(fresh(t, versions[2]), func(line string) bool { return strings.HasPrefix(line, want) }) {
		t.Errorf("no %q in a fresh install", want)
	}
}

// TestEnabledOutboxGoes: a version whose functions give no stream table an outbox drops those that were given, and only where that may lose data.
func TestEnabledOutboxGoes(t *testing.T) {
	version := func(n int, imperative string) *generator.Extension {
		return installed.Text(t, fmt.Sprintf(`
version: 1
extension: {name: given, version: 1.%d.0, imperative: %s}
stream_tables:
  - name: ones
    refresh_mode: full
    query: |
      select 1 as id
`, n, imperative))
	}
	first, next := version(0, "[outboxes]"), version(1, "false")
	released := manifests([]*generator.Extension{first})
	db := at(t, first)
	db.Exec(t, "select pgtrickle.enable_outbox('ones')")
	_, err := commandtest.Apply(t.Context(), db.Connect(t), next, commandtest.ApplyOptions{Released: released})
	if err == nil || !strings.Contains(err.Error(), "outbox pgtrickle.ones") {
		t.Errorf("got %v, want an error that names the outbox", err)
	}
	apply(t, db, next, commandtest.ApplyOptions{Released: released, Loss: true})
	if left := pgtest.Column[string](t, db, "select relname from pg_class where relname like '%outbox%'"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	apply(t, at(t, first), next, commandtest.ApplyOptions{Released: released, Loss: true}) // of one that has none
}
