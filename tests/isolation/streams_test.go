package isolation

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/installed"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// TestDifferential interleaves writers and refreshes.
func TestDifferential(t *testing.T) { runStreams(t, "differential") }

// TestImmediate interleaves writers whose statements maintain stream tables.
func TestImmediate(t *testing.T) { runStreams(t, "immediate") }

// runStreams runs the cases of a refresh mode. The view wrong lists how stream tables differ from their queries.
func runStreams(t *testing.T, mode string) {
	t.Helper()
	extension := streams(t, mode)
	RunDir(t, filepath.Join("streams", mode), func(t testing.TB) *pgtest.Database { return streamsDB(t, mode, extension) })
	if pgtest.Server(t).Major >= 15 {
		RunDir(t, filepath.Join("streams", mode, "15"), func(t testing.TB) *pgtest.Database { return streamsDB(t, mode, extension) })
	}
}

// streams generates the extension with all stream tables in a mode.
func streams(t testing.TB, mode string) *generator.Extension {
	t.Helper()
	dir := t.TempDir()
	for name, old := range map[string]string{"schema.sql": "", "views.yaml": "    query: |"} {
		text := specFile(t, name)
		if old != "" {
			text = strings.ReplaceAll(text, old, "    refresh_mode: "+mode+"\n"+old)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return installed.Load(t, filepath.Join(dir, "views.yaml"))
}

func specFile(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("streams", "spec", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func streamsDB(t testing.TB, mode string, extension *generator.Extension) *pgtest.Database {
	t.Helper()
	schema, wrong := specFile(t, "schema.sql"), specFile(t, "wrong.sql")
	db := pgtest.DB(t, pgtest.Template(t, "streams_"+mode, func(ctx context.Context, conn *pgx.Conn) error {
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
	db.Exec(t, "call refresh_all()") // which finds itself in another database, and follows the sources again
	return db
}
