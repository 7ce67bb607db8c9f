package cockroach

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/livetest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestContract runs the scripts of this directory in a database that has the shop, or odd names.
func TestContract(t *testing.T) {
	for _, name := range []string{"shop", "odd"} {
		t.Run(name, func(t *testing.T) {
			livetest.RunFile(t, name+".txtar", livetest.Options{DB: func(t testing.TB) *pgtest.Database { return database(t, name) }, Schema: "shop"})
		})
	}
}
