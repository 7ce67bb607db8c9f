package upgrade

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestRemovesOwnVersionOnly runs the script that removes a version in a database that has the one before: it fails and removes nothing.
func TestRemovesOwnVersionOnly(t *testing.T) {
	pgtest.Parallel(t)
	const spec = "version: 1\nextension: {name: removed, version: %s}\ninboxes: [{name: orders, max_retries: %d}]\n"
	before := installed.Text(t, fmt.Sprintf(spec, "1.0.0", 3))
	after := installed.Text(t, fmt.Sprintf(spec, "1.1.0", 4))
	db := pgtest.DB(t)
	db.Exec(t, before.Install(generator.Plain))
	var pg *pgconn.PgError
	if _, err := db.Connect(t).Exec(t.Context(), after.Uninstall()); !errors.As(err, &pg) || pg.Code != "55000" || pg.Message != "version 1.1.0 of extension removed is not installed" {
		t.Errorf("another version: %v", err)
	}
	if n := pgtest.One[int](t, db, "select count(*) from pgtrickle.pgt_inbox_config"); n != 1 {
		t.Errorf("%d inboxes are left", n)
	}
	db.Exec(t, before.Uninstall())
	if n := pgtest.One[int](t, db, "select count(*) from pg_namespace where nspname ~ 'pgtrickle'"); n != 0 {
		t.Errorf("%d schemas are left", n)
	}
}

// TestScripts goes through a stretch of the history, or the whole, with the scripts that a dry run prints, run by psql: they do what apply does.
func TestScripts(t *testing.T) {
	pgtest.Parallel(t)
	versions := stretch(t, history(t), 6, 2)
	released := manifests(versions)
	db := pgtest.DB(t)
	sources(t, db)
	for _, e := range versions {
		script, err := commandtest.Script(t.Context(), db.Connect(t), e, commandtest.ApplyOptions{Released: released, Loss: true})
		if err != nil {
			t.Fatal(err)
		}
		psql := db.Server.Command("psql", "-X", "-q", "-U", pgtest.Owner, "-d", db.Name, "-f", "-")
		psql.Stdin = strings.NewReader(script)
		if out, err := psql.CombinedOutput(); err != nil {
			t.Fatalf("psql: %v\n%s", err, out)
		}
		same(t, fresh(t, e), snapshot(t, db))
		if again := apply(t, db, e, commandtest.ApplyOptions{Released: released}); again.Changed {
			t.Errorf("%s: apply after the script changed something: %v", e.Version, again.Repaired)
		}
	}
}
