package examples

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// shopTables are the tables that the examples write, besides outboxes.
const shopTables = `
create table orders (order_id text primary key, amount numeric(12, 2) not null check (amount > 0));
create table shipments (event_id bigint not null, order_id text not null); -- no key: a second shipment must show
`

// events is a database with the sample spec of events.
func events(t *testing.T) *pgtest.Database {
	t.Helper()
	db := installed.DB(t, installed.Load(t, filepath.Join("..", "..", "specs", "events")))
	db.Exec(t, shopTables)
	return db
}

func pool(t *testing.T, dsn string) *pgxpool.Pool {
	t.Helper()
	p, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// ship is the work of the relays.
func ship(ctx context.Context, tx pgx.Tx, e Event) error {
	var order Order
	if err := json.Unmarshal(e.Payload, &order); err != nil {
		return Poison{err}
	}
	_, err := tx.Exec(ctx, `insert into shipments (event_id, order_id) values ($1, $2)`, e.ID, order.ID)
	return err
}

func relay(db *pgxpool.Pool, consumer string) *Relay {
	return &Relay{
		DB: db, Group: "shipping", Consumer: consumer, Batch: 20, Lease: 5 * time.Second, Attempts: 3, Pause: 10 * time.Millisecond, Backoff: 50 * time.Millisecond, Handle: ship,
	}
}

// start runs relays until stop is called, which returns when they have ended.
func start(t *testing.T, relays ...*Relay) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for _, r := range relays {
		group.Go(func() { r.Run(ctx) })
	}
	stop = func() { cancel(); group.Wait() }
	t.Cleanup(stop)
	return stop
}

// until waits for a query to yield true.
func until(t *testing.T, db pgtest.Querier, sql string) {
	t.Helper()
	pgtest.UntilTrue(t, db, sql)
}

const nothingLeft = `select lag_rows = 0 from events.pgt_consumer_group_lag where group_name = 'shipping'`

// TestRelay publishes from several goroutines while three relays work: each order is shipped once, those that were refused are not.
func TestRelay(t *testing.T) {
	for name, dsn := range map[string]func(testing.TB, *pgtest.Database) string{
		"direct":    func(_ testing.TB, db *pgtest.Database) string { return db.DSN() },
		"pgbouncer": pgtest.Pgbouncer,
	} {
		t.Run(name, func(t *testing.T) {
			db := events(t)
			p := pool(t, dsn(t, db))
			stop := start(t, relay(p, "a"), relay(p, "b"), relay(p, "c"))
			placed, err := placeOrders(t.Context(), p, 4, 50)
			if err != nil {
				t.Fatal(err)
			}
			until(t, db, nothingLeft)
			stop()
			shipped := pgtest.Column[string](t, db, `select order_id from shipments order by order_id`)
			if slices.Sort(placed); !slices.Equal(shipped, placed) {
				t.Errorf("%d shipped, %d placed: %v", len(shipped), len(placed), shipped)
			}
			if held := pgtest.One[int64](t, db, `select count(*) from events.pgt_consumer_active_leases`); held != 0 {
				t.Errorf("%d leases are left", held)
			}
		})
	}
}

// placeOrders places orders from several goroutines; one in ten has an amount that the table refuses. It returns those that were placed.
func placeOrders(ctx context.Context, db *pgxpool.Pool, publishers, each int) (placed []string, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	for n := range publishers {
		group.Go(func() {
			for i := range each {
				order := Order{ID: fmt.Sprintf("%d-%02d", n, i), Amount: "9.50"}
				if i%10 == 9 {
					order.Amount = "-1"
				}
				_, failed := PlaceOrder(ctx, db, order)
				mu.Lock()
				switch {
				case (failed != nil) != (i%10 == 9):
					err = errors.Join(err, fmt.Errorf("order %s: %v", order.ID, failed))
				case failed == nil:
					placed = append(placed, order.ID)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return placed, err
}

// TestRelayFailures: an event that nobody can handle becomes a dead letter, so does one that keeps failing for three attempts, and
// neither takes others with it.
func TestRelayFailures(t *testing.T) {
	db := events(t)
	p := pool(t, db.DSN())
	r := relay(p, "a")
	r.Lease = time.Second
	r.Handle = func(ctx context.Context, tx pgx.Tx, e Event) error {
		switch *e.Key {
		case "poison":
			return Poison{errors.New("no such product")}
		case "broken":
			return errors.New("warehouse does not answer")
		case "slow": // longer than the lease
			time.Sleep(1500 * time.Millisecond)
		}
		return ship(ctx, tx, e)
	}
	for _, id := range []string{"good", "poison", "broken", "slow"} {
		if _, err := PlaceOrder(t.Context(), p, Order{ID: id, Amount: "1"}); err != nil {
			t.Fatal(err)
		}
	}
	stop := start(t, r)
	until(t, db, nothingLeft)
	stop()
	dead := pgtest.Rows(t, db, `select aggregate_id, attempts, error from events.pgt_consumer_dead_letters order by id`)
	want := [][]string{{"poison", "3", "no such product"}, {"broken", "3", "warehouse does not answer"}}
	if !slices.EqualFunc(dead, want, slices.Equal) {
		t.Errorf("dead letters: %v", dead)
	}
	if shipped := pgtest.Column[string](t, db, `select order_id from shipments order by order_id`); !slices.Equal(shipped, []string{"good", "slow"}) {
		t.Errorf("shipped: %v", shipped)
	}
}

// TestRelayStops: a relay that is asked to stop finishes its batch.
func TestRelayStops(t *testing.T) {
	db := events(t)
	p := pool(t, db.DSN())
	at := make(chan struct{})
	r := relay(p, "a")
	r.Handle = func(ctx context.Context, tx pgx.Tx, e Event) error {
		close(at)
		time.Sleep(200 * time.Millisecond)
		return ship(ctx, tx, e)
	}
	if _, err := PlaceOrder(t.Context(), p, Order{ID: "o", Amount: "1"}); err != nil {
		t.Fatal(err)
	}
	stop := start(t, r)
	<-at
	stop()
	if got := pgtest.One[string](t, db, `select format('%s %s', (select count(*) from shipments), lag_rows) from events.pgt_consumer_group_lag where group_name = 'shipping'`); got != "1 0" {
		t.Errorf("shipments and lag: %s", got)
	}
}

// TestListen: a tick wakes a relay that would sleep for an hour.
func TestListen(t *testing.T) {
	db := events(t)
	p := pool(t, db.DSN())
	wake := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	listening := make(chan error)
	conn := db.Connect(t)
	go func() { listening <- Listen(ctx, conn, "outbox_shop_events", wake) }()
	until(t, db, `select exists (select from pg_stat_activity where query like 'listen %')`)
	r := relay(p, "a")
	r.Pause, r.Wake = time.Hour, wake
	stop := start(t, r)
	until(t, db, `select count(*) = 1 from events.pgt_consumer_status`) // the first poll found nothing
	if _, err := PlaceOrder(t.Context(), p, Order{ID: "o", Amount: "1"}); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, `call events.tick()`)
	until(t, db, `select count(*) = 1 from shipments`)
	stop()
	cancel()
	if err := <-listening; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRelayLoses: a relay whose rows were taken from it while it worked takes its work back.
func TestRelayLoses(t *testing.T) {
	db := events(t)
	p := pool(t, db.DSN())
	other := db.Connect(t)
	r := relay(p, "a")
	turn := 0
	r.Handle = func(ctx context.Context, tx pgx.Tx, e Event) error {
		if turn++; turn == 1 {
			if _, err := other.Exec(ctx, `select events.seek_offset('shipping', 'b', 0)`); err != nil {
				return err
			}
		}
		return ship(ctx, tx, e)
	}
	if _, err := PlaceOrder(t.Context(), p, Order{ID: "o", Amount: "1"}); err != nil {
		t.Fatal(err)
	}
	stop := start(t, r)
	until(t, db, nothingLeft)
	stop()
	if shipped := pgtest.One[int64](t, db, `select count(*) from shipments`); shipped != 1 || turn != 2 {
		t.Errorf("%d shipments in %d turns", shipped, turn)
	}
}
