//go:build citus

package citus

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/livetest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestContract runs the scripts of this directory, connected to the coordinator and to a worker.
func TestContract(t *testing.T) {
	for _, node := range []struct {
		name string
		no   int
	}{{"coordinator", 0}, {"worker", 1}} {
		t.Run(node.name, func(t *testing.T) {
			for _, name := range []string{"shop", "odd"} {
				t.Run(name, func(t *testing.T) {
					c := newCluster(t, name)
					livetest.RunFile(t, name+".txtar", livetest.Options{
						DB:     func(testing.TB) *pgtest.Database { return c.database(node.no) },
						DSN:    func(_ testing.TB, db *pgtest.Database) string { return db.SuperDSN() },
						Schema: "shop",
					})
				})
			}
		})
	}
}
