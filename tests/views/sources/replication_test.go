package sources

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const replicated = `
create table customers (id int primary key, name text not null);
create table orders (id int primary key, customer_id int, amount numeric);
create table sales (id int, region text, n int, primary key (id, region)) partition by list (region);
create table sales_eu partition of sales for values in ('eu');
create table sales_us partition of sales for values in ('us');
`

const replicatedSpec = `
version: 1
extension: {name: shop, version: 1.0.0}
schema: [schema.sql]
stream_tables:
  - name: public.totals
    query: |
      SELECT customer_id, sum(amount) AS total, count(*) AS n FROM orders GROUP BY customer_id
  - name: public.named
    query: |
      SELECT o.id, o.amount, c.name FROM orders o JOIN customers c ON c.id = o.customer_id
  - name: public.regions
    query: |
      SELECT region, max(n) AS top, count(*) AS c FROM sales GROUP BY region
  - name: public.large
    query: |
      SELECT id, amount FROM orders WHERE amount > (SELECT avg(amount) FROM orders)
  - name: public.reached
    query: |
      WITH RECURSIVE r(a, b) AS (SELECT customer_id, id FROM orders UNION SELECT r.a, o.id FROM r JOIN orders o ON o.customer_id = r.b) SELECT a, b FROM r
`

const replicatedTraffic = `
insert into customers select i, 'c' || i from generate_series((select count(*) + 1 from customers), (select count(*) + 9 from customers)) i;
insert into orders select i, i % 9 + 1, i from generate_series((select coalesce(max(id), 0) + 1 from orders), (select coalesce(max(id), 0) + 50 from orders)) i;
update orders set amount = amount + 1 where id % 7 = 0;
delete from orders where id % 11 = 0;
update customers set name = name || '!' where id % 4 = 0;
insert into sales_eu select i, 'eu', i from generate_series((select coalesce(max(id), 0) + 1 from sales), (select coalesce(max(id), 0) + 5 from sales)) i;
insert into sales select i, 'us', i from generate_series((select coalesce(max(id), 0) + 1 from sales), (select coalesce(max(id), 0) + 5 from sales)) i;
update sales set region = 'us' where id % 5 = 0;
delete from sales where id % 6 = 0;
`

// TestReplication has stream tables on a subscriber: the initial copy, changes and truncations reach them through row triggers.
func TestReplication(t *testing.T) {
	subscriber := replicates(t, replicatedSpec, refresh)
	if modes := pgtest.Column[string](t, subscriber, "select distinct mode from (select * from pgtrickle.pgt_refresh_history order by started_at desc limit 3) h"); strings.Join(modes, " ") != "differential" {
		t.Errorf("refreshed as %v", modes)
	}
}

// TestReplicationAtCommit has what applies changes maintain stream tables when it commits.
func TestReplicationAtCommit(t *testing.T) {
	replicates(t, strings.ReplaceAll(replicatedSpec, "    query", "    refresh_mode: at_commit\n    query"), func(*testing.T, *pgx.Conn) {})
}

// TestReplicationImmediate has each change maintain them as it is applied.
func TestReplicationImmediate(t *testing.T) {
	replicates(t, strings.ReplaceAll(replicatedSpec, "    query", "    refresh_mode: immediate\n    query"), func(*testing.T, *pgx.Conn) {})
}

// replicates lets a subscriber follow a publisher, and compares its stream tables after each step, when they are refreshed.
func replicates(t *testing.T, spec string, refresh func(*testing.T, *pgx.Conn)) *pgx.Conn {
	t.Helper()
	server := start(t, map[string]string{"wal_level": "logical"})
	extension := follows(t, replicated, spec)
	publisher, subscriber := database(t, server, "publisher"), database(t, server, "subscriber")
	exec(t, publisher, replicated, replicatedTraffic)
	exec(t, subscriber, replicated, extension.Install(generator.Plain), extension.Fill())
	at, of := pgtest.Connect(t, server.DSN("publisher")), pgtest.Connect(t, server.DSN("subscriber"))
	exec(t, at, "create publication p for all tables", "select pg_create_logical_replication_slot('s', 'pgoutput')")
	exec(t, of, "create subscription s connection '"+server.DSN("publisher")+"' publication p with (create_slot = false, slot_name = 's', copy_data = true)")
	t.Cleanup(func() { of.Exec(context.Background(), "drop subscription s") })
	settle(t, of, "select count(*) > 0 and bool_and(srsubstate = 'r') from pg_subscription_rel")
	refresh(t, subscriber)
	compare(t, subscriber, "after the initial copy")

	for _, sql := range []string{replicatedTraffic, replicatedTraffic, "truncate orders", replicatedTraffic, "truncate sales_us", replicatedTraffic, "truncate customers, sales", replicatedTraffic} {
		exec(t, publisher, sql)
		caughtUp(t, at)
		refresh(t, subscriber)
		compare(t, subscriber, sql)
	}
	if pgtest.One[int](t, subscriber, "select count(*)::int from named") == 0 {
		t.Error("nothing came, so this proves nothing")
	}
	// What is written on the subscriber itself.
	exec(t, subscriber, "insert into orders values (100000, 1, 1); insert into sales_us values (100000, 'us', 100000)")
	exec(t, publisher, replicatedTraffic)
	caughtUp(t, at)
	refresh(t, subscriber)
	compare(t, subscriber, "with own writes")
	return subscriber
}

// TestPreparedTransactions has writers that use two phases.
func TestPreparedTransactions(t *testing.T) {
	server := start(t, map[string]string{"max_prepared_transactions": "10"})
	extension := follows(t, replicated, replicatedSpec)
	conn := database(t, server, "prepared")
	exec(t, conn, replicated, extension.Install(generator.Plain), extension.Fill(), replicatedTraffic)
	refresh(t, conn)
	count := func() int { return pgtest.One[int](t, conn, "select coalesce(sum(n), 0)::int from totals") }
	before := count()
	exec(t, conn, "begin; insert into orders values (5001, 1, 1), (5002, 2, 2); update orders set amount = 9 where id = 1; insert into sales_us values (5001, 'us', 5001); prepare transaction 'one'")
	exec(t, conn, "begin; insert into orders values (6001, 1, 1); prepare transaction 'two'")
	exec(t, conn, "insert into orders values (7001, 1, 1)")
	refresh(t, conn)
	compare(t, conn, "while prepared")
	if got := count(); got != before+1 {
		t.Errorf("%d orders before the commit, want %d", got, before+1)
	}
	exec(t, conn, "commit prepared 'one'")
	refresh(t, conn)
	compare(t, conn, "after the commit")
	exec(t, conn, "rollback prepared 'two'")
	refresh(t, conn)
	compare(t, conn, "after the rollback")
	if got := count(); got != before+3 {
		t.Errorf("%d orders at last, want %d", got, before+3)
	}
}

func start(t *testing.T, settings map[string]string) *commandtest.Server {
	t.Helper()
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Install: pgtest.Server(t).Install, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	exec(t, pgtest.Connect(t, server.DSN("postgres")), "create role "+pgtest.Owner+" login")
	return server
}

func database(t *testing.T, server *commandtest.Server, name string) *pgx.Conn {
	t.Helper()
	exec(t, pgtest.Connect(t, server.DSN("postgres")), "create database "+name+" owner "+pgtest.Owner)
	return pgtest.Connect(t, server.DSN(name, "user="+pgtest.Owner))
}

// follows generates the extension of a spec and its DDL.
func follows(t *testing.T, schema, spec string) *generator.Extension {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"schema.sql": schema, "spec.yaml": spec} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return installed.Load(t, filepath.Join(dir, "spec.yaml"))
}

func exec(t *testing.T, conn *pgx.Conn, scripts ...string) {
	t.Helper()
	for _, sql := range scripts {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s\nin: %.300s", pgtest.ErrorText(err), sql)
		}
	}
}

// settle waits until a query yields true.
func settle(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	pgtest.UntilTrue(t, conn, sql)
}

// caughtUp waits until the subscriber has applied what the publisher has.
func caughtUp(t *testing.T, publisher *pgx.Conn) {
	t.Helper()
	lsn := pgtest.One[string](t, publisher, "select pg_current_wal_lsn()::text")
	settle(t, publisher, "select confirmed_flush_lsn >= '"+lsn+"' from pg_replication_slots where slot_name = 's'")
}

func refresh(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	exec(t, conn, "update pgtrickle_internal.pgt_stream_table_state set checked_at = '-infinity'", "call pgtrickle.tick()")
}

// compare compares each stream table with its query.
func compare(t *testing.T, conn *pgx.Conn, when string) {
	t.Helper()
	for _, def := range pgtest.Column[string](t, conn, "select format('%I.%I|%s', pgt_schema, pgt_name, query) from pgtrickle.pgt_stream_tables") {
		table, query, _ := strings.Cut(def, "|")
		wrong := pgtest.Column[string](t, conn, "select x::text from ((table "+table+" except all ("+query+")) union all (("+query+") except all table "+table+")) x")
		if len(wrong) > 0 {
			t.Errorf("%s: %s: %.10q", when, table, wrong)
		}
	}
	if bad := pgtest.Column[string](t, conn, "select concat_ws(' ', pgt_name, status, last_error) from pgtrickle.pgt_stream_tables where status <> 'active'"); len(bad) > 0 {
		t.Errorf("%s: %q", when, bad)
	}
}
