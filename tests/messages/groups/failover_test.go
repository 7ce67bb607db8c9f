package groups

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// failover is a server from which another one takes over.
type failover struct {
	t   *testing.T
	old *commandtest.Server
	on  *pgx.Conn
}

// fails starts a server with an outbox: of 50 events 40 are committed and deleted, 5 are leased, and 5 were never granted. Of another outbox, with
// keys, all are committed and deleted.
func fails(t *testing.T) failover {
	t.Helper()
	extension := installed.Text(t, `
version: 1
extension: {name: events, version: 1.0.0, schema: pgtrickle}
outboxes:
  - {name: feed}
  - {name: keyed, ordering_key: aggregate_id}
consumer_groups:
  - {name: work, outbox: feed, auto_offset_reset: earliest}
  - {name: ordered, outbox: keyed, auto_offset_reset: earliest}
`)
	f := failover{t: t, old: follows(t)}
	f.exec(pgtest.Connect(t, f.old.DSN("postgres")), "create database app owner "+pgtest.Owner)
	f.on = pgtest.Connect(t, f.old.DSN("app", "user="+pgtest.Owner))
	f.exec(f.on, extension.Install(generator.Plain),
		"select count(pgtrickle.outbox_publish(o, 't', to_jsonb(i), 'k')) from unnest(array['feed', 'keyed']) o, generate_series(1, 50) i",
		"select pgtrickle.commit_offset('work', 'w', max(id)) from pgtrickle.poll_outbox('work', 'w', 40)",
		"select pgtrickle.commit_offset('ordered', 'w', max(id)) from pgtrickle.poll_outbox('ordered', 'w', 50)",
		"delete from pgtrickle.outbox_feed where id <= 40", "delete from pgtrickle.outbox_keyed",
		"select from pgtrickle.poll_outbox('work', 'holder', 5)")
	return f
}

// follows starts a server that others can follow, and that can follow another one.
func follows(t *testing.T) *commandtest.Server {
	t.Helper()
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{
		Install: pgtest.Server(t).Install, Settings: map[string]string{"wal_level": "logical", "max_wal_senders": "4"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	f := failover{t: t}
	f.exec(pgtest.Connect(t, server.DSN("postgres")), "create role "+pgtest.Owner+" login")
	return server
}

func (f failover) exec(conn *pgx.Conn, statements ...string) {
	f.t.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(f.t.Context(), sql); err != nil {
			f.t.Fatalf("%s\nin: %.300s", pgtest.ErrorText(err), sql)
		}
	}
}

// goesOn publishes on the new server before its first tick, and expects that each group gets all that it has not committed, and the lease's
// consumer what it held.
func (f failover) goesOn(conn *pgx.Conn) {
	f.t.Helper()
	publish := "select count(pgtrickle.outbox_publish(o, 't', to_jsonb(i), 'k')) from unnest(array['feed', 'keyed']) o, generate_series($1::int, $2) i"
	pgtest.One[int](f.t, conn, publish, 51, 53)
	f.exec(conn, "call pgtrickle.tick()")
	pgtest.One[int](f.t, conn, publish, 54, 55)
	for group, want := range map[string]string{"work": "41 42 43 44 45 46 47 48 49 50 51 52 53 54 55", "ordered": "51 52 53 54 55"} {
		var got []string
		for _, consumer := range []string{"holder", "w", "w"} {
			ids := pgtest.Column[int64](f.t, conn, "select id from pgtrickle.poll_outbox($1, $2)", group, consumer)
			got = append(got, pgtest.Column[string](f.t, conn, "select payload::text from (select 'work' as g, e.* from pgtrickle.outbox_feed e union all select 'ordered', e.* from pgtrickle.outbox_keyed e) e where e.g = $1 and e.id = any ($2)", group, ids)...)
			pgtest.One[int64](f.t, conn, "select pgtrickle.ack_rows($1, $2, $3)", group, consumer, ids)
		}
		slices.Sort(got)
		if all := strings.Join(got, " "); all != want {
			f.t.Errorf("group %s gets %s", group, all)
		}
	}
	if lag := pgtest.One[int64](f.t, conn, "select sum(lag_rows)::bigint from pgtrickle.pgt_consumer_group_lag"); lag != 0 {
		f.t.Errorf("%d rows are left", lag)
	}
}

// TestPhysicalFailover promotes a standby, which has the sequences as they were.
func TestPhysicalFailover(t *testing.T) {
	if missing := pgtest.Server(t).Command("pg_basebackup").Err; missing != nil && os.Getenv("SLUICE_TEST_PG") != "" {
		t.Logf("%v: the versions of npm are bare servers", missing)
		return
	}
	f := fails(t)
	standby := follows(t)
	if err := standby.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(standby.DataDir()); err != nil {
		t.Fatal(err)
	}
	backup := f.old.Command("pg_basebackup", "-D", standby.DataDir(), "-X", "stream", "-c", "fast", "-R")
	var said strings.Builder
	backup.Stderr = &said
	if err := f.old.Spawn(backup); err != nil {
		t.Fatal(err)
	}
	if err := backup.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if err := standby.Restart(); err != nil {
		t.Fatal(err)
	}
	on := pgtest.Connect(t, standby.DSN("app", "user="+pgtest.Owner))
	lsn := pgtest.One[string](t, f.on, "select pg_current_wal_lsn()::text")
	pgtest.UntilTrue(t, on, "select pg_last_wal_replay_lsn() >= '"+lsn+"'")
	if err := f.old.Immediate(); err != nil {
		t.Fatal(err)
	}
	f.exec(pgtest.Connect(t, standby.DSN("app")), "select pg_promote()")
	f.goesOn(on)
	if n := pgtest.One[int](t, on, "select count(*)::int from pgtrickle.pgt_outbox_config where advanced_at is not null"); n != 0 {
		t.Errorf("%d sequences were behind", n)
	}
}

// TestLogicalFailover goes on with a subscriber of all tables, whose sequences are at their beginning.
func TestLogicalFailover(t *testing.T) {
	if missing := pgtest.Server(t).Command("pg_dump").Err; missing != nil && os.Getenv("SLUICE_TEST_PG") != "" {
		t.Logf("%v: the versions of npm are bare servers", missing)
		return
	}
	f := fails(t)
	root := pgtest.Connect(t, f.old.DSN("postgres"))
	f.exec(root, "create database new owner "+pgtest.Owner)
	schema, err := f.old.Command("pg_dump", "--schema-only", "app").Output()
	if err != nil {
		t.Fatal(err)
	}
	restore := f.old.Command("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "new")
	restore.Stdin = strings.NewReader(string(schema))
	if out, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	at, of := pgtest.Connect(t, f.old.DSN("app")), pgtest.Connect(t, f.old.DSN("new"))
	f.exec(at, "create publication p for all tables", "select pg_create_logical_replication_slot('s', 'pgoutput')")
	f.exec(of, "create subscription s connection '"+f.old.DSN("app")+"' publication p with (create_slot = false, slot_name = 's', copy_data = true)")
	pgtest.UntilTrue(t, of, "select count(*) > 0 and bool_and(srsubstate = 'r') from pg_subscription_rel")
	f.exec(f.on, "select pgtrickle.outbox_publish('keyed', 't', '0', 'k')", "select pgtrickle.commit_offset('ordered', 'w', max(id)) from pgtrickle.poll_outbox('ordered', 'w')", "delete from pgtrickle.outbox_keyed")
	lsn := pgtest.One[string](t, at, "select pg_current_wal_lsn()::text")
	pgtest.UntilTrue(t, at, "select confirmed_flush_lsn >= '"+lsn+"' from pg_replication_slots where slot_name = 's'")
	f.exec(of, "drop subscription s")
	on := pgtest.Connect(t, f.old.DSN("new", "user="+pgtest.Owner))
	f.goesOn(on)
	if n := pgtest.One[int](t, on, "select count(*)::int from pgtrickle.pgt_outbox_config where advanced_at is not null and came_late = 3"); n != 2 {
		t.Errorf("%d sequences were behind", n)
	}
}
