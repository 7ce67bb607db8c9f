// Package pgtest gives each test a PostgreSQL database of its own.
//
// One server is shared by all tests of a binary, but for those that run side by
// side: Parallel gives each a server of its own, and the next test that it
// has become free for. A server starts when the first test asks for it and ends
// with Main. Databases are copies of templates, owned by
// the plain role owner, because all that is generated must work for a user who
// is no superuser. SLUICE_TEST_PG names the server's major version;
// with SLUICE_TEST_XIDS=n its transaction numbers begin again after n transactions.
package pgtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/tests/kit/pgtest/spent"
)

// Owner is the role that owns test databases. It is no superuser.
const Owner = "owner"

// CronDatabase is the database in which pg_cron keeps its jobs, where the
// server has pg_cron.
const CronDatabase = "cron"

// Main runs the tests of a package, in which each pass over a query is verified, and removes the servers that they started.
// Use it as the package's TestMain.
func Main(m *testing.M) {
	ivm.VerifyPasses()
	commandtest.InMemory()
	code := m.Run()
	if spent.Wanted() {
		noteTimes()
	}
	commandtest.Cleanup()
	os.Exit(code)
}

var shared = sync.OnceValues(start)

// start starts a server with all that tests expect of it.
func start() (*commandtest.Server, error) {
	ctx := context.Background()
	install, err := commandtest.Finder{Progress: os.Stderr}.Find(ctx, os.Getenv("SLUICE_TEST_PG"))
	if err != nil {
		return nil, err
	}
	s, err := commandtest.Start(ctx, options(install))
	if err != nil {
		return nil, err
	}
	if err := nearWrap(ctx, s); err != nil {
		return nil, err
	}
	if err := equip(ctx, s); err != nil {
		return nil, err
	}
	started.Lock()
	defer started.Unlock()
	started.servers = append(started.servers, s)
	return s, nil
}

// Server returns the server of the test: that which all tests of this binary
// share, or the one that Parallel gave to the test. Tests that stop or kill a
// server start one of their own from the sandbox package.
func Server(t testing.TB) *commandtest.Server {
	t.Helper()
	if s := serverOf(t.Name()); s != nil {
		return s
	}
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func options(install commandtest.Install) commandtest.ServerOptions {
	opts := commandtest.ServerOptions{Install: install, Settings: map[string]string{
		"max_connections": "200", "max_prepared_transactions": "20",
		"autovacuum": "off", // its locks would make retention, which waits for none, leave to the next tick what a test expects of this one
	}}
	if install.HasLibrary("pg_cron") {
		opts.Preload = []string{"pg_cron"}
		opts.Settings["cron.database_name"] = CronDatabase
		opts.Settings["cron.host"] = "" // by the socket that the server's environment names
	}
	if spent.Wanted() && install.HasLibrary("pg_stat_statements") {
		opts.Preload = append(opts.Preload, "pg_stat_statements")
		opts.Settings["pg_stat_statements.max"], opts.Settings["pg_stat_statements.track_planning"] = "100000", "on"
	}
	return opts
}

// equip makes what all tests expect of the server.
func equip(ctx context.Context, s *commandtest.Server) error {
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "create role "+Owner+" login"); err != nil {
		return err
	}
	// The owner may create in schema public of every database, as in versions before 15.
	if err := superuser(ctx, s, "template1", "grant all on schema public to "+Owner); err != nil {
		return err
	}
	// lz4 compresses the text of functions faster than pglz, which took a hundredth of all processor time. Servers built without it keep pglz.
	if _, err := conn.Exec(ctx, "alter system set default_toast_compression = lz4"); err == nil {
		if _, err := conn.Exec(ctx, "select pg_reload_conf()"); err != nil {
			return err
		}
	}
	if spent.Wanted() && s.HasLibrary("pg_stat_statements") {
		if _, err := conn.Exec(ctx, "create extension if not exists pg_stat_statements"); err != nil {
			return err
		}
	}
	if !s.HasLibrary("pg_cron") {
		return nil
	}
	if _, err := conn.Exec(ctx, "create database "+CronDatabase); err != nil {
		return err
	}
	_, err = s.Psql("-d", CronDatabase, "-c", "create extension pg_cron")
	return err
}

// HasCron reports whether the shared server runs pg_cron. The matrix runs also
// on servers that it is not packaged for.
func HasCron(t testing.TB) bool {
	t.Helper()
	return Server(t).HasLibrary("pg_cron")
}

// superuser runs statements in a database as the superuser.
func superuser(ctx context.Context, s *commandtest.Server, db string, statements ...string) error {
	conn, err := pgx.Connect(ctx, s.DSN(db))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}
