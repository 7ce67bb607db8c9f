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
	"github.com/pgsluice/sluice/tests/kit/trouble"
)

// Sizes of a chaos. SLUICE_TEST_LONG=1 has many events in each and all of its consumers; SLUICE_TEST_EVENTS=n has n events.
const (
	chaosEvents     = 200
	manyEvents      = 100_000
	chaosConsumers  = 50
	fewConsumers    = 12
	chaosPublishers = 5
	visibility      = 2 * time.Second
	pollWait        = 250 * time.Millisecond // of a poll for others
	attempts        = 10                     // of an event
	alone           = attempts / 2           // from then on it comes alone
	failovers       = 1
	manyFailovers   = 4
)

// idle is how many milliseconds consumers wait at most that got nothing.
var idle = pgtest.ShortOrLong(80, 10)

// TestChaos has consumers with names that stay work on an outbox of each kind, beside publishers that stay idle, are prepared and forgotten, are
// rolled back, and are slow. Some consumers ask for event types. Clients are killed before they commit, while they do, and for good; some events kill
// each client that gets them. Some polls stay open. The extension is upgraded, and the sequence of ids is set back.
//
// While the idle publishers stay, all else must be handled; nothing is lost, nothing has its effect twice or comes again while a lease runs, the lag is
// right at every look, and the events that kill become dead letters, and no other.
//
// SLUICE_TEST_SEED=n chooses what the actors do. When they do it is the machine's.
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
			if consumers == fewConsumers {
				t.Parallel() // on one server
			}
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
	killers   atomic.Int64 // those that kill
	left      int64        // events of those that stayed idle
	handled   atomic.Int64
	looks     atomic.Int64
	killed    atomic.Int64
	stayed    atomic.Int64 // polls that stayed open
	over      chan struct{}
	ledger    ledger

	serving  sync.RWMutex // publishers hold it to read while they are in a transaction
	polling  sync.RWMutex // consumers hold it to read while they poll
	spare    atomic.Int64 // ids that may be drawn while the sequence is set back
	upgrades trouble.Episodes
	setBacks trouble.Episodes
	mu       sync.Mutex
	met      map[string]int // errors that a retry cured, by code
}

// chaosSetup is what applications have: what an event stands for, whose lock the session that publishes it has, and what handling it does. An event that
// kills comes behind the event of its number, and has an effect never; in an ordered outbox the next number comes when it is a dead letter.
var chaosSetup = []string{
	"create table entities (key text primary key, n bigint not null default 0)",
	"create table published (key text, n bigint, primary key (key, n))",
	"create table effects (id bigint not null, key text, n bigint, primary key (key, n))",
	"create table killers (no bigint primary key, key text not null, n bigint not null, id bigint not null)",
	"create index on killers (key, n); create sequence killer_numbers",
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
        perform from killers k where k.key = p_keys[i] and k.n < p_numbers[i] and k.n > p_numbers[i] - 100
            and not exists (select from pgtrickle.pgt_consumer_dead_letters d where d.group_name = 'g' and d.id = k.id);
        if found then
            raise exception 'key %: % is handled before one that kills', p_keys[i], p_numbers[i];
        end if;
    end loop;
end;
$$`,
	`create procedure publish(p_outbox text, p_keys text[]) language plpgsql as $$
declare
    v_name text;
    v_key text;
    v_n   bigint;
    v_no  bigint;
begin
    foreach v_name in array p_keys loop
        update entities set n = n + 1 where key = rtrim(v_name, '!') returning key, n into v_key, v_n;
        insert into published values (v_key, v_n);
        perform pgtrickle.outbox_publish(p_outbox, 't' || v_n % 3, jsonb_build_object('n', v_n), v_key);
        if v_name like '%!' then
            v_no := nextval('killer_numbers');
            insert into killers
            values (v_no, v_key, v_n, pgtrickle.outbox_publish(p_outbox, 't' || v_n % 3, jsonb_build_object('n', v_n, 'killer', v_no), v_key));
        end if;
    end loop;
end;
$$`,
}

func newChaos(t *testing.T, outbox string, seed uint64) *chaos {
	c := &chaos{t: t, db: installed.DB(t, installed.Text(t, spec)), outbox: outbox, keyed: outbox == "keyed" || outbox == "cut_keyed", seed: seed, over: make(chan struct{}), met: map[string]int{}}
	c.ledger.rows, c.ledger.held = map[identity]delivery{}, map[string][]identity{}
	for _, sql := range chaosSetup {
		c.db.Exec(t, sql)
	}
	c.db.Exec(t, "update pgtrickle.pgt_settings set value = $1 where name = 'poll_wait_ms'", strconv.FormatInt(pollWait.Milliseconds(), 10))
	c.db.Exec(t, "select pgtrickle.create_consumer_group('g', $1, 'earliest', $2)", outbox, attempts)
	return c
}

// random is that of one actor.
func (c *chaos) random(actor string, n int) *rand.Rand {
	return trouble.Random(c.seed, actor, n)
}

// run lets all loose, and reckons when all is handled. Of the events, half are published while the idle ones stay, and half while the sequence is set back.
func (c *chaos) run(events int64, consumers int) {
	ctx := c.t.Context()
	c.wanted = events
	scripts := trouble.Scripts(c.t, append([]string{spec}, nextSpecs...)...)
	stayers := c.stay(ctx)
	var working, troubles sync.WaitGroup
	for n := range consumers {
		working.Go(func() {
			if err := c.consume(ctx, n); err != nil && ctx.Err() == nil {
				c.t.Error(pgtest.ErrorText(err))
			}
		})
	}
	c.do(&working, c.watch)
	c.do(&working, c.tick)
	c.do(&working, c.kill)
	c.do(&troubles, func(ctx context.Context, conn *pgx.Conn) error { return c.upgrade(ctx, conn, scripts[0], events/4) })
	c.load(events / 2)
	trouble.Await(c.t, c.ledger.count, "all is handled", func() bool { return c.handled.Load() >= c.published.Load() })
	gaps := pgtest.One[int](c.t, c.db, "select count(*) from pgtrickle_internal.pgt_lease_log where state = 'gap'")
	c.left = stayers(ctx)
	c.do(&troubles, func(ctx context.Context, conn *pgx.Conn) error { return c.failOver(ctx, conn, events/2, events) })
	c.do(&troubles, func(ctx context.Context, conn *pgx.Conn) error { return c.upgrade(ctx, conn, scripts[1], events*3/4) })
	c.load(events)
	troubles.Wait()
	trouble.Await(c.t, c.ledger.count, "all is handled", func() bool {
		return c.handled.Load() >= c.published.Load()+c.left && c.dead(ctx, c.db) >= c.killers.Load()
	})
	time.Sleep(100 * time.Millisecond) // for what comes again
	close(c.over)
	working.Wait()
	c.reckon(c.published.Load()+c.left, gaps)
}

// do lets an actor work over a connection of its own.
func (c *chaos) do(wg *sync.WaitGroup, work func(context.Context, *pgx.Conn) error) {
	ctx, conn := c.t.Context(), c.db.Connect(c.t)
	wg.Go(func() {
		if err := work(ctx, conn); err != nil && ctx.Err() == nil {
			c.t.Error(pgtest.ErrorText(err))
		}
	})
}

// load lets publishers publish until there are so many events.
func (c *chaos) load(until int64) {
	var publishing sync.WaitGroup
	for n := range chaosPublishers {
		c.do(&publishing, func(ctx context.Context, conn *pgx.Conn) error { return c.publish(ctx, conn, n, until) })
	}
	publishing.Wait()
}

// reckon compares what there is with what was done.
func (c *chaos) reckon(events int64, gaps int) {
	c.t.Helper()
	c.t.Logf("%d events and %d that kill, %d deliveries, of which %d again; %d clients killed, %d polls stayed open, %d looks at the lag; %d gaps beside the idle; errors that a retry cured: %v",
		events, c.killers.Load(), c.ledger.all, c.ledger.again, c.killed.Load(), c.stayed.Load(), c.looks.Load(), gaps, c.met)
	got := pgtest.Rows(c.t, c.db, "select count(*), count(e.id), count(p.no) from effects e full join (select key, n, 1 as no from published) p using (key, n)")
	if want := fmt.Sprintf("[[%d %[1]d %[1]d]]", events); fmt.Sprint(got) != want {
		c.t.Errorf("events and effects, effects, events: %v instead of %s", got, want)
	}
	dead := pgtest.Rows(c.t, c.db, `select count(*), count(k.no), count(d.id), min(d.attempts), max(d.attempts)
from killers k full join (select * from pgtrickle.pgt_consumer_dead_letters where group_name = 'g') d using (id)`)
	if want := fmt.Sprintf("[[%d %[1]d %[1]d %d %[2]d]]", c.killers.Load(), attempts); fmt.Sprint(dead) != want {
		c.t.Errorf("events that kill and dead letters, both, attempts from, to: %v instead of %s", dead, want)
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
	state := pgtest.Rows(c.t, c.db, "select lag_rows, greatest(max_id - committed_offset, 0) from pgtrickle.pgt_consumer_group_lag where group_name = 'g'")
	if fmt.Sprint(state) != "[[0 0]]" {
		c.t.Errorf("lag, and ids that are not committed: %v", state)
	}
}
