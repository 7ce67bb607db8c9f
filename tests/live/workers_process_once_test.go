package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const (
	workers = 10
	leasers = 3
)

// messages are how many there are in all.
var messages = pgtest.ShortOrLong(4000, 100_000)

// effects is the business table of these tests: its key is what reports that a message had its effect once.
const effects = "create table effects (event_id text primary key, worker int)"

// holds are the messages of leases and when these end at the earliest.
const holds = "create table holds (event_id text primary key, until timestamptz not null)"

// TestWorkersShareOneMoment has all messages share one received_at, so that no cursor over time can tell them apart.
func TestWorkersShareOneMoment(t *testing.T) {
	w := newWork(t, installed.ShopDB(t), "payments")
	w.db.Exec(t, fmt.Sprintf("insert into pgtrickle.payments (event_id, event_type, payload, received_at) select 'm' || i, 't' || i %% 3, '{}', now() from generate_series(1, %d) i", messages))
	w.run(nil)
}

// TestWorkersBesideWriters has messages come in while workers run, at distinct times, some backdated and some late.
func TestWorkersBesideWriters(t *testing.T) {
	newWork(t, installed.ShopDB(t), "order_events").writtenMeanwhile()
}

// TestWorkersByPriority does the same with an inbox that hands out urgent messages first.
func TestWorkersByPriority(t *testing.T) {
	db := installed.DB(t, installed.Text(t, `
version: 1
extension: {name: urgent, version: 1.0.0}
inboxes: [{name: order_events, priority: {map: {t0: 1, t1: 2}, max_wait: 1s}}]
`))
	newWork(t, db, "order_events").writtenMeanwhile()
}

// writtenMeanwhile has writers store all messages.
func (w *work) writtenMeanwhile() {
	w.run(func(ctx context.Context, conn *pgx.Conn, writer int, r *rand.Rand) error {
		for from := 0; from < messages/4; from += 50 {
			_, err := conn.Exec(ctx, `insert into pgtrickle.order_events (event_id, event_type, payload, received_at)
select 'w' || $1::int || '-' || i, 't' || i % 3, '{}', clock_timestamp() - (case when i % 97 = 0 then $3::int else 0 end) * interval '1 ms' from generate_series($2::int + 1, $2::int + 50) i`,
				writer, from, r.IntN(5000))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// work is one inbox under load.
type work struct {
	t       *testing.T
	db      *pgtest.Database
	inbox   string
	writing atomic.Int32
	done    chan struct{} // closed when the inbox is empty
}

func newWork(t *testing.T, db *pgtest.Database, inbox string) *work {
	w := &work{t: t, db: db, inbox: inbox, done: make(chan struct{})}
	w.db.Exec(t, effects)
	w.db.Exec(t, holds)
	w.db.Exec(t, "update pgtrickle.pgt_settings set value = '1' where name = 'inbox_drain_interval_seconds'")
	return w
}

// run lets workers, an application with locks of its own, two schedulers and a checker loose, and then counts.
func (w *work) run(write func(context.Context, *pgx.Conn, int, *rand.Rand) error) {
	var all, working sync.WaitGroup
	start := func(group *sync.WaitGroup, n int, body func(context.Context, *pgx.Conn, int, *rand.Rand) error) {
		for i := range n {
			conn := w.db.Connect(w.t)
			group.Go(func() {
				if err := body(w.t.Context(), conn, i, rand.New(rand.NewPCG(7, uint64(i)))); err != nil {
					w.t.Error(pgtest.ErrorText(err) + whereOf(err))
				}
			})
		}
	}
	if write != nil {
		w.writing.Store(4)
		start(&working, 4, func(ctx context.Context, conn *pgx.Conn, n int, r *rand.Rand) error {
			defer w.writing.Add(-1)
			return write(ctx, conn, n, r)
		})
	}
	start(&working, workers, w.worker)
	start(&working, leasers, w.leaser)
	start(&working, 1, w.application)
	start(&all, 2, w.scheduler)
	start(&all, 1, w.checker)
	working.Wait()
	close(w.done)
	all.Wait()
	w.count()
}

// whereOf is the context of an error of the server.
func whereOf(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) && failed.Where != "" {
		return "\nCONTEXT: " + failed.Where
	}
	return ""
}

// errGaveUp is why a worker rolls back.
var errGaveUp = errors.New("gave up")

// worker claims, has its effect and marks, all in one transaction; now and then it gives up, or fails a message.
func (w *work) worker(ctx context.Context, conn *pgx.Conn, n int, r *rand.Rand) error {
	process := fmt.Sprintf(`with claimed as materialized (select event_id from pgtrickle.inbox_claim('%s', $1)),
effect as (insert into effects select event_id, $2 from claimed)
select count(pgtrickle.inbox_mark_processed('%[1]s', event_id)) from claimed`, w.inbox)
	fail := fmt.Sprintf("select count(pgtrickle.inbox_mark_failed('%s', event_id, 'bad luck')) from pgtrickle.inbox_claim('%[1]s', 1) where retry_count < 2", w.inbox)
	return w.untilEmpty(ctx, conn, func(tx pgx.Tx) (count int64, err error) {
		if r.IntN(50) == 0 {
			err := tx.QueryRow(ctx, fail).Scan(&count)
			return 1, err
		}
		if err := tx.QueryRow(ctx, process, 1+r.IntN(60), n).Scan(&count); err != nil {
			return 0, err
		}
		if r.IntN(30) == 0 {
			return 1, errGaveUp
		}
		return count, w.notHeld(ctx, tx, n)
	})
}

// notHeld fails if a worker was given a message of a lease that runs.
func (w *work) notHeld(ctx context.Context, tx pgx.Tx, worker int) error {
	var id *string
	err := tx.QueryRow(ctx, "select min(h.event_id) from holds h join effects e using (event_id) where e.worker = $1 and h.until > clock_timestamp()", worker).Scan(&id)
	if err == nil && id != nil {
		err = fmt.Errorf("worker %d was given %s, whose lease runs", worker, *id)
	}
	return err
}

// application takes messages without any function of the extension.
func (w *work) application(ctx context.Context, conn *pgx.Conn, _ int, _ *rand.Rand) error {
	take := fmt.Sprintf(`with taken as materialized (
    select event_id from pgtrickle.%s where processed_at is null order by received_at desc limit 5 for update skip locked
), effect as (insert into effects select event_id, -1 from taken)
update pgtrickle.%[1]s i set processed_at = now() from taken where i.event_id = taken.event_id`, w.inbox)
	return w.untilEmpty(ctx, conn, func(tx pgx.Tx) (int64, error) {
		tag, err := tx.Exec(ctx, take)
		time.Sleep(20 * time.Millisecond) // it shall leave something to the workers
		return tag.RowsAffected(), err
	})
}

// untilEmpty repeats a transaction until nothing has been pending for a while and nobody writes, or another session has failed.
func (w *work) untilEmpty(ctx context.Context, conn *pgx.Conn, body func(pgx.Tx) (int64, error)) error {
	for !w.t.Failed() {
		count := int64(0)
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
			count, err = body(tx)
			return err
		})
		if err != nil && !errors.Is(err, errGaveUp) {
			return err
		}
		if count > 0 {
			continue
		}
		var pending int64
		if err := conn.QueryRow(ctx, "select (pgtrickle.inbox_health($1) ->> 'pending_count')::bigint", w.inbox).Scan(&pending); err != nil {
			return err
		}
		if pending == 0 && w.writing.Load() == 0 {
			return nil
		}
		if err := conn.QueryRow(ctx, "select 0 from pg_sleep(0.01)").Scan(&pending); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) scheduler(ctx context.Context, conn *pgx.Conn, _ int, _ *rand.Rand) error {
	for {
		if _, err := conn.Exec(ctx, "call pgtrickle.tick()"); err != nil {
			return err
		}
		select {
		case <-w.done:
			return nil
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// checker reads table and counts in one snapshot, again and again.
func (w *work) checker(ctx context.Context, conn *pgx.Conn, _ int, _ *rand.Rand) error {
	for n := 0; ; n++ {
		var counted, there string
		err := conn.QueryRow(ctx, fmt.Sprintf(`select
    (select concat_ws(' ', coalesce(sum(pending), 0), coalesce(sum(processed), 0), coalesce(sum(dead_letter), 0)) from pgtrickle.%s_stats),
    (select concat_ws(' ', count(*) filter (where processed_at is null and retry_count < 3), count(processed_at),
            count(*) filter (where processed_at is null and retry_count >= 3)) from pgtrickle.%[1]s)`, w.inbox)).Scan(&counted, &there)
		if err != nil {
			return err
		}
		if counted != there {
			return fmt.Errorf("check %d: counted %s, there are %s", n, counted, there)
		}
		select {
		case <-w.done:
			w.t.Logf("%d checks under load", n)
			return nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// count is the reckoning at the end.
func (w *work) count() {
	w.t.Helper()
	got := pgtest.Rows(w.t, w.db, fmt.Sprintf(`select count(*), count(processed_at), count(e.event_id), count(*) filter (where processed_at is null)
from pgtrickle.%s full join effects e using (event_id)`, w.inbox))
	want := fmt.Sprint(messages)
	if fmt.Sprint(got) != fmt.Sprintf("[[%s %s %s 0]]", want, want, want) {
		w.t.Errorf("messages, processed, effects, left: %v", got)
	}
	for _, worker := range pgtest.Rows(w.t, w.db, "select worker, count(*) from effects group by 1 order by 1") {
		w.t.Logf("worker %s: %s", worker[0], worker[1])
	}
	if len(pgtest.Rows(w.t, w.db, fmt.Sprintf("select from pgtrickle.inbox_claim('%s', 1)", w.inbox))) > 0 {
		w.t.Error("something is still claimable")
	}
}
