//go:build citus

package citus

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/live/livetest"
	"github.com/pgsluice/sluice/tests/pgtest"
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
					c := newCluster(t, "")
					for _, role := range map[string][]string{"shop": {"shop_app", "shop_worker", "work"}, "odd": {"table", "Robert'); drop table x; --", "string"}}[name] {
						super(t, c.nodes[0], c.name, loginRole(role)) // scripts become it by SET ROLE, and Citus connects to other nodes by that name
					}
					c.install(t, script(t, filepath.Join("testdata", name, "spec.yaml"), "up"))
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

func loginRole(name string) string {
	return fmt.Sprintf("do $do$ begin if not exists (select from pg_roles where rolname = %[1]s) then create role %[2]s login; end if; end; $do$",
		sqltext.Literal(name), sqltext.Ident(name))
}
