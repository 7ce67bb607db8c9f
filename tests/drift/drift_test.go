// Package drift tampers with what is installed and looks whether that is found and repaired.
package drift

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/drift"
	"github.com/pgsluice/sluice/cmd/live"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/installed"
	"github.com/pgsluice/sluice/tests/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// compare finds the drift of a database.
func compare(t *testing.T, conn *pgx.Conn, e *generator.Extension, members bool) []drift.Difference {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	found, err := drift.Compare(t.Context(), tx, e.Manifest(), members)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestClean(t *testing.T) {
	for _, spec := range []string{"shop", "sales", "events"} {
		t.Run(spec, func(t *testing.T) {
			e := installed.Load(t, installed.Shop()+"/../"+spec)
			db := pgtest.DB(t)
			db.Exec(t, shopDDL(t))
			conn := db.Connect(t)
			if _, err := live.Apply(t.Context(), conn, e, live.Options{}); err != nil {
				t.Fatal(err)
			}
			for _, d := range compare(t, conn, e, false) {
				t.Errorf("%s", d.Text())
			}
		})
	}
}

func shopDDL(t *testing.T) string {
	t.Helper()
	ddl, err := os.ReadFile(installed.Shop() + "/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	return string(ddl)
}
