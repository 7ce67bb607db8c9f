package examples

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestWorkers lets workers process messages of which every tenth fails once, and one always.
func TestWorkers(t *testing.T) {
	db := installed.DB(t, installed.Load(t, filepath.Join("..", "..", "specs", "shop")))
	db.Exec(t, shopTables+`
		select pgtrickle.inbox_receive('order_events', n::text, 'order.placed', jsonb_build_object('order_id', n::text))
		from generate_series(1, 200) n;
		select pgtrickle.inbox_receive('order_events', 'bad', 'order.placed', '{"order_id": 7}')`)
	var failed sync.Map
	work := func(ctx context.Context, tx pgx.Tx, m Message) error {
		var order Order
		if _, err := tx.Exec(ctx, `insert into shipments (event_id, order_id) values (hashtext($1), $1)`, m.ID); err != nil {
			return err
		}
		if _, before := failed.LoadOrStore(m.ID, true); !before && m.ID[len(m.ID)-1] == '0' {
			_, err := tx.Exec(ctx, `select 1 / 0`)
			return err
		}
		return json.Unmarshal(m.Payload, &order)
	}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 4 {
		w := &Worker{DB: pool(t, db.DSN()), Inbox: "order_events", Batch: 20, Pause: 10 * time.Millisecond, Handle: work}
		group.Go(func() { w.Run(ctx) })
	}
	until(t, db, `select count(*) = 200 from pgtrickle.order_events where processed_at is not null`)
	until(t, db, `select exists (select from pgtrickle.order_events_dlq where event_id = 'bad' and error like 'json: %')`)
	stop()
	group.Wait()
	if count := pgtest.One[int](t, db, `select count(distinct order_id) * 1000 + count(*) from shipments`); count != 200200 {
		t.Errorf("%d shipments", count)
	}
}
