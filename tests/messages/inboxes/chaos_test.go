package inboxes

import (
	"context"
	"fmt"
	"os"
	"strconv"
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

var chaosSpec = fmt.Sprintf(`
version: 1
extension: {name: work, version: 1.0.0}
inboxes:
  - {name: plain, max_attempts: %[1]d, retry: {initial: 20ms, max: 100ms}}
  - {name: ordered, ordering: {sequence: number}, max_attempts: %[1]d, retry: {initial: 20ms, max: 100ms}}
`, attempts)

// nextSpecs follow it: another inbox and an outbox come and go, and the inboxes keep messages for longer.
var nextSpecs = []string{
	chaosSpec + `
  - {name: more, priority: {tiers: default}}
outboxes:
  - {name: feed}
`,
	chaosSpec + `
  - {name: more, retention: {processed: 1h}}
`,
}

// Sizes of a chaos. SLUICE_TEST_LONG=1 has the large ones; SLUICE_TEST_EVENTS=n has n messages.
const (
	attempts       = 10 // of a message
	visibility     = 300 * time.Millisecond
	chaosReceivers = 4
	setsFree       = 10 // of the aggregates that are blocked from the beginning, one in so many gets its first message in the end
)

// TestChaos lets workers, with claims and with leases, process the messages of an inbox without and of one with an order, beside publishers that send
// them twice and in any order, roll back, and are slow. Workers die, roll back, forget, are too slow, and are killed; some messages kill each worker that
// gets them, others fail once or until an operator replays them; many aggregates wait for a first message, which comes in the end or never. The extension is
// upgraded twice.
//
// Each message that was committed must have its effect once, in the order of its aggregate, those that kill become dead letters and no other, and the
// counts are right at every look.
//
// SLUICE_TEST_SEED=n chooses what the actors do. When they do it is the machine's.
func TestChaos(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	messages := pgtest.ShortOrLong(120, 100_000)
	if n, err := strconv.Atoi(os.Getenv("SLUICE_TEST_EVENTS")); err == nil {
		messages = n
	}
	for _, inbox := range []string{"plain", "ordered"} {
		t.Run(inbox, func(t *testing.T) {
			t.Parallel() // on one server
			t.Logf("seed %d, %d messages", seed, messages)
			newChaos(t, inbox, seed).run(messages)
		})
	}
}

// chaos is an inbox, and who is at work.
type chaos struct {
	t       *testing.T
	db      *pgtest.Database
	inbox   string
	ordered bool
	seed    uint64

	stored   atomic.Int64 // messages
	handled  atomic.Int64
	deaths   atomic.Int64 // of clients
	lost     atomic.Int64 // leases
	looks    atomic.Int64
	over     chan struct{}
	upgrades trouble.Episodes

	mu   sync.Mutex
	late []chaosMessage // to be sent in the end
	met  map[string]int // errors that a retry cured, by code
}

// chaosSetup is what applications have: which messages they have sent, and their effects. A message whose turn it is comes behind those of all lower
// numbers.
var chaosSetup = []string{
	"create table sent (event_id text primary key, aggregate_id text not null, number bigint not null, kind text not null)",
	"create index on sent (aggregate_id, number)",
	"create table effects (event_id text primary key)",
	"create table progress (aggregate_id text primary key, number bigint not null)",
	"create table replayed (event_id text primary key)",
	`create function advance(p_message sent) returns void language plpgsql as $$
begin
    insert into progress as p values (p_message.aggregate_id, p_message.number)
    on conflict (aggregate_id) do update set number = excluded.number where p.number = excluded.number - 1;
    if not found or p_message.number > 1 and not exists (select from sent s where s.aggregate_id = p_message.aggregate_id and s.number = 1) then
        raise exception '% is handled after %', p_message, (select p from progress p where p.aggregate_id = p_message.aggregate_id);
    end if;
end;
$$`,
	`create function handle(p_ids text[], p_ordered boolean) returns void language plpgsql as $$
declare
    v_message sent;
begin
    insert into effects select unnest(p_ids);
    for v_message in select s.* from unnest(p_ids) i (event_id) left join sent s using (event_id) loop
        if v_message.event_id is null or v_message.kind = 'kills' then
            raise exception 'handled, though it was not sent or kills: %', p_ids;
        elsif p_ordered then
            perform advance(v_message);
        end if;
    end loop;
end;
$$`,
}

func newChaos(t *testing.T, inbox string, seed uint64) *chaos {
	c := &chaos{t: t, db: installed.DB(t, installed.Text(t, chaosSpec)), inbox: inbox, ordered: inbox == "ordered", seed: seed, over: make(chan struct{}), met: map[string]int{}}
	for _, sql := range chaosSetup {
		c.db.Exec(t, sql)
	}
	return c
}

// run lets all loose. When all is handled whose turn can come, it sends what is missing, gives up on what kills, and reckons when that is handled.
func (c *chaos) run(messages int) {
	scripts := trouble.Scripts(c.t, append([]string{chaosSpec}, nextSpecs...)...)
	c.block(pgtest.ShortOrLong(100, 20_000))
	var working, receiving sync.WaitGroup
	for n := range pgtest.ShortOrLong(6, 30) {
		c.do(&working, "claimer", n, c.claim)
	}
	for n := range pgtest.ShortOrLong(4, 20) {
		c.do(&working, "leaser", n, c.lease)
	}
	for name, work := range map[string]func(*actor) error{"operator": c.operate, "tick": c.tick, "killer": c.kill, "watch": c.watch} {
		c.do(&working, name, 0, work)
	}
	for n := range chaosReceivers {
		c.do(&receiving, "receiver", n, func(a *actor) error { return c.receive(a, n, messages/chaosReceivers) })
	}
	c.do(&receiving, "upgrade", 0, func(a *actor) error { return c.upgrade(a, scripts, int64(messages)) })
	receiving.Wait()
	c.await("all is handled whose turn can come", false)
	c.look("before the end")
	c.finish()
	c.await("all is handled", true)
	time.Sleep(100 * time.Millisecond) // for what comes again
	close(c.over)
	working.Wait()
	c.reckon()
}

// actor is one that works over a connection, which others may end.
type actor struct {
	*chaos
	ctx  context.Context
	conn *pgx.Conn
	n    int
	name string
}

// do lets an actor work. Where its session ends it begins again over another one.
func (c *chaos) do(wg *sync.WaitGroup, name string, n int, work func(*actor) error) {
	wg.Go(func() {
		a := &actor{chaos: c, ctx: c.t.Context(), n: n, name: name}
		if err := work(a); err != nil && a.ctx.Err() == nil {
			c.t.Errorf("%s %d: %s", name, n, pgtest.ErrorText(err))
		}
	})
}

// try does work, and reports whether it was done. Errors that are left are those that the contract does not allow.
func (a *actor) try(work func() error) (done bool, err error) {
	if a.conn == nil || a.conn.IsClosed() {
		a.conn = a.db.Connect(a.t)
	}
	mark := a.upgrades.Mark()
	err = work()
	code := trouble.Code(err)
	switch {
	case err == nil:
		return true, nil
	case err == errDied, code == "57P01", a.conn.IsClosed(): // what the killer does
		a.conn.Close(a.ctx)
		a.deaths.Add(1)
		return false, nil
	case err == errRolledBack:
		return false, nil
	case trouble.IsOfUpgrade(err) && a.upgrades.Since(mark):
		a.mu.Lock()
		defer a.mu.Unlock()
		a.met[a.name+" "+code]++
		return false, nil
	}
	return false, err
}

func (a *actor) exec(sql string, args ...any) (pgconn.CommandTag, error) {
	return a.conn.Exec(a.ctx, sql, args...)
}

// isOver waits for a while, or until it is over.
func (c *chaos) isOver(pause time.Duration) bool {
	select {
	case <-c.over:
		return true
	case <-time.After(pause):
		return c.t.Failed()
	}
}

// await waits until nothing is left to do for workers, with messages that kill out of the way or not.
func (c *chaos) await(what string, free bool) {
	trouble.Await(c.t, c.handled.Load, what, func() bool {
		time.Sleep(pgtest.ShortOrLong(20*time.Millisecond, time.Second))
		return pgtest.One[bool](c.t, c.db, fmt.Sprintf(`select not exists (
    select from sent s
    where not exists (select from effects e where e.event_id = s.event_id)
      and not exists (select from pgtrickle.%[1]s_dlq d where d.event_id = s.event_id and s.kind = 'kills')
      and not exists (select from pgtrickle.%[1]s i where i.event_id = s.event_id and s.kind = 'kills' and i.processed_at is not null)
      and (not $1 or (select count(*) from sent l where l.aggregate_id = s.aggregate_id and l.number < s.number and (l.kind <> 'kills' or $2)) = s.number - 1))`, c.inbox), c.ordered, free)
	})
}
