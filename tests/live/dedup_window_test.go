package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const dedupSpec = `
version: 1
extension: {name: shop, version: 1.0.0}
inboxes:
  - {name: orders, dedup_window: 30d, retention: {processed: 1ms}}
`

// TestDedupWindowBesideRetention has senders repeat a few ids in every way that there is, while workers process them and retention deletes
// what is processed at once: each id has its effect once.
func TestDedupWindowBesideRetention(t *testing.T) {
	db := installed.DB(t, installed.Text(t, dedupSpec))
	db.Exec(t, effects)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	start := func(n int, body func(context.Context, *pgx.Conn, *rand.Rand) error) {
		for i := range n {
			conn, r := db.Connect(t), rand.New(rand.NewPCG(11, uint64(i)))
			all.Go(func() {
				for ctx.Err() == nil {
					if err := body(t.Context(), conn, r); err != nil {
						t.Error(pgtest.ErrorText(err))
						return
					}
				}
			})
		}
	}
	began := time.Now()
	start(4, func(ctx context.Context, conn *pgx.Conn, r *rand.Rand) error {
		// The ids move on, so that some are new, some pending, some noted and some gone.
		return send(ctx, conn, r, fmt.Sprint("m", int(time.Since(began)/time.Millisecond)-r.IntN(300)))
	})
	start(2, func(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
		_, err := conn.Exec(ctx, `with claimed as materialized (select event_id from pgtrickle.inbox_claim('orders', 20)),
effect as (insert into effects select event_id from claimed)
select count(pgtrickle.inbox_mark_processed('orders', event_id)) from claimed`)
		return err
	})
	start(2, func(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
		_, err := conn.Exec(ctx, "select pgtrickle_internal.pgt_inbox_drain('orders', 50)")
		return err
	})
	wait(t, db.Connect(t), "select count(*) >= 500 from pgtrickle_internal.orders_past_ids")
	stop()
	all.Wait()

	conn := db.Connect(t)
	run(t, conn, "select count(pgtrickle.inbox_mark_processed('orders', event_id)) from (select event_id from pgtrickle.orders where processed_at is null) i")
	for range 200 {
		run(t, conn, "select pgtrickle_internal.pgt_inbox_drain('orders', 1000)")
	}
	gone := pgtest.One[int](t, conn, "select count(*) from pgtrickle_internal.orders_past_ids")
	if left := pgtest.One[int](t, conn, "select count(*) from pgtrickle.orders"); left > 0 {
		t.Errorf("%d messages are left, and %d ids remembered", left, gone)
	}
	if lost := pgtest.One[int](t, conn, "select count(*) from effects e where not exists (select from pgtrickle_internal.orders_past_ids p where p.event_id = e.event_id)"); lost > 0 {
		t.Errorf("%d ids are forgotten", lost)
	}
}

// send stores a message in one of the ways that applications have, some of which may fail on a duplicate.
func send(ctx context.Context, conn *pgx.Conn, r *rand.Rand, id string) error {
	const insert = "insert into pgtrickle.orders (event_id, event_type, payload) values ($1, 't', '{}')"
	var err error
	switch r.IntN(6) {
	case 0:
		_, err = conn.Exec(ctx, insert, id)
	case 1:
		_, err = conn.Exec(ctx, insert+" on conflict do nothing", id)
	case 2:
		_, err = conn.Exec(ctx, "select pgtrickle.inbox_receive('orders', $1::text, 't', '{}')", id)
	case 3:
		_, err = conn.Exec(ctx, `select pgtrickle.inbox_receive_many('orders', jsonb_build_array(jsonb_build_object('event_id', $1::text, 'event_type', 't', 'payload', 1)))`, id)
	case 4:
		_, err = conn.PgConn().CopyFrom(ctx, strings.NewReader(id+"\tt\t{}\n"), "copy pgtrickle.orders (event_id, event_type, payload) from stdin")
	default:
		err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "select count(*) from effects"); err != nil {
				return err
			}
			time.Sleep(time.Duration(r.IntN(5)) * time.Millisecond)
			_, err := tx.Exec(ctx, insert+" on conflict do nothing", id)
			return err
		})
	}
	if pg, ok := err.(*pgconn.PgError); ok && (pg.Code == "23505" || pg.Code == "40001") {
		return nil
	}
	return err
}

// TestDedupWindowOfOthers has a message come again by what fires no trigger of the usual kind, or takes a path of its own.
func TestDedupWindowOfOthers(t *testing.T) {
	db := installed.DB(t, installed.Text(t, dedupSpec))
	conn := pgtest.Connect(t, db.SuperDSN())
	run(t, conn, "insert into pgtrickle_internal.orders_past_ids values ('past', now())")
	for _, way := range []string{
		"set session_replication_role = replica; insert into pgtrickle.orders (event_id, event_type, payload) values ('past', 't', '{}'); reset session_replication_role", // as logical replication applies it
		"merge into pgtrickle.orders i using (values ('past')) v (id) on i.event_id = v.id when not matched then insert (event_id, event_type, payload) values (v.id, 't', '{}')",
		"create table parent (like pgtrickle.orders) partition by list (event_id); alter table parent attach partition pgtrickle.orders default; insert into parent (event_id, event_type, payload, received_at, retry_count) values ('past', 't', '{}', now(), 0); alter table parent detach partition pgtrickle.orders",
		"prepare p as insert into pgtrickle.orders (event_id, event_type, payload) select 'past', 't', '{}' from generate_series(1, 3); execute p",
	} {
		if strings.HasPrefix(way, "merge") && pgtest.One[int](t, conn, "select current_setting('server_version_num')::int") < 150000 {
			continue
		}
		run(t, conn, way)
		if stored := pgtest.One[int](t, conn, "select count(*) from pgtrickle.orders"); stored > 0 {
			t.Fatalf("stored by %s", way)
		}
	}
}
