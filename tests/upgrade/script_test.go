package upgrade

import (
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

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
