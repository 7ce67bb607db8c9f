package live

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestInboxAsSubscriber has messages come by logical replication, which fires no statement trigger: the initial copy, and then what the publisher
// inserts, updates, deletes and truncates, long after it was received there. All of it is counted, and what is pending can be claimed.
func TestInboxAsSubscriber(t *testing.T) {
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Install: pgtest.Server(t).Install, Settings: map[string]string{"wal_level": "logical"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	run(t, pgtest.Connect(t, server.DSN("postgres")), "create role "+pgtest.Owner+" login")
	create(t, server, "publisher")
	create(t, server, "subscriber")
	at, of := pgtest.Connect(t, server.DSN("publisher")), pgtest.Connect(t, server.DSN("subscriber"))
	run(t, of, installed.Load(t, installed.Shop()).Install(generator.Plain))
	run(t, at, `create schema pgtrickle;
create table pgtrickle.payments (event_id text primary key, event_type text, payload jsonb default '{}', received_at timestamptz default now() - interval '1 hour',
    processed_at timestamptz, retry_count int default 0);
insert into pgtrickle.payments (event_id, event_type) select 'old' || i, 't' from generate_series(1, 100) i`)
	settled := func() {
		for range 3 {
			run(t, of, "call pgtrickle.tick()")
			run(t, of, "update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'")
		}
	}
	settled()
	run(t, at, "create publication p for all tables")
	run(t, at, "select pg_create_logical_replication_slot('s', 'pgoutput')")
	run(t, of, "create subscription s connection '"+server.DSN("publisher")+"' publication p with (create_slot = false, slot_name = 's')")
	defer of.Exec(context.Background(), "drop subscription s")
	wait(t, of, "select count(*) > 0 and bool_and(srsubstate = 'r') from pg_subscription_rel")
	compareWithTable(t, of, "the initial copy", 100)
	for _, step := range []struct {
		sql  string
		left int // pending
	}{
		{"insert into pgtrickle.payments (event_id, event_type) select 'new' || i, 'u' from generate_series(1, 10) i", 110},
		{"update pgtrickle.payments set processed_at = now() where event_id like 'old_'", 101},
		{"update pgtrickle.payments set retry_count = 3 where event_id like 'old1_'", 91},
		{"update pgtrickle.payments set retry_count = 1, event_type = 'v', received_at = now() where event_id in ('old10', 'old11', 'old30')", 93},
		{"update pgtrickle.payments set event_id = 'renamed' where event_id = 'old12'; update pgtrickle.payments set event_id = 'renamed too' where event_id = 'new1'", 93},
		{"delete from pgtrickle.payments where event_id in ('old1', 'old13', 'old40', 'new2')", 91},
		{"truncate pgtrickle.payments", 0},
		{"insert into pgtrickle.payments (event_id, event_type, processed_at, retry_count) values ('a', 't', null, 0), ('b', 't', now(), 0), ('c', 't', null, 3)", 1},
	} {
		run(t, at, step.sql)
		wait(t, at, "select confirmed_flush_lsn >= '"+pgtest.One[string](t, at, "select pg_current_wal_lsn()::text")+"' from pg_replication_slots")
		compareWithTable(t, of, step.sql, step.left)
		settled()
		compareWithTable(t, of, step.sql+", settled", step.left)
	}
	// A restore may leave all triggers enabled for everybody.
	run(t, of, "alter table pgtrickle.payments disable trigger all; alter table pgtrickle.payments enable trigger all")
	run(t, of, "update pgtrickle.payments set processed_at = now() where event_id = 'a'; delete from pgtrickle.payments where event_id = 'b'")
	compareWithTable(t, of, "on the subscriber itself", 0)
}

// wait waits until a query yields true.
func wait(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	pgtest.UntilTrue(t, conn, sql)
}

// compareWithTable compares what is derived from payments, and what can be claimed of it, with the table.
func compareWithTable(t *testing.T, conn *pgx.Conn, when string, left int) {
	t.Helper()
	if found := pgtest.Column[string](t, conn, strings.NewReplacer("INBOX", "payments", "DUE", "true").Replace(differences)); len(found) > 0 {
		t.Errorf("%s: %s", when, strings.Join(found, "; "))
	}
	if got := pgtest.One[int](t, conn, "select count(*) from pgtrickle.inbox_claim('payments', 1000)"); got != left {
		t.Errorf("%s: %d messages can be claimed, want %d", when, got, left)
	}
	if failed := pgtest.Rows(t, conn, "select task, last_error from pgtrickle_internal.pgt_tasks where last_error is not null"); len(failed) > 0 {
		t.Error(when, fmt.Sprint(failed))
	}
}
