package commands

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const restoredDDL = `
create table orders (order_id int primary key, customer_id int not null, amount numeric not null, note text default 'none');
create table measures (id int not null, region text not null, at date not null) partition by list (region);
create table measures_north partition of measures for values in ('north');
create table measures_rest partition of measures default;`

// restoredSpec has something of all kinds.
const restoredSpec = `
version: 1
extension: {name: kept, version: 1.0.0, imperative: true}
schema: [schema.sql]
roles: {producer: kept_producer, consumer: kept_consumer, monitor: kept_monitor}
inboxes:
  - {name: letters, dedup_window: 30d, retention: {processed: 1h}}
  - {name: jobs, schema: Other one, materialize: true}
  - {name: turns, ordering: {sequence: number}}
  - {name: urgent, priority: {tiers: default}}
  - {name: changes, wire_format: debezium, change_feed: true}
outboxes:
  - {name: events}
  - {name: keyed, ordering_key: aggregate_id, segment_rows: 1000}
consumer_groups:
  - {name: shipping, outbox: events, auto_offset_reset: earliest}
  - {name: billing, outbox: totals, auto_offset_reset: earliest}
stream_tables:
  - name: public.totals
    outbox: true
    query: |
      select customer_id, sum(amount) as total from orders group by customer_id
  - name: public.large
    refresh_mode: immediate
    query: |
      select o.order_id, o.amount from orders o join orders p on p.order_id = o.order_id where p.amount > 100
  - name: public.latest
    refresh_mode: at_commit
    query: |
      select customer_id, max(order_id) as latest from orders group by customer_id
  - name: public.regions
    query: |
      select region, count(*) as parts from measures group by region
  - name: public.ranked
    refresh_mode: full
    query: |
      select order_id, rank() over (order by amount) as place from orders
`

// TestRestoredIsInOrder takes a database into another one of its cluster, and with long rows into a cluster of the next major, by pg_dump: until the first
// tick verify says what is missing, and then nothing differs and nothing is to be done.
func TestRestoredIsInOrder(t *testing.T) {
	server := pgtest.Server(t)
	if missing := server.Command("pg_dump").Err; missing != nil && os.Getenv("SLUICE_TEST_PG") != "" {
		t.Logf("%v: the versions of npm are bare servers", missing)
		return
	}
	dir := t.TempDir()
	write(t, dir, "schema.sql", restoredDDL)
	write(t, dir, "spec.yaml", restoredSpec)
	from := pgtest.DB(t)
	roles := "create role kept_producer; create role kept_consumer; create role kept_monitor"
	from.SuperExec(t, roles)
	from.Exec(t, restoredDDL)
	sluice := func(dsn string, args ...string) (status int, said string) {
		var out bytes.Buffer
		args = append(args, "-f", filepath.Join(dir, "spec.yaml"), "-o", filepath.Join(dir, "out"), "--dsn", dsn)
		status = commandtest.Main(args, strings.NewReader(""), &out, &out)
		return status, out.String()
	}
	if status, said := sluice(from.SuperDSN(), "apply"); status != 0 {
		t.Fatal(said)
	}
	from.SuperExec(t, `insert into orders select i, i % 5, i * 9 from generate_series(1, 40) i;
		insert into measures select i, case when i % 2 = 0 then 'north' else 'south' end, '2026-01-01' from generate_series(1, 9) i;
		select pgtrickle.inbox_receive(i, 'm' || n, 't', '{}') from unnest(array['letters', 'jobs', 'urgent']) i, generate_series(1, 9) n;
		select pgtrickle.create_inbox('later'), pgtrickle.create_stream_table('public.counted', 'select count(*) as n from orders')`)
	from.SuperExec(t, "call pgtrickle.tick()")
	dump := filepath.Join(t.TempDir(), "dump.sql")
	if out, err := server.Command("pg_dump", "--file", dump, from.Name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	to := []*commandtest.Server{server}
	if pgtest.Long() {
		next, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Version: "16"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { next.Close() })
		conn := pgtest.Connect(t, next.DSN("postgres"))
		if _, err := conn.Exec(t.Context(), roles+"; create role "+pgtest.Owner); err != nil {
			t.Fatal(err)
		}
		to = append(to, next)
	}
	for n, server := range to {
		name := fmt.Sprint("restored_", n)
		dsn := server.DSN(name)
		admin := pgtest.Connect(t, server.DSN("postgres"))
		if _, err := admin.Exec(t.Context(), "create database "+name); err != nil {
			t.Fatal(err)
		}
		if out, err := from.Server.Command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-f", dump).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if status, said := sluice(dsn, "verify", "--data"); status == 0 || !strings.Contains(said, "call pgtrickle.tick()") {
			t.Errorf("before the first tick: %d\n%s", status, said)
		}
		restored := pgtest.Connect(t, dsn)
		if _, err := restored.Exec(t.Context(), "call pgtrickle.tick()"); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
		for _, args := range [][]string{{"diff"}, {"verify", "--data"}, {"status"}, {"apply"}, {"diff"}} {
			status, said := sluice(dsn, args...)
			if status != 0 || args[0] == "apply" && !strings.Contains(said, "nothing to do") {
				t.Errorf("server %d: sluice %s: %d\n%s", n, strings.Join(args, " "), status, said)
			}
		}
		restored.Close(t.Context())
		if _, err := admin.Exec(t.Context(), "drop database "+name); err != nil {
			t.Fatal(err)
		}
	}
}
