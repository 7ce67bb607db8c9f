package groups

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// Sizes of a chaos. SLUICE_TEST_LONG=1 has many events in each and all of its consumers; SLUICE_TEST_EVENTS=n has n events.
const (
	chaosEvents     = 400
	manyEvents      = 100_000
	chaosConsumers  = 50
	fewConsumers    = 12
	chaosPublishers = 5
	visibility      = 3 * time.Second
)

// TestChaos has consumers with names that stay work on an outbox of each kind, beside publishers that stay idle, are prepared and forgotten, are
// rolled back, and are slow. Some consumers ask for event types. Clients are killed before they commit, while they do, and for good. While the idle ones stay, all else must be
// handled; nothing is lost, nothing has its effect twice or comes again while a lease runs, and the lag is right at every look.
//
// What they do follows from a seed (SLUICE_TEST_SEED=n), when they do it does not.
func TestChaos(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	events, consumers := int64(chaosEvents), fewConsumers
	if pgtest.Long() {
		events, consumers = manyEvents, chaosConsumers
	}
	if n, err := strconv.ParseInt(os.Getenv("SLUICE_TEST_EVENTS"), 10, 64); err == nil {
		events, consumers = n, chaosConsumers
	}
	for _, outbox := range []string{"feed", "keyed", "cut", "cut_keyed"} {
		t.Run(outbox, func(t *testing.T) {
			t.Logf("seed %d, %d events, %d consumers", seed, events, consumers)
			newChaos(t, outbox, seed).run(events, consumers)
		})
	}
}

// chaos is an outbox with a group on it, and who is at work.
type chaos struct {
	t      *testing.T
	db     *pgtest.Database
	outbox string
	keyed  bool
	seed   uint64

	wanted    int64        // events that load publishers are to commit
	published atomic.Int64 // those that they have
	handled   atomic.Int64
	looks     atomic.Int64
	killed    atomic.Int64
	over      chan struct{}
	ledger    ledger
}

// chaosSetup is what applications have: what an event stands for, whose lock the session that publishes it has, and what handling it does.
var chaosSetup = []string{
	"create table entities (key text primary key, n bigint not null default 0)",
	"create table effects (id bigint primary key, key text not null, n bigint not null)",
	"create table progress (key text primary key, n bigint not null)",
	"insert into entities select 'k' || i from generate_series(1, 40) i; insert into progress select key, 0 from entities",
	`create function handle(p_ids bigint[], p_keys text[], p_numbers bigint[], p_ordered boolean) returns void language plpgsql as $$
begin
    insert into effects select * from unnest(p_ids, p_keys, p_numbers);
    for i in 1..case when p_ordered then cardinality(p_ids) else 0 end loop
        update progress set n = p_numbers[i] where key = p_keys[i] and n = p_numbers[i] - 1;
        if not found then
            raise exception 'key %: % is handled after %', p_keys[i], p_numbers[i], (select n from progress where key = p_keys[i]);
        end if;
    end loop;
end;
$$`,
	`create procedure publish(p_outbox text, p_keys text[]) language plpgsql as $$
declare
    v_key text;
    v_n   bigint;
begin
    foreach v_key in array p_keys loop
        update entities set n = n + 1 where key = v_key returning n into v_n;
        perform pgtrickle.outbox_publish(p_outbox, 't' || v_n % 3, jsonb_build_object('n', v_n), v_key);
    end loop;
end;
$$`,
}

func newChaos(t *testing.T, outbox string, seed uint64) *chaos {
	c := &chaos{t: t, db: installed.DB(t, installed.Text(t, spec)), outbox: outbox, keyed: outbox == "keyed" || outbox == "cut_keyed", seed: seed, over: make(chan struct{})}
	c.ledger.rows = map[int64]delivery{}
	for _, sql := range chaosSetup {
		c.db.Exec(t, sql)
	}
	c.db.Exec(t, "select pgtrickle.create_consumer_group('g', $1, 'earliest', 1000)", outbox)
	return c
}

// random is that of one actor.
func (c *chaos) random(actor string, n int) *rand.Rand {
	h := uint64(n)
	for _, r := range actor {
		h = h*131 + uint64(r)
	}
	return rand.New(rand.NewPCG(c.seed, h))
}

// run lets all loose, and reckons when all is handled.
func (c *chaos) run(events int64, consumers int) {
	ctx := c.t.Context()
	c.wanted = events
	stayers := c.stay(ctx)
	var publishing, working sync.WaitGroup
	do := func(wg *sync.WaitGroup, work func(context.Context, *pgx.Conn) error) {
		conn := c.db.Connect(c.t)
		wg.Go(func() {
			if err := work(ctx, conn); err != nil && ctx.Err() == nil {
				c.t.Error(pgtest.ErrorText(err))
			}
		})
	}
	for n := range chaosPublishers {
		do(&publishing, func(ctx context.Context, conn *pgx.Conn) error { return c.publish(ctx, conn, n) })
	}
	for n := range consumers {
		working.Go(func() {
			if err := c.consume(ctx, n); err != nil && ctx.Err() == nil {
				c.t.Error(pgtest.ErrorText(err))
			}
		})
	}
	do(&working, c.watch)
	do(&working, c.tick)
	do(&working, c.kill)
	publishing.Wait()
	await(c.t, &c.handled, "published", func() bool { return c.handled.Load() >= c.published.Load() })
	gaps := pgtest.One[int](c.t, c.db, "select count(*) from pgtrickle_internal.pgt_lease_log where state = 'gap'")
	left := stayers(ctx)
	await(c.t, &c.handled, "published", func() bool { return c.handled.Load() >= c.published.Load()+left })
	time.Sleep(100 * time.Millisecond) // for what comes again
	close(c.over)
	working.Wait()
	c.reckon(c.published.Load()+left, gaps)
}

// await fails when nothing has been handled for a minute: how long all of it takes is the machine's.
func await(t *testing.T, handled *atomic.Int64, what string, done func() bool) {
	t.Helper()
	last, since := handled.Load(), time.Now()
	for ; !done() && !t.Failed(); time.Sleep(5 * time.Millisecond) {
		if now := handled.Load(); now > last {
			last, since = now, time.Now()
		}
		if time.Since(since) > time.Minute {
			t.Errorf("not all %s events are handled, but %d", what, last)
			return
		}
	}
}

// reckon compares what there is with what was done.
func (c *chaos) reckon(events int64, gaps int) {
	c.t.Helper()
	c.t.Logf("%d events, %d deliveries, of which %d again; %d clients killed, %d looks at the lag; %d gaps beside the idle", events, c.ledger.all, c.ledger.again, c.killed.Load(), c.looks.Load(), gaps)
	got := pgtest.Rows(c.t, c.db, fmt.Sprintf("select count(*), count(e.id), count(o.id) from effects e full join pgtrickle.outbox_%s o using (id)", c.outbox))
	if want := fmt.Sprintf("[[%d %[1]d %[1]d]]", events); fmt.Sprint(got) != want {
		c.t.Errorf("events and effects, effects, events: %v instead of %s", got, want)
	}
	if gaps > 40 {
		c.t.Errorf("%d gaps beside a few idle publishers", gaps)
	}
	if failed := pgtest.Column[string](c.t, c.db, "select last_error from pgtrickle_internal.pgt_tasks where last_error is not null"); len(failed) > 0 {
		c.t.Errorf("tasks failed: %q", failed)
	}
	for range 3 { // nothing is left, not even gaps
		time.Sleep(50 * time.Millisecond)
		pgtest.Column[int64](c.t, c.db, "select id from pgtrickle.poll_outbox('g', 'last', 10)")
	}
	state := pgtest.Rows(c.t, c.db, "select lag_rows, max_id - committed_offset from pgtrickle.pgt_consumer_group_lag where group_name = 'g'")
	if fmt.Sprint(state) != "[[0 0]]" {
		c.t.Errorf("lag, and ids that are not committed: %v", state)
	}
}
