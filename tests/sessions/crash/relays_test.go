package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// relaySpec is the spec of a service that takes messages in and publishes their results.
const relaySpec = `
version: 1
extension: {name: orders, version: 1.0.0}
schema: [schema.sql]
inboxes: [{name: commands}]
outboxes: [{name: events, ordering_key: aggregate_id}, {name: audit}]
stream_tables:
  - name: placed
    schedule: 100ms
    outbox: true
    query: |
      select o.id, a.id as account, o.n from orders o join accounts a on a.id = o.account
consumer_groups:
  - {name: relays, outbox: events, auto_offset_reset: earliest}
  - {name: auditors, outbox: audit, auto_offset_reset: earliest}
  - {name: followers, outbox: placed, auto_offset_reset: earliest}
`

const relaySchema = `
create table accounts (id text primary key, n int not null default 0);
create table orders (id text primary key, account text not null, n int not null);
`

// relayRun is a server with the whole way at work: inbox, worker, outboxes, relays.
type relayRun struct {
	*run
	received atomic.Int64 // messages whose commit was acknowledged
	enough   atomic.Bool  // no more come in
}

// relaySetup is what a worker finds and does: all of it in one transaction.
var relaySetup = []string{
	"insert into accounts select 'account' || i from generate_series(0, 7) i",
	`create function work() returns bigint language plpgsql as $$
declare
    v_message text;
    v_account text;
    v_n       int;
    v_count   bigint := 0;
begin
    for v_message in select event_id from pgtrickle.inbox_claim('commands', 3) loop
        v_account := 'account' || (hashtext(v_message) & 7);
        update accounts set n = n + 1 where id = v_account returning n into v_n;
        insert into orders values (v_message, v_account, v_n);
        perform pgtrickle.outbox_publish('events', 'ordered', jsonb_build_object('id', v_message, 'n', v_n), v_account);
        perform pgtrickle.outbox_publish('audit', 'ordered', jsonb_build_object('id', v_message, 'n', 0));
        perform pgtrickle.inbox_mark_processed('commands', v_message);
        v_count := v_count + 1;
    end loop;
    return v_count;
end;
$$`,
}

// TestRelays takes messages in, does their work and publishes what came of it in one transaction, and has three relays of each
// of three groups tell a broker, while relays, server processes and the server are killed. One group follows a stream table over the orders.
// Every order must reach each broker, those of one account in their order, and again only where a lease has ended.
func TestRelays(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	t.Logf("seed %d", seed)
	r := startRelays(t, seed)
	events, audit, placed := &broker{seen: map[string]int{}, latest: map[string]int{}}, &broker{seen: map[string]int{}}, &broker{seen: map[string]int{}}
	r.go_(r.receive)
	for range 2 {
		r.go_(r.work)
	}
	for n := range 3 {
		r.go_(r.relay("relays", n, "", events))
		r.go_(r.relay("auditors", n, "", audit))
		r.go_(r.relay("followers", n, ", jsonb_array_elements(p.payload->'inserted') change", placed))
	}
	r.go_(r.tick)
	each := pgtest.ShortOrLong(3, 5)
	for n := range pgtest.ShortOrLong(4, 25) { // of the whole server, but for every third or fifth, of one of its processes
		r.awaitReceived(int64(20 * (n + 1)))
		time.Sleep(time.Duration(r.rand.IntN(300)) * time.Millisecond) // the random moment
		if err := r.killAny(n%each != each-1); err != nil {
			t.Fatal(err)
		}
	}
	r.enough.Store(true)
	r.awaitIdle()
	close(r.stop)
	r.traffic.Wait()
	r.reckon(events, audit, placed)
}

func startRelays(t *testing.T, seed uint64) *relayRun {
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{
		Version: os.Getenv("SLUICE_TEST_PG"), Durable: true,
		Settings: map[string]string{"shared_buffers": "16MB", "restart_after_crash": "on", "deadlock_timeout": "20ms"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	conn := pgtest.Connect(t, server.DSN("postgres"))
	dir := t.TempDir()
	for name, text := range map[string]string{"spec.yaml": relaySpec, "schema.sql": relaySchema} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	extension := installed.Load(t, filepath.Join(dir, "spec.yaml"))
	for _, sql := range append([]string{relaySchema, extension.Install(generator.Plain), extension.Fill()}, relaySetup...) {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	return &relayRun{run: &run{t: t, server: server, rand: rand.New(rand.NewPCG(seed, 1)), stop: make(chan struct{})}}
}

// receive stores a message; the next has another id only if the commit was acknowledged.
func (r *relayRun) receive(conn *pgx.Conn) error {
	if r.enough.Load() {
		time.Sleep(time.Millisecond)
		return nil
	}
	_, err := conn.Exec(context.Background(), "select pgtrickle.inbox_receive('commands', $1, 'buy', '{}')", fmt.Sprint("m", r.received.Load()))
	if err == nil {
		r.received.Add(1)
	}
	return err
}

func (r *relayRun) work(conn *pgx.Conn) error {
	var count int64
	err := conn.QueryRow(context.Background(), "select work()").Scan(&count)
	if count == 0 {
		time.Sleep(time.Millisecond)
	}
	return err
}

// relay returns what one relay of a group does again and again: it polls, publishes to the broker, and commits, unless it dies before. Of a stream
// table's outbox, change names the rows within each.
func (r *relayRun) relay(group string, n int, change string, b *broker) func(*pgx.Conn) error {
	payload, aggregate := "p.payload", "coalesce(p.aggregate_id, '')"
	if change != "" {
		payload, aggregate = "change", "''" // one refresh may have several orders of an account, in no order
	}
	poll := fmt.Sprintf("select %[1]s ->> 'id', %[2]s, (%[1]s ->> 'n')::int, p.attempts, p.id from pgtrickle.poll_outbox($1, $2, $3, 2) p%[3]s", payload, aggregate, change)
	type row struct {
		Key, Aggregate   string
		Number, Attempts int
		ID               int64
	}
	random := rand.New(rand.NewPCG(9, uint64(n)))
	// Whoever starts again, or does not know what a poll granted, goes by another name: no commit of his covers what he left.
	life := 0
	return func(conn *pgx.Conn) (err error) {
		name := fmt.Sprint(group, n, ".", life)
		defer func() {
			if err != nil {
				life++
			}
		}()
		rows, err := conn.Query(context.Background(), poll, group, name, 1+random.IntN(20))
		if err != nil {
			return err
		}
		got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
		if err != nil {
			return err
		}
		if len(got) == 0 {
			time.Sleep(2 * time.Millisecond)
			return nil
		}
		for _, e := range got {
			b.publish(e.Key, e.Aggregate, e.Number, e.Attempts)
		}
		if random.IntN(40) == 0 {
			return errDied
		}
		_, err = conn.Exec(context.Background(), "select pgtrickle.commit_offset($1, $2, $3)", group, name, got[len(got)-1].ID)
		return err
	}
}

var errDied = errors.New("the relay died")

// killAny kills the server, or one of its processes, after which it recovers by itself.
func (r *relayRun) killAny(all bool) error {
	if all {
		if err := r.server.KillAll(); err != nil {
			return err
		}
		return r.server.Restart()
	}
	conn, err := r.connect()
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	var pid int
	err = conn.QueryRow(context.Background(), "select pid from pg_stat_activity where backend_type = 'client backend' order by random() limit 1").Scan(&pid)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

func (r *relayRun) awaitReceived(count int64) {
	pgtest.Becomes(func() bool { return r.received.Load() >= count })
}

// awaitIdle waits until nothing is pending and no group is behind.
func (r *relayRun) awaitIdle() {
	const idle = "select (select count(*) from pgtrickle.commands_pending) + (select sum(lag_rows) from pgtrickle.pgt_consumer_group_lag) = 0 " +
		"and (select count(*) from orders) = (select count(*) from pgtrickle.placed)"
	pgtest.Becomes(func() bool {
		conn, err := r.connect()
		if err != nil {
			return false
		}
		defer conn.Close(context.Background())
		var is bool
		err = conn.QueryRow(context.Background(), idle).Scan(&is)
		return err == nil && is
	})
}

// reckon compares what was acknowledged, what was done, and what the brokers heard.
func (r *relayRun) reckon(brokers ...*broker) {
	conn := pgtest.Connect(r.t, r.server.DSN("postgres"))
	orders := pgtest.Column[string](r.t, conn, "select id from orders")
	r.t.Logf("%d messages, %d orders; %d transactions were ended", r.received.Load(), len(orders), r.trouble.Load())
	if missing := r.received.Load() - pgtest.One[int64](r.t, conn, "select count(*) from orders where substr(id, 2)::int < $1", r.received.Load()); missing != 0 {
		r.t.Errorf("messages without an order: %d", missing)
	}
	for n, b := range brokers {
		r.t.Logf("broker %d heard %d, and %d again", n, len(b.seen), b.again)
		if len(b.wrong) > 0 {
			r.t.Errorf("broker %d: %q", n, b.wrong[:min(5, len(b.wrong))])
		}
		if len(b.seen) != len(orders) {
			r.t.Errorf("broker %d heard of %d orders of %d", n, len(b.seen), len(orders))
		}
		for _, id := range orders {
			if b.seen[id] == 0 {
				r.t.Errorf("broker %d did not hear of %s", n, id)
				break
			}
		}
	}
}
