//go:build citus

package citus

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestTraps has operators and functions in public, on all nodes, each of which fits some call better than PostgreSQL's own. None is called by the
// migrations, by what applications call on the coordinator and on a worker, and by background work.
func TestTraps(t *testing.T) {
	traps, err := os.ReadFile("../../rights/traps/testdata/traps.sql")
	if err != nil {
		t.Fatal(err)
	}
	plant := func(c *cluster) {
		for node := range c.nodes {
			conn := c.connect(t, node)
			mustExec(t, conn, "set citus.enable_ddl_propagation = off")
			mustExec(t, conn, string(traps))
		}
	}
	c := newCluster(t, "")
	plant(c)
	conn := c.connect(t, 0)
	if _, err := conn.Exec(t.Context(), "select 1::oid = 'pg_class'::regclass"); err == nil || !strings.Contains(err.Error(), "TRAP") {
		t.Fatalf("a trap says nothing: %v", err)
	}
	c.install(t, migration(t, "shop"))
	for node := range 2 {
		conn := c.connect(t, node)
		for _, sql := range strings.Split(strings.TrimSpace(`
select shop.inbox_receive('order_events', 'e1', 't', '{}', p_aggregate_id => 'a')
select shop.inbox_receive('notes', 'n1', 't', '{}')
select shop.inbox_receive_many('order_events', '[{"event_id": "e2", "event_type": "t", "payload": {}}]')
select * from shop.inbox_pending('order_events', 10)
begin
select * from shop.inbox_claim('order_events', 10)
select shop.inbox_mark_failed('order_events', 'e2', 'x')
select shop.inbox_mark_processed('order_events', 'e1', 'a')
commit
select shop.inbox_mark_processed('order_events', array['e2'])
select shop.replay_inbox_messages('order_events', array['e1', 'e2'], p_include_processed => true)
select * from shop.order_events_pending
select * from shop.order_events_stats
select shop.outbox_publish('events', 't', '{}', 'a')
select shop.create_consumer_group('more', 'events')
select * from shop.poll_outbox('mailer', 'c', 10)
select * from shop.poll_outbox('mailer', 'd', 10, p_max_bytes => 100)
select shop.extend_lease('mailer', 'c', 10)
select shop.reject_rows('mailer', 'c', array(select outbox_id from shop.consumer_lag('mailer') l (outbox_id)), 'x')
select shop.ack_rows('mailer', 'c', array[1::bigint])
select shop.release_rows('mailer', 'c', array[1::bigint])
select shop.replay_dead_letters('mailer')
select * from shop.consumer_lag('mailer')
select * from shop.pgt_consumer_dead_letters
select shop.drop_consumer_group('more')
call shop.tick()`), "\n") {
			if _, err := conn.Exec(t.Context(), sql); err != nil && (strings.Contains(err.Error(), "TRAP") || !strings.Contains(err.Error(), "lease lost") && !strings.Contains(sql, "lag('mailer') l")) {
				t.Errorf("node %d: %s: %s", node, sql, pgtest.ErrorText(err))
			}
		}
	}

	tables, s := newTables(t, "tables")
	plant(tables)
	conn = tables.connect(t, 0)
	mustExec(t, conn, "insert into orders (id, customer_id, amount, status, region) select i, i % 7, i, 'new', 'r' from generate_series(1, 50) i")
	mustExec(t, conn, "call shop.tick()")
	mustExec(t, conn, "update orders set amount = 3 where customer_id operator(pg_catalog.=) 3")
	refreshed(t, conn, s)
	for _, table := range s.StreamTables {
		mustExec(t, conn, "select * from shop.check_stream_table($1)", table.Relation.Schema+"."+table.Relation.Name)
	}
	mustExec(t, conn, "call shop.tick()")
	if failed := pgtest.Column[string](t, conn, "select last_error from shop.pgt_stream_tables where last_error is not null"); len(failed) > 0 {
		t.Error(failed)
	}
}

// TestRights has the roles of the spec do what they may not: each statement is refused for want of a right.
func TestRights(t *testing.T) {
	c := newCluster(t, "shop")
	as := func(role string, node int) *pgx.Conn {
		return pgtest.Connect(t, c.nodes[node].DSN(c.name, "user="+role))
	}
	for node := range 2 {
		producer := as("shop_app", node)
		mustExec(t, producer, "select shop.inbox_receive('order_events', 'e1', 't', '{}'), shop.outbox_publish('events', 't', '{}')")
		mustExec(t, producer, "insert into shop.order_events (event_id, event_type, aggregate_id, payload) values ('e2', 't', 'e2', '{}') on conflict (event_id, aggregate_id) do nothing")
		consumer := as("shop_worker", node)
		mustExec(t, consumer, "select shop.inbox_mark_processed('order_events', event_id, aggregate_id) from shop.inbox_claim('order_events', 10)")
		mustExec(t, consumer, "select * from shop.poll_outbox('mailer', 'c', 10)")
		for _, refused := range []struct {
			conn *pgx.Conn
			sql  string
		}{
			{producer, "insert into shop.order_events (event_id, event_type, aggregate_id, payload, processed_at) values ('e3', 't', 'e3', '{}', now())"},
			{producer, "insert into shop.order_events (event_id, event_type, aggregate_id, payload, error) values ('e3', 't', 'e3', '{}', 'x')"},
			{producer, "select payload from shop.order_events"},
			{producer, "update shop.order_events set available_at = 'infinity'"},
			{producer, "delete from shop.order_events"},
			{producer, "select payload from shop.outbox_events"},
			{producer, "delete from shop.outbox_events"},
			{consumer, "update shop.order_events set payload = '{}'"},
			{consumer, "insert into shop.order_events (event_id, event_type, aggregate_id, payload) values ('e4', 't', 'e4', '{}')"},
			{consumer, "delete from shop.order_events"},
			{consumer, "update shop.outbox_events set payload = '{}'"},
		} {
			var failed *pgconn.PgError
			if _, err := refused.conn.Exec(t.Context(), refused.sql); !errors.As(err, &failed) || failed.Code != "42501" {
				t.Errorf("node %d: %s: %v", node, refused.sql, err)
			}
		}
	}
}
