package isolation

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestDifferential interleaves writers and refreshes.
func TestDifferential(t *testing.T) { runStreams(t, "streams", "differential") }

// TestImmediate interleaves writers whose statements maintain stream tables.
func TestImmediate(t *testing.T) { runStreams(t, "streams", "immediate") }

// TestAtCommit interleaves writers whose commits maintain stream tables.
func TestAtCommit(t *testing.T) { runStreams(t, "streams", "at_commit") }

// TestSubtrees does both to outer joins, tests, windows, first rows, set operations and subqueries.
func TestSubtrees(t *testing.T) {
	for _, mode := range []string{"differential", "immediate"} {
		t.Run(mode, func(t *testing.T) { runStreams(t, "subtrees", mode) })
	}
}

// TestStates does it to groups and rows that are stored beside those of stream tables.
func TestStates(t *testing.T) {
	for _, mode := range []string{"at_commit", "immediate"} {
		t.Run(mode, func(t *testing.T) { runStreams(t, "states", mode) })
	}
}

// runStreams runs the cases of a folder and a refresh mode. The view wrong lists how stream tables differ from their queries.
func runStreams(t *testing.T, dir, mode string) {
	t.Helper()
	extension := streams(t, dir, mode)
	db := func(t testing.TB) *pgtest.Database { return streamsDB(t, dir, mode, extension) }
	RunDir(t, filepath.Join(dir, mode), db)
	if newer := filepath.Join(dir, mode, "15"); pgtest.Server(t).Major >= 15 && exists(newer) {
		RunDir(t, newer, db)
	}
}

// streams generates the extension with all stream tables in a mode.
func streams(t testing.TB, from, mode string) *generator.Extension {
	t.Helper()
	dir := t.TempDir()
	for name, old := range map[string]string{"schema.sql": "", "views.yaml": "    query: |"} {
		text := specFile(t, from, name)
		if old != "" {
			text = strings.ReplaceAll(text, old, "    refresh_mode: "+mode+"\n"+old)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return installed.Load(t, filepath.Join(dir, "views.yaml"))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func specFile(t testing.TB, from, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(from, "spec", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func streamsDB(t testing.TB, dir, mode string, extension *generator.Extension) *pgtest.Database {
	t.Helper()
	schema, wrong := specFile(t, dir, "schema.sql"), specFile(t, dir, "wrong.sql")
	db := pgtest.DB(t, pgtest.Template(t, dir+"_"+mode, func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, schema+extension.Install(generator.Plain)); err != nil {
			return err
		}
		for _, sql := range pgtest.Split(wrong) {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	}))
	if mode == "immediate" {
		return db
	}
	if mode == "at_commit" {
		db.Exec(t, "call st.tick()") // after_restore(), and then transactions maintain them
		return db
	}
	db.Exec(t, "call refresh_all()") // which finds itself in another database, and follows the sources again
	return db
}
