//go:build citus

package citus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

var (
	started []*commandtest.Server
	lock    sync.Mutex

	// roles of the specs. They may log in: scripts become them by SET ROLE, and Citus connects to other nodes by that name.
	roles = []string{"shop_app", "shop_worker", "grafana", "work", "table", "Robert'); drop table x; --", "string"}
)

// nodes are a coordinator and a number of workers, which all tests share.
func nodes(workers int) ([]*commandtest.Server, error) {
	lock.Lock()
	defer lock.Unlock()
	install, err := commandtest.Finder{Progress: os.Stderr}.Find(context.Background(), os.Getenv("SLUICE_TEST_PG"))
	if err != nil {
		return nil, err
	}
	if !install.HasLibrary("citus") {
		return nil, fmt.Errorf("%s has no Citus; make test-citus builds one", install.Bin)
	}
	for len(started) <= workers {
		s, err := commandtest.Start(context.Background(), commandtest.ServerOptions{
			Install: install, TCP: true, Preload: []string{"citus"},
			Settings: map[string]string{
				"max_prepared_transactions": "100", "max_connections": "300", "citus.node_conninfo": "sslmode=disable", "citus.shard_count": "8",
				"citus.recover_2pc_interval": "1s", "citus.enable_statistics_collection": "off", "wal_level": "logical", "max_replication_slots": "20", "max_worker_processes": "40", "max_logical_replication_workers": "10",
			},
		})
		if err != nil {
			return nil, err
		}
		for _, role := range roles {
			if _, err := s.Psql("-c", "create role "+sqltext.Ident(role)+" login"); err != nil {
				return nil, err
			}
		}
		if err := allowPlugins(s); err != nil {
			return nil, err
		}
		started = append(started, s)
	}
	return started[:workers+1], nil
}

// allowPlugins lets Citus decode what is written to a shard that is split, on minor versions that ask for it.
func allowPlugins(s *commandtest.Server) error {
	known, err := s.Psql("-Atc", "select count(*) from pg_settings where name = 'output_plugin_libraries'")
	if err != nil || strings.TrimSpace(known) == "0" {
		return err
	}
	_, err = s.Psql("-c", "alter system set output_plugin_libraries = 'pgoutput', 'test_decoding', 'citus'", "-c", "select pg_reload_conf()")
	return err
}

var databases atomic.Int64

// cluster has a database of that name on each node, with Citus, and the spec of testdata installed if one is named.
type cluster struct {
	name  string
	nodes []*commandtest.Server // the coordinator first
}

func newCluster(t testing.TB, name string) *cluster {
	t.Helper()
	return clusterOf(t, name, 2)
}

func clusterOf(t testing.TB, name string, workers int) *cluster {
	t.Helper()
	all, err := nodes(workers)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{fmt.Sprintf("citus_%d", databases.Add(1)), all}
	for _, s := range all {
		super(t, s, "postgres", "create database "+c.name)
		super(t, s, c.name, "create extension citus")
	}
	super(t, all[0], c.name, fmt.Sprintf("select citus_set_coordinator_host('127.0.0.1', %d)", all[0].Port))
	for _, s := range all[1:] {
		super(t, all[0], c.name, fmt.Sprintf("select citus_add_node('127.0.0.1', %d)", s.Port))
	}
	t.Cleanup(func() {
		for _, s := range all {
			// A session of Citus may take longer to end than the five seconds for which DROP DATABASE waits.
			pgtest.Until(t, c.name+" is dropped", func() bool { return trySuper(s, "postgres", "drop database "+c.name+" with (force)") == nil })
		}
	})
	if name != "" {
		c.install(t, migration(t, name))
	}
	return c
}

func migration(t testing.TB, name string) string {
	t.Helper()
	return installed.Migration(t, filepath.Join("testdata", name, "spec.yaml"), "up")
}

// install runs a script on the coordinator in one transaction.
func (c *cluster) install(t testing.TB, sql string) {
	t.Helper()
	conn := c.connect(t, 0)
	for _, statement := range pgtest.Split("begin;" + sql + "commit;") { // as psql sends them; Citus does not take all at once
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s\n%s", pgtest.ErrorText(err), statement)
		}
	}
}

func super(t testing.TB, s *commandtest.Server, db, sql string) {
	t.Helper()
	if err := trySuper(s, db, sql); err != nil {
		t.Fatalf("%s\n%s", pgtest.ErrorText(err), sql)
	}
}

func trySuper(s *commandtest.Server, db, sql string) error {
	conn, err := pgx.Connect(context.Background(), s.DSN(db))
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	_, err = conn.Exec(context.Background(), sql)
	return err
}

// database is a node's as the data-driven tests know it.
func (c *cluster) database(node int) *pgtest.Database {
	return &pgtest.Database{Name: c.name, Server: c.nodes[node]}
}

// connect opens a session on a node as superuser.
func (c *cluster) connect(t testing.TB, node int) *pgx.Conn {
	t.Helper()
	return pgtest.Connect(t, c.nodes[node].DSN(c.name))
}
