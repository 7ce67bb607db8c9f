package groups

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/trouble"
)

// crowd is a group with publishers and consumers at work. What consumers do is done in one transaction with the commit of
// the offset, so every event must have its effect once, whichever session dies.
type crowd struct {
	t         *testing.T
	db        *pgtest.Database
	effect    string       // a statement that does the work: $1 is ids, $2 keys, $3 payloads
	published atomic.Int64 // events whose transaction was committed
	handled   atomic.Int64
	delivered atomic.Int64
	lost      atomic.Int64 // delivered, and not committed
	done      chan struct{}
}

func newCrowd(t *testing.T, outbox, effect string, setup ...string) *crowd {
	c := &crowd{t: t, db: installed.DB(t, installed.Text(t, spec)), effect: effect, done: make(chan struct{})}
	c.db.Exec(t, "create table effects (id bigint primary key)")
	c.db.Exec(t, "update pgtrickle.pgt_settings set value = '60000' where name = 'poll_wait_ms'") // however busy the machine is
	c.db.Exec(t, "select pgtrickle.create_consumer_group('g', $1, 'earliest')", outbox)
	for _, sql := range setup {
		c.db.Exec(t, sql)
	}
	return c
}

// row is an event as a consumer gets it.
type row struct {
	ID       int64
	Key      *string
	Payload  int64
	Attempts int
}

// poll polls outside of any transaction of the consumer's own.
func (c *crowd) poll(ctx context.Context, conn *pgx.Conn, name string, batch int) ([]row, error) {
	rows, err := conn.Query(ctx, "select id, aggregate_id, (payload ->> 'n')::bigint, attempts from pgtrickle.poll_outbox('g', $1, $2, 2)", name, batch)
	if err != nil {
		return nil, err
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	c.delivered.Add(int64(len(got)))
	return got, err
}

// work has the effect and commits the offset; it reports whether the rows were still the consumer's.
func (c *crowd) work(ctx context.Context, conn *pgx.Conn, name string, rows []row, die bool) (kept bool, err error) {
	var ids, payloads []int64
	var keys []*string
	for _, r := range rows {
		ids, keys, payloads = append(ids, r.ID), append(keys, r.Key), append(payloads, r.Payload)
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var last int64
		if err := tx.QueryRow(ctx, "select pgtrickle.commit_offset('g', $1, $2)", name, ids[len(ids)-1]).Scan(&last); err != nil {
			return err
		}
		if kept = last == ids[len(ids)-1]; !kept {
			return fmt.Errorf("%s: commit of %v returned %d", name, ids, last)
		}
		_, err := tx.Exec(ctx, c.effect, ids, keys, payloads)
		if err == nil && die {
			kept = false
			conn.PgConn().Conn().Close() // as the kernel does for a process that is gone
		}
		return err
	})
	if leaseLost(err) || die {
		kept, err = false, nil
	}
	return kept, err
}

// leaseLost reports whether an error rolls the work back.
func leaseLost(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && failed.Code == "55000" && strings.HasPrefix(failed.Message, "lease lost: ")
}

// consume polls and works until all is handled. A mortal consumer dies now and then, and comes back under its name; in the end it stays away.
func (c *crowd) consume(ctx context.Context, n int, mortal bool, batch int) error {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	name, conn := fmt.Sprint("c", n), c.db.Connect(c.t)
	defer func() { conn.Close(ctx) }()
	for lives := 4; lives > 0; {
		rows, err := c.poll(ctx, conn, name, 1+r.IntN(batch))
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			select {
			case <-c.done:
				return nil
			case <-time.After(2 * time.Millisecond):
			}
			continue
		}
		die := mortal && r.IntN(15) == 0
		if die && r.IntN(2) == 0 { // before it has begun
			conn.PgConn().Conn().Close()
			c.lost.Add(int64(len(rows)))
		} else {
			kept, err := c.work(ctx, conn, name, rows, die)
			if err != nil {
				return err
			}
			if kept {
				c.handled.Add(int64(len(rows)))
			} else {
				c.lost.Add(int64(len(rows)))
			}
		}
		if die {
			lives--
			conn = c.db.Connect(c.t)
		}
	}
	return nil
}

// run lets publishers and consumers loose, a third of which are mortal, beside a transaction that wrote elsewhere and stays.
func (c *crowd) run(consumers, batch int, publishers int, publish func(ctx context.Context, conn *pgx.Conn, n int, r *rand.Rand) error) {
	ctx := c.t.Context()
	old := c.db.Connect(c.t)
	if _, err := old.Exec(ctx, "begin; create temp table elsewhere (n int)"); err != nil {
		c.t.Fatal(err)
	}
	var writing, working sync.WaitGroup
	check := func(err error) {
		if err != nil {
			c.t.Error(pgtest.ErrorText(err))
		}
	}
	for n := range publishers {
		conn := c.db.Connect(c.t)
		writing.Go(func() { check(publish(ctx, conn, n, rand.New(rand.NewPCG(5, uint64(n))))) })
	}
	for n := range consumers {
		working.Go(func() { check(c.consume(ctx, n, n%3 == 0, batch)) })
	}
	ticker := c.db.Connect(c.t)
	working.Go(func() {
		for {
			select {
			case <-c.done:
				return
			case <-time.After(50 * time.Millisecond):
				for _, sql := range []string{"update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'", "call pgtrickle.tick()"} {
					_, err := ticker.Exec(ctx, sql)
					check(err)
				}
			}
		}
	})
	writing.Wait()
	trouble.Await(c.t, c.handled.Load, "all is handled", func() bool { return c.handled.Load() >= c.published.Load() })
	time.Sleep(50 * time.Millisecond) // for what comes twice
	close(c.done)
	working.Wait()
	c.count()
}

// count is the reckoning.
func (c *crowd) count() {
	c.t.Helper()
	c.t.Logf("%d published, %d delivered, %d of them in vain", c.published.Load(), c.delivered.Load(), c.lost.Load())
	if c.handled.Load() != c.published.Load() || c.delivered.Load() != c.handled.Load()+c.lost.Load() {
		c.t.Errorf("%d published, %d handled, %d delivered, %d of them in vain", c.published.Load(), c.handled.Load(), c.delivered.Load(), c.lost.Load())
	}
	if failed := pgtest.Column[string](c.t, c.db, "select last_error from pgtrickle_internal.pgt_tasks where last_error is not null"); len(failed) > 0 {
		c.t.Errorf("tasks failed: %q", failed)
	}
}

// crowdEvents are those of each publisher of a crowd.
var crowdEvents = pgtest.ShortOrLong(1500, 25_000)

// TestCrowd has ten consumers share events that come out of order, with transactions rolled back between them.
func TestCrowd(t *testing.T) {
	c := newCrowd(t, "feed", handled)
	c.run(10, 400, 4, c.publish("feed", nil))
	want := fmt.Sprintf("[[%d %[1]d %[1]d]]", 4*crowdEvents)
	if got := pgtest.Rows(t, c.db, "select count(*), count(e.id), count(o.id) from effects e full join pgtrickle.outbox_feed o using (id)"); fmt.Sprint(got) != want {
		t.Errorf("events and effects, effects, events: %v", got)
	}
}

// TestCrowdOnSegments does the same while retention drops what all have consumed, as every event is old when it comes.
func TestCrowdOnSegments(t *testing.T) {
	c := newCrowd(t, "cut", handled, "alter table pgtrickle.outbox_cut alter created_at set default '2000-01-01'")
	c.run(10, 400, 4, c.publish("cut", kept(t, "cut")))
	if got := pgtest.One[int64](t, c.db, "select count(*) from effects"); got != c.published.Load() {
		t.Errorf("%d effects", got)
	}
	c.dropped("cut")
}

// dropped fails if all events are there still, so that the test would not have shown anything.
func (c *crowd) dropped(outbox string) {
	c.t.Helper()
	if left := pgtest.One[int64](c.t, c.db, "select count(*) from pgtrickle.outbox_"+outbox); left > c.published.Load()/2 {
		c.t.Errorf("retention did not drop segments beside them: %d events are left", left)
	}
}

const handled = "insert into effects select unnest($1::bigint[]) where $2::text[] is not null and $3::bigint[] is not null"

// publish is a publisher of crowdEvents, and of more for up to a minute while goOn says so.
func (c *crowd) publish(outbox string, goOn func(*crowd, *pgx.Conn) bool) func(ctx context.Context, conn *pgx.Conn, n int, r *rand.Rand) error {
	return func(ctx context.Context, conn *pgx.Conn, n int, r *rand.Rand) error {
		until := time.Now().Add(time.Minute)
		for left := crowdEvents; left > 0 || goOn != nil && time.Now().Before(until) && goOn(c, conn); {
			count := min(max(left, 1), 1+r.IntN(400))
			_, err := conn.Exec(ctx, fmt.Sprintf(`begin;
insert into pgtrickle.outbox_%[1]s (event_type, payload) select 't', jsonb_build_object('n', i) from generate_series(1, %[2]d) i;
savepoint s; select pgtrickle.outbox_publish('%[1]s', 't', '{"n": 0}'); rollback to s`, outbox, count))
			if err != nil {
				return err
			}
			end := "commit"
			switch k := r.IntN(10); {
			case k == 0:
				end, count = "rollback", 0
			case k == 1:
				time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond)
			case k == 2:
				end = fmt.Sprintf("prepare transaction 'crowd %d'; commit prepared 'crowd %[1]d'", n)
			}
			for _, sql := range pgtest.Split(end) {
				if _, err := conn.Exec(ctx, sql); err != nil {
					return err
				}
			}
			left -= count
			c.published.Add(int64(count))
		}
		return nil
	}
}

// TestOrderPerKey has publishers number the events of each key under the lock of its row, as applications do. Six consumers,
// of which two are mortal, must handle each key's numbers one after the other.
func TestOrderPerKey(t *testing.T) { orderPerKey(t, "keyed", nil) }

// TestOrderPerKeyOnSegments does the same while retention drops what was handled.
func TestOrderPerKeyOnSegments(t *testing.T) {
	orderPerKey(t, "cut_keyed", kept(t, "cut_keyed"), "alter table pgtrickle.outbox_cut_keyed alter created_at set default '2000-01-01'").dropped("cut_keyed")
}

// kept reports whether retention has not dropped most events: on a busy machine ticks are seldom, and publishers go on until they have.
func kept(t *testing.T, outbox string) func(c *crowd, conn *pgx.Conn) bool {
	return func(c *crowd, conn *pgx.Conn) bool {
		var left int64
		if err := conn.QueryRow(t.Context(), "select count(*) from pgtrickle.outbox_"+outbox).Scan(&left); err != nil {
			t.Error(err)
		}
		time.Sleep(100 * time.Millisecond) // ticks come every 50 milliseconds, and find the segments free only between polls
		return left > c.published.Load()/3
	}
}

// orderPerKey publishes at least so many transactions, and more for up to a minute while goOn says so.
func orderPerKey(t *testing.T, outbox string, goOn func(*crowd, *pgx.Conn) bool, setup ...string) *crowd {
	const publishers, transactions = 6, 150
	setup = append(setup,
		"create table entities (key text primary key, n bigint not null default 0, handled bigint not null default 0)",
		"create table progress (key text primary key, n bigint not null)",
		"insert into entities select 'k' || i from generate_series(1, 30) i; insert into progress select key, 0 from entities",
		`create function handle(p_ids bigint[], p_keys text[], p_numbers bigint[]) returns void language plpgsql as $$
begin
    for i in 1..cardinality(p_ids) loop
        update progress set n = p_numbers[i] where key = p_keys[i] and n = p_numbers[i] - 1;
        if not found then
            raise exception 'key %: % is handled after %', p_keys[i], p_numbers[i], (select n from progress where key = p_keys[i]);
        end if;
    end loop;
end;
$$`)
	c := newCrowd(t, outbox, "select handle($1, $2, $3)", setup...)
	c.run(6, 40, publishers, func(ctx context.Context, conn *pgx.Conn, n int, r *rand.Rand) error {
		until := time.Now().Add(time.Minute)
		for done := 0; done < transactions || goOn != nil && time.Now().Before(until) && goOn(c, conn); done++ {
			count := 0
			tx, err := conn.Begin(ctx)
			if err != nil {
				return err
			}
			for key := 1 + r.IntN(10); key <= 30; key += 1 + r.IntN(15) { // always upwards: no deadlocks
				_, err := tx.Exec(ctx, fmt.Sprintf(`with entity as (update entities set n = n + 1 where key = 'k%d' returning key, n)
insert into pgtrickle.outbox_%s (event_type, aggregate_id, payload) select 't', key, jsonb_build_object('n', n) from entity`, key, outbox))
				if err != nil {
					return err
				}
				count++
				time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
			}
			if r.IntN(8) == 0 {
				err, count = tx.Rollback(ctx), 0
			} else {
				err = tx.Commit(ctx)
			}
			if err != nil {
				return err
			}
			c.published.Add(int64(count))
		}
		return nil
	})
	if behind := pgtest.Rows(t, c.db, "select e.key, e.n, p.n from entities e join progress p using (key) where e.n <> p.n"); len(behind) > 0 {
		t.Errorf("keys, what was published, what was handled: %v", behind)
	}
	return c
}

// TestTakingTurns has two consumers poll in turns: each of 10,000 events comes once.
func TestTakingTurns(t *testing.T) {
	c := newCrowd(t, "feed", "")
	c.db.Exec(t, "insert into pgtrickle.outbox_feed (event_type, payload) select 't', jsonb_build_object('n', i) from generate_series(1, 10000) i")
	seen := map[int64]bool{}
	first, second := c.db.Connect(t), c.db.Connect(t)
	for turn := 0; ; turn++ {
		conn, name := first, "first"
		if turn%2 == 1 {
			conn, name = second, "second"
		}
		rows, err := c.poll(t.Context(), conn, name, 97)
		if err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			if seen[r.ID] || r.Attempts != 1 {
				t.Fatalf("%d comes again: attempt %d", r.ID, r.Attempts)
			}
			seen[r.ID] = true
		}
		pgtest.One[int64](t, conn, "select pgtrickle.commit_offset('g', $1, $2)", name, rows[len(rows)-1].ID)
	}
	if len(seen) != 10_000 {
		t.Errorf("%d of 10000", len(seen))
	}
}
