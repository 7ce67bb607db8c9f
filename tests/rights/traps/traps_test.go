// Package traps proves that nothing which Sluice generates or runs calls an operator or a function that somebody else made.
package traps

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/program"
)

//go:embed testdata/traps.sql
var trapsSQL string

//go:embed testdata/statements.sql
var statementsSQL string

func TestMain(m *testing.M) { program.Main(m) }

// roles run every statement: the superuser, the owner, and logins with one role of the spec each.
var roles = []string{"postgres", "app_owner", "lp", "lc", "lm"}

const rolesSQL = `
create role app_owner login; create role nobody login; create role lp login; create role lc login; create role lm login;
create role app_producer; create role app_consumer; create role app_monitor;
grant app_producer, app_consumer, app_monitor to app_owner with admin option;
grant app_producer to lp; grant app_consumer to lc; grant app_monitor to lm;
create database app owner app_owner`

// TestTraps has a role that may create in public, as everybody may on PostgreSQL 14, make thousands of operators and functions there, each of which fits
// some call better than PostgreSQL's own. None is called by whatever every role runs.
func TestTraps(t *testing.T) {
	server, log := start(t)
	super := pgtest.Connect(t, server.DSN("postgres"))
	execute(t, super, rolesSQL)
	execute(t, pgtest.Connect(t, server.DSN("app")), "grant create, usage on schema public to app_owner, nobody; grant usage on schema public to public")
	owner := server.DSN("app", "user=app_owner")
	execute(t, pgtest.Connect(t, owner), read(t, "schema.sql"))
	dir := t.TempDir()
	put(t, dir, "schema.sql", read(t, "schema.sql"))
	put(t, dir, "spec.yaml", read(t, "spec.yaml"))
	sluice(t, "apply", "-f", dir, "-o", dir, "--dsn", owner)
	execute(t, pgtest.Connect(t, server.DSN("app", "user=nobody")), trapsSQL)

	pgtest.Connect(t, owner).Exec(t.Context(), "select 1::oid = 'pg_class'::regclass")
	pgtest.Until(t, "a trap says so when it is called", func() bool { return log.has("ERROR:  TRAP operator (oid, regclass)") })
	log.reset()
	for _, role := range roles {
		statements(t, server, role, log)
	}
	everyFunction(t, server, log)
	everyView(t, server, log)
	commands(t, server, dir, log)
}

// statements runs the statements of testdata as a role.
func statements(t *testing.T, server *commandtest.Server, role string, log *serverLog) {
	t.Helper()
	conn := pgtest.Connect(t, server.DSN("app", "user="+role))
	for _, sql := range strings.Split(strings.TrimSpace(statementsSQL), "\n") {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		_, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		cancel()
		log.check(t, role+": "+sql, err)
		if conn.IsClosed() {
			t.Fatalf("%s: %s: %v", role, sql, err)
		}
	}
}

// values are arguments of functions, by the names of parameters. Others get null.
var values = map[string]string{
	"p_inbox": "'order_events'", "p_outbox": "'ev'", "p_group": "'g1'", "p_name": "'public.revenue'", "p_stream_table": "'public.revenue'", "p_table": "'public.revenue'",
	"p_consumer": "'w'", "p_event_id": "'e1'", "p_limit": "5", "p_event_type": "'t'", "p_payload": "'{}'", "p_source": "'public.orders'", "p_task": "'x'", "p_events": "'[]'",
}

// callsSQL lists the functions of the extension, with the names and types of their parameters. Procedures commit, and stand among the statements.
const callsSQL = `
select p.oid::pg_catalog.regproc::pg_catalog.text,
       coalesce(p.proargnames[1:p.pronargs], '{}')::pg_catalog.text[], array(select pg_catalog.format_type(a.type, null) from pg_catalog.unnest(p.proargtypes) a (type))
from pg_catalog.pg_proc p
where p.pronamespace operator(pg_catalog.=) any (array['pgtrickle'::pg_catalog.regnamespace::oid, 'pgtrickle_internal'::pg_catalog.regnamespace::oid])
  and p.prokind operator(pg_catalog.=) 'f' and p.prorettype operator(pg_catalog.<>) 'pg_catalog.trigger'::pg_catalog.regtype::oid
order by p.oid`

// everyFunction calls every function of the extension as every role, in a transaction that is rolled back.
func everyFunction(t *testing.T, server *commandtest.Server, log *serverLog) {
	t.Helper()
	calls := functionCalls(t, server)
	if len(calls) < 100 {
		t.Fatalf("only %d functions", len(calls))
	}
	for _, role := range roles {
		conn := pgtest.Connect(t, server.DSN("app", "user="+role))
		for _, call := range calls {
			_, err := conn.Exec(t.Context(), "begin; set local statement_timeout = '5s'; set local lock_timeout = '1s'; "+call, pgx.QueryExecModeSimpleProtocol)
			log.check(t, role+": "+call, err)
			execute(t, conn, "rollback")
		}
	}
}

func functionCalls(t *testing.T, server *commandtest.Server) []string {
	t.Helper()
	rows, err := pgtest.Connect(t, server.DSN("app")).Query(t.Context(), callsSQL)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var name string
		var names, types []string
		if err := row.Scan(&name, &names, &types); err != nil {
			return "", err
		}
		return call(name, names, types), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

func call(name string, names, types []string) string {
	var args []string
	for n, typ := range types {
		value := "null"
		if n < len(names) && values[names[n]] != "" {
			value = values[names[n]]
		}
		if strings.HasPrefix(typ, "any") {
			typ = "pg_catalog.text"
		}
		args = append(args, fmt.Sprintf("%s::%s", value, typ))
	}
	return fmt.Sprintf("select * from %s(%s)", name, strings.Join(args, ", "))
}

// everyView reads every view of the extension, and the stream tables, as every role.
func everyView(t *testing.T, server *commandtest.Server, log *serverLog) {
	t.Helper()
	views := pgtest.Column[string](t, pgtest.Connect(t, server.DSN("app")), `
		select pg_catalog.format('%I.%I', n.nspname, c.relname)
		from pg_catalog.pg_class c
		join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace
		where c.relkind operator(pg_catalog.=) 'v' and n.nspname operator(pg_catalog.=) any (array['pgtrickle', 'pgtrickle_internal', 'public'])`)
	for _, role := range roles {
		conn := pgtest.Connect(t, server.DSN("app", "user="+role))
		for _, view := range views {
			_, err := conn.Exec(t.Context(), "select * from "+view)
			log.check(t, role+": view "+view, err)
		}
	}
}

// commands runs the command as the superuser and as the owner.
func commands(t *testing.T, server *commandtest.Server, dir string, log *serverLog) {
	t.Helper()
	spec := strings.Replace(read(t, "spec.yaml"), "0.1.0", "0.2.0", 1)
	spec = strings.Replace(spec, "outboxes:\n", "  - {name: another}\noutboxes:\n", 1) +
		"  - name: public.regions\n    refresh_mode: immediate\n    query: |\n      SELECT region, count(*) AS n FROM customers WHERE id > 0 GROUP BY region\n"
	put(t, dir, "spec.yaml", spec)
	for _, role := range []string{"app_owner", "postgres"} {
		dsn := server.DSN("app", "user="+role)
		for _, args := range [][]string{{"diff"}, {"diff", "--live"}, {"status"}, {"status", "--json"}, {"history"}, {"verify", "--data"}, {"apply", "--dry-run"}, {"spec", "pull"}, {"schema", "pull"}} {
			_, err := run(append(args, "-f", dir, "-o", dir, "--dsn", dsn)...)
			log.check(t, role+": sluice "+strings.Join(args, " "), err)
		}
		serve(t, log, role, dsn, dir)
	}
	sluice(t, "apply", "-f", dir, "-o", dir, "--dsn", server.DSN("app", "user=app_owner"))
	log.check(t, "sluice apply", nil)
	sluice(t, "uninstall", "--allow-data-loss", "-f", dir, "-o", dir, "--dsn", server.DSN("app", "user=app_owner"))
	log.check(t, "sluice uninstall", nil)
	sluice(t, "apply", "-f", dir, "-o", dir, "--dsn", server.DSN("app", "user=app_owner"))
	log.check(t, "sluice apply to an empty database", nil)
}

var served = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// serve lets run and ui work for a while, and reads their pages.
func serve(t *testing.T, log *serverLog, role, dsn, dir string) {
	t.Helper()
	for _, args := range [][]string{{"run", "--listen", "127.0.0.1:0", "-f", dir}, {"ui", "--schema", "pgtrickle", "--listen", "127.0.0.1:0"}} {
		what := role + ": sluice " + args[0]
		cmd := program.Command(t, append(args, "-o", dir, "--dsn", dsn)...)
		var talk syncBuffer
		cmd.Stdout, cmd.Stderr = &talk, &talk
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		visit(t, what, &talk)
		stop(cmd)
		log.check(t, what, nil)
	}
}

// visit waits until the command says where it listens, and reads its pages, each of them twice: what they show may be as of the last look.
func visit(t *testing.T, what string, talk *syncBuffer) {
	t.Helper()
	if !pgtest.Becomes(func() bool { return served.MatchString(talk.String()) }) {
		t.Errorf("%s listens nowhere: %s", what, talk.String())
		return
	}
	address := "http://" + served.FindString(talk.String())
	for range 2 {
		for _, path := range []string{"/", "/metrics", "/api/status", "/api/history", "/api/stream-table?name=public.revenue", "/api/dead-letters?inbox=order_events"} {
			if answer, err := http.Get(address + path); err == nil {
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}
		time.Sleep(time.Second)
	}
}

func stop(cmd *exec.Cmd) {
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
}

// start starts a server whose log is read.
func start(t *testing.T) (*commandtest.Server, *serverLog) {
	t.Helper()
	install, err := commandtest.Finder{Progress: os.Stderr}.Find(t.Context(), os.Getenv("SLUICE_TEST_PG"))
	if err != nil {
		t.Fatal(err)
	}
	log := &serverLog{}
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Install: install, Log: &log.text})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server, log
}

// serverLog is what a server logs, in which traps leave a line even where the error is caught.
type serverLog struct{ text syncBuffer }

func (l *serverLog) has(line string) bool { return strings.Contains(l.text.String(), line) }

func (l *serverLog) reset() { l.text.reset() }

// check fails if a trap was called since it was last asked.
func (l *serverLog) check(t *testing.T, what string, err error) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, "TRAP") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if err != nil && strings.Contains(err.Error(), "TRAP") {
		lines = append(lines, err.Error())
	}
	if len(lines) > 0 {
		t.Errorf("%s\n\t%s", what, strings.Join(slices.Compact(lines), "\n\t"))
		l.reset()
	}
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *syncBuffer) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Reset()
}

// run runs the command; its error is what it printed.
func run(args ...string) (string, error) {
	var out, talk bytes.Buffer
	if status := commandtest.Main(args, strings.NewReader(""), &out, &talk); status != 0 {
		return out.String(), fmt.Errorf("sluice %s: exit status %d\n%s", strings.Join(args, " "), status, talk.String())
	}
	return out.String(), nil
}

func sluice(t *testing.T, args ...string) {
	t.Helper()
	if _, err := run(args...); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	for _, statement := range pgtest.Split(sql) {
		if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
