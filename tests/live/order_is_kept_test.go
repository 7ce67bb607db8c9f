package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestOrder has producers send the messages of each aggregate in any order, in transactions that linger or roll back, to workers of both kinds that
// fail, roll back and are killed, while retention deletes what is processed. Each aggregate must be processed in order, each message once, and
// nothing may get stuck. The messages that are ordered by time are there before, as a later one is not waited for.
func TestOrder(t *testing.T) {
	aggregates := pgtest.ShortOrLong(40, 1000)
	for _, inbox := range []string{"orders", "visits"} {
		t.Run(inbox, func(t *testing.T) { newOrdered(t, inbox, aggregates).run() })
	}
}

// perAggregate is the number of messages of each aggregate, of which the sequences are 1 and up, or seconds.
const perAggregate = 10

type ordered struct {
	t        *testing.T
	db       *pgtest.Database
	inbox    string
	messages [][2]int // aggregate and number, in any order
}

func newOrdered(t *testing.T, inbox string, aggregates int) *ordered {
	db := installed.DB(t, installed.Text(t, `
version: 1
extension: {name: ordered, version: 1.0.0}
settings: {inbox_drain_interval_seconds: 1}
inboxes:
  - {name: orders, ordering: {sequence: number}, retry: {backoff: constant, initial: 50ms}, retention: {processed: 1s}, max_retries: 1000}
  - {name: visits, ordering: {}, retry: {backoff: constant, initial: 50ms}, retention: {processed: 1s}, max_retries: 1000}
`))
	db.Exec(t, "create table effects (no bigint generated always as identity, event_id text primary key, aggregate text, number int)")
	o := &ordered{t: t, db: db, inbox: inbox}
	for a := range aggregates {
		for n := range perAggregate {
			o.messages = append(o.messages, [2]int{a, n + 1})
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	r.Shuffle(len(o.messages), func(i, j int) { o.messages[i], o.messages[j] = o.messages[j], o.messages[i] })
	return o
}

func (o *ordered) run() {
	ctx, cancel := context.WithTimeout(o.t.Context(), 3*time.Minute)
	defer cancel()
	var producers, workers sync.WaitGroup
	start := func(group *sync.WaitGroup, n int, one func(context.Context, *pgx.Conn, *rand.Rand) error) {
		for i := range n {
			r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
			group.Go(func() { o.repeat(ctx, r, one) })
		}
	}
	const sending = 4
	parts := slices.Collect(slices.Chunk(o.messages, (len(o.messages)+sending-1)/sending))
	next := make(chan [][2]int, sending)
	for _, part := range parts {
		next <- part
	}
	start(&producers, sending, func(ctx context.Context, conn *pgx.Conn, r *rand.Rand) error { return o.produce(ctx, conn, r, <-next) })
	if o.inbox == "visits" {
		producers.Wait()
	}
	start(&workers, 7, o.work)
	start(&workers, 3, o.lease)
	start(&workers, 1, o.tick)
	producers.Wait()
	workers.Wait()
	if ctx.Err() != nil {
		o.t.Errorf("stuck; left are %v", pgtest.Rows(o.t, o.db.Connect(o.t), fmt.Sprintf("select * from pgtrickle.%s limit 20", o.inbox)))
	}
	o.check()
}

// repeat runs one until it succeeds, with a new connection after each that was killed.
func (o *ordered) repeat(ctx context.Context, r *rand.Rand, one func(context.Context, *pgx.Conn, *rand.Rand) error) {
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, o.db.DSN())
		if err == nil {
			err = one(ctx, conn, r)
			conn.Close(context.Background())
		}
		var failed *pgconn.PgError
		switch {
		case err == nil:
			return
		case ctx.Err() == nil && (!errors.As(err, &failed) || failed.Code != "57P01"): // anything but a kill
			o.t.Error(err)
			return
		}
	}
}

// produce sends messages in transactions that linger, of which some roll back first.
func (o *ordered) produce(ctx context.Context, conn *pgx.Conn, r *rand.Rand, messages [][2]int) error {
	for len(messages) > 0 {
		n := min(len(messages), 1+r.IntN(20))
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		for _, m := range messages[:n] {
			sequence := fmt.Sprint(m[1])
			if o.inbox == "visits" {
				sequence = fmt.Sprintf("2001-01-01 00:00:%02d+00", m[1])
			}
			id := fmt.Sprintf("%d.%02d", m[0], m[1])
			if _, err := tx.Exec(ctx, "select pgtrickle.inbox_receive($1, $2, 't', '{}', p_aggregate_id => $3, p_sequence => $4)", o.inbox, id, fmt.Sprint(m[0]), sequence); err != nil {
				return err
			}
		}
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		if r.IntN(10) == 0 {
			err = tx.Rollback(ctx)
		} else if err = tx.Commit(ctx); err == nil {
			messages = messages[n:]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// work claims and marks in one transaction, which it rolls back or is killed in at times.
func (o *ordered) work(ctx context.Context, conn *pgx.Conn, r *rand.Rand) error {
	for {
		if done, err := o.done(ctx, conn); done || err != nil {
			return err
		}
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		for range 1 + r.IntN(2) {
			if err := o.claim(ctx, tx, r); err != nil {
				return err
			}
		}
		switch r.IntN(30) {
		case 0:
			_, err = tx.Exec(ctx, "select pg_terminate_backend(pg_backend_pid())")
		case 1, 2:
			err = tx.Rollback(ctx)
		default:
			err = tx.Commit(ctx)
		}
		if err != nil {
			return err
		}
	}
}

func (o *ordered) claim(ctx context.Context, tx pgx.Tx, r *rand.Rand) error {
	rows, err := tx.Query(ctx, "select event_id from pgtrickle.inbox_claim($1, $2)", o.inbox, 1+r.IntN(20))
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	aggregates := map[string]bool{}
	for _, id := range ids {
		aggregate, _, _ := strings.Cut(id, ".")
		if aggregates[aggregate] {
			o.t.Errorf("a claim has two messages of aggregate %s", aggregate)
		}
		aggregates[aggregate] = true
		statement := "select pgtrickle.inbox_mark_failed($1, $2, 'x')"
		if r.IntN(10) > 0 {
			statement = "select pgtrickle.inbox_mark_processed($1, $2)"
			if err := effect(ctx, tx, id); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, statement, o.inbox, id); err != nil {
			return err
		}
	}
	return nil
}

// effect notes what processing a message does: it fails when that is done twice.
func effect(ctx context.Context, tx pgx.Tx, id string) error {
	_, err := tx.Exec(ctx, "insert into effects (event_id, aggregate, number) values ($1::text, split_part($1, '.', 1), split_part($1, '.', 2)::int)", id)
	return err
}

// lease claims with leases, which it forgets at times, as if it had died, or holds for too long.
func (o *ordered) lease(ctx context.Context, conn *pgx.Conn, r *rand.Rand) error {
	for {
		if done, err := o.done(ctx, conn); done || err != nil {
			return err
		}
		rows, err := conn.Query(ctx, "select event_id, lease_id from pgtrickle.inbox_claim_lease($1, $2, '200 ms')", o.inbox, 1+r.IntN(10))
		if err != nil {
			return err
		}
		type leased struct {
			ID    string
			Lease int64
		}
		claimed, err := pgx.CollectRows(rows, pgx.RowToStructByPos[leased])
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(240)) * time.Millisecond)
		for _, m := range claimed {
			if r.IntN(10) == 0 {
				continue
			}
			err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, "select pgtrickle.inbox_mark_processed($1, $2, $3)", o.inbox, m.ID, m.Lease); err != nil {
					return err
				}
				return effect(ctx, tx, m.ID)
			})
			var failed *pgconn.PgError
			if err != nil && (!errors.As(err, &failed) || failed.Code != "55000" && failed.Code != "P0002") {
				return err
			}
		}
	}
}

// tick does the background work, which deletes what was processed a second ago.
func (o *ordered) tick(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
	for {
		if done, err := o.done(ctx, conn); done || err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, "call pgtrickle.tick()"); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (o *ordered) done(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var n int
	err := conn.QueryRow(ctx, "select count(*) from effects").Scan(&n)
	return n == len(o.messages) || o.t.Failed(), err
}

// check compares the order of effects with that of the sequences.
func (o *ordered) check() {
	conn := o.db.Connect(o.t)
	for _, row := range pgtest.Rows(o.t, conn, `
select e.aggregate, array_agg(e.number order by e.no)::text
from effects e group by 1
having array_agg(e.number order by e.no) <> array_agg(e.number order by e.number) or count(*) <> `+fmt.Sprint(perAggregate)) {
		o.t.Errorf("aggregate %s was processed in the order %s", row[0], row[1])
	}
	if left := pgtest.One[int](o.t, conn, fmt.Sprintf("select count(*) from pgtrickle.%s where processed_at is null", o.inbox)); left != 0 {
		o.t.Errorf("%d messages are left", left)
	}
}

// TestOrderedByReplication marks messages as logical replication does, for which no statement trigger fires, and with all triggers enabled for everybody,
// as a restore may leave them.
func TestOrderedByReplication(t *testing.T) {
	db := installed.DB(t, installed.Text(t, `
version: 1
extension: {name: ordered, version: 1.0.0}
inboxes: [{name: orders, ordering: {sequence: number}}]
`))
	db.Exec(t, "insert into pgtrickle.orders (event_id, event_type, payload, aggregate_id, number) select a || n, 't', '{}', a, n from unnest(array['x', 'y']) a, generate_series(1, 3) n")
	conn := pgtest.Connect(t, db.SuperDSN())
	next := func(want string) {
		t.Helper()
		if got := pgtest.One[string](t, conn, "select string_agg(event_id, ' ' order by event_id) from pgtrickle.next_orders"); got != want {
			t.Errorf("next are %s, not %s", got, want)
		}
		if claimed := pgtest.One[string](t, conn, "select string_agg(event_id, ' ' order by event_id) from pgtrickle.inbox_claim('orders', 10)"); claimed != want {
			t.Errorf("claimed are %s, not %s", claimed, want)
		}
	}
	next("x1 y1")
	run(t, conn, "set session_replication_role = replica")
	run(t, conn, "update pgtrickle.orders set processed_at = now() where event_id in ('x1', 'y1')")
	next("x2 y2")
	run(t, conn, "reset session_replication_role; alter table pgtrickle.orders disable trigger all; alter table pgtrickle.orders enable trigger all")
	run(t, conn, "update pgtrickle.orders set processed_at = now() where event_id in ('x2', 'y2')")
	next("x3 y3")
}
