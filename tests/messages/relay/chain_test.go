package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// chain is databases, a broker and the relays between them.
type chain struct {
	t      *testing.T
	server *commandtest.Server
	broker *broker
	paths  []string
	relays []*running
}

const shopChain = `
version: 1
extension: {name: shop, version: 1.0.0}
outboxes: [{name: orders, ordering_key: aggregate_id}]
consumer_groups: [{name: g, outbox: orders, auto_offset_reset: earliest}]
`

const ledgerChain = `
version: 1
extension: {name: ledger, version: 1.0.0}
schema: [schema.sql]
inboxes: [{name: orders}]
outboxes: [{name: paid}]
stream_tables:
  - name: public.totals
    query: |
      SELECT key, count(*) AS n, sum(amount) AS amount FROM payments GROUP BY key
    outbox: true
consumer_groups:
  - {name: paid, outbox: paid, auto_offset_reset: earliest}
  - {name: totals, outbox: totals, auto_offset_reset: earliest}
`

const archiveChain = `
version: 1
extension: {name: archive, version: 1.0.0}
inboxes: [{name: paid}, {name: totals}]
`

// TestChain moves events from a publisher over a broker into an inbox, has a worker change tables and publish, and moves what it publishes, and the changes of a
// stream table over its tables, over the broker into a third database. Relays, the broker and the server are killed in random order. Each effect is there
// once, totals are equal, and the broker has the events of each key in order.
func TestChain(t *testing.T) {
	pgtest.Parallel(t)
	events, kills := 600, 10
	if pgtest.Long() {
		events, kills = 100_000, 100
	}
	c := newChain(t)
	ctx, cancel := context.WithCancel(t.Context())
	var background sync.WaitGroup
	background.Go(func() { c.loop(ctx, "ledger", c.handle) })
	background.Go(func() { c.loop(ctx, "ledger", tick) })
	background.Go(func() { c.loop(ctx, "shop", tick) })
	defer background.Wait()
	defer cancel()
	random := rand.New(rand.NewPCG(21, 21))
	for n := range kills {
		c.publish(n*events/kills, (n+1)*events/kills)
		time.Sleep(time.Duration(100+random.IntN(400)) * time.Millisecond)
		c.kill(random.IntN(5))
	}
	c.arrive(events)
	cancel()
	background.Wait()
	c.compare(events)
}

func newChain(t *testing.T) *chain {
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Install: pgtest.Server(t).Install, Durable: true, Settings: map[string]string{"shared_buffers": "32MB"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	c := &chain{t: t, server: server, broker: &broker{t: t, dir: t.TempDir(), port: freePort(t)}}
	const payments = "create table payments (n int not null, key text not null, amount int not null);\n"
	inboxes := map[string][]string{"ledger": {"orders"}, "archive": {"paid", "totals"}}
	for name, spec := range map[string]string{"shop": shopChain, "ledger": ledgerChain, "archive": archiveChain} {
		if _, err := pgtest.Connect(t, server.DSN("postgres")).Exec(t.Context(), "create database "+name); err != nil {
			t.Fatal(err)
		}
		conn := pgtest.Connect(t, server.DSN(name))
		e := installed.Over(t, spec, payments)
		if _, err := conn.Exec(t.Context(), payments+e.Install(generator.Plain)); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
		if _, err := conn.Exec(t.Context(), e.Fill()); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
		if _, err := conn.Exec(t.Context(), noteArrivals(inboxes[name]...)); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	c.broker.start()
	t.Cleanup(func() { c.broker.kill() })
	c.broker.create(streams...)
	outbox := func(name, group string) string {
		return fmt.Sprintf("  - name: %[1]s-out\n    from: {outbox: {name: %[1]s, group: %[2]s, visibility: 2s, poll_every: 100ms}}\n    to: {nats: {url: '%[3]s', subject: '%[1]s.{{ .Type }}', timeout: 2s}}\n    batch: 50\n    retry: {longest: 500ms}\n",
			name, group, c.broker.url())
	}
	inbox := func(name string) string {
		return fmt.Sprintf("  - name: %[1]s-in\n    from: {nats: {url: '%[2]s', stream: %[1]s, consumer: %[1]s, ack_wait: 2s}}\n    to: {inbox: {name: %[1]s}}\n    dead_letters: {file: {path: %[3]s/dead}}\n    batch: 50\n    retry: {longest: 500ms}\n",
			name, c.broker.url(), c.broker.dir)
	}
	for _, p := range []struct{ database, pipelines string }{
		{"shop", outbox("orders", "g")},
		{"ledger", inbox("orders") + outbox("paid", "paid") + outbox("totals", "totals")},
		{"archive", inbox("paid") + inbox("totals")},
	} {
		c.paths = append(c.paths, write(t, server.DSN(p.database), p.pipelines))
		c.relays = append(c.relays, start(t, c.paths[len(c.paths)-1]))
	}
	return c
}

// loop repeats work with a connection, and connects again after errors, until ctx ends.
func (c *chain) loop(ctx context.Context, database string, work func(ctx context.Context, db *pgx.Conn) error) {
	for ctx.Err() == nil {
		conn, err := commandtest.Connect(ctx, c.server.DSN(database))
		for err == nil && ctx.Err() == nil {
			err = work(ctx, conn)
		}
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func tick(ctx context.Context, db *pgx.Conn) error {
	_, err := db.Exec(ctx, "call pgtrickle.tick()")
	time.Sleep(100 * time.Millisecond)
	return err
}

// handle is a worker: the change, what it publishes and the marks of ten messages are one transaction.
func (c *chain) handle(ctx context.Context, db *pgx.Conn) error {
	done, err := db.Exec(ctx, `
		with claimed as materialized (
			select event_id, aggregate_id, payload from pgtrickle.inbox_claim('orders', 10)
		),
		paid as (
			insert into payments (n, key, amount)
			select (m.payload ->> 'n')::integer, m.aggregate_id, (m.payload ->> 'amount')::integer from claimed m
		)
		select pgtrickle.outbox_publish('paid', 'order.paid', m.payload, m.aggregate_id), pgtrickle.inbox_mark_processed('orders', m.event_id) from claimed m`)
	if err == nil && done.RowsAffected() == 0 {
		time.Sleep(30 * time.Millisecond)
	}
	return err
}

// publish retries until it knows that events were published; the server may die under it, and then it looks.
func (c *chain) publish(from, to int) {
	pgtest.Until(c.t, "events are published", func() bool {
		conn, err := commandtest.Connect(c.t.Context(), c.server.DSN("shop"))
		if err != nil {
			return false
		}
		defer conn.Close(c.t.Context())
		_, err = conn.Exec(c.t.Context(), `
			insert into pgtrickle.outbox_orders (event_type, aggregate_id, payload)
			select 'order.placed', 'k' || i % 20, jsonb_build_object('n', i, 'amount', i % 100)
			from generate_series($1::integer, $2::integer - 1) i
			where not exists (select from pgtrickle.outbox_orders o where (o.payload ->> 'n')::integer = i)
			order by i`, from, to)
		return err == nil
	})
}

// kill ends a relay, the broker or the server at once, and starts it again.
func (c *chain) kill(what int) {
	switch {
	case what < len(c.relays):
		c.relays[what].kill()
		c.relays[what] = start(c.t, c.paths[what])
	case what == len(c.relays):
		c.broker.kill()
		c.broker.start()
	default:
		if err := c.server.KillAll(); err != nil {
			c.t.Fatal(err)
		}
		if err := c.server.Restart(); err != nil {
			c.t.Fatal(err)
		}
	}
}

// arrive waits for the last effect.
func (c *chain) arrive(events int) {
	archive, ledger := pgtest.Connect(c.t, c.server.DSN("archive")), pgtest.Connect(c.t, c.server.DSN("ledger"))
	last := 0
	for since := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		paid := pgtest.One[int](c.t, archive, "select count(*) from pgtrickle.paid")
		lag := pgtest.One[int](c.t, ledger, "select coalesce(sum(lag_rows), 0) from pgtrickle.pgt_consumer_group_lag")
		fresh := pgtest.One[bool](c.t, ledger, "select (select count(*) from payments) = (select sum(n) from totals)")
		switch {
		case paid >= events && lag == 0 && fresh:
			return
		case paid > last:
			last, since = paid, time.Now()
		case time.Since(since) > 60*time.Second:
			c.t.Fatalf("for a minute nothing arrived: %d of %d events, lag %d", paid, events, lag)
		}
	}
}

// compare holds what arrived against what was published.
func (c *chain) compare(events int) {
	t := c.t
	ledger, archive := pgtest.Connect(t, c.server.DSN("ledger")), pgtest.Connect(t, c.server.DSN("archive"))
	if n, distinct := pgtest.One[int](t, ledger, "select count(*) from payments"), pgtest.One[int](t, ledger, "select count(distinct n) from payments"); n != events || distinct != events {
		t.Errorf("%d effects of %d events, %d of them different", n, events, distinct)
	}
	if n := pgtest.One[int](t, archive, "select count(distinct payload ->> 'n') from pgtrickle.paid"); n != events {
		t.Errorf("%d of %d events arrived at the end", n, events)
	}
	if n := pgtest.One[int](t, archive, "select count(*) from pgtrickle.paid"); n != events {
		t.Errorf("%d messages of %d events at the end", n, events)
	}
	pgtest.Until(t, "the copy of the stream table equals it", func() bool {
		return c.copied(archive) == pgtest.One[string](t, ledger, "select coalesce(string_agg(concat_ws(' ', key, n, amount), ',' order by key collate \"C\"), '') from totals")
	})
	conn, js := c.broker.connect()
	defer conn.Close()
	c.ordered(js, events)
	c.duplicates(js)
}

// copied is a copy of the stream table, made of the changes that arrived.
func (c *chain) copied(archive pgtest.Querier) string {
	return pgtest.One[string](c.t, archive, `
		with parts as (select payload, (regexp_match(event_id, '/([0-9]+)-'))[1]::bigint as no from pgtrickle.totals),
		latest as (
			select distinct on (i ->> 'key') i from parts p, jsonb_array_elements(p.payload -> 'inserted') i order by i ->> 'key', p.no desc
		)
		select coalesce(string_agg(concat_ws(' ', i ->> 'key', i ->> 'n', i ->> 'amount'), ',' order by i ->> 'key' collate "C"), '') from latest`)
}

// ordered holds that the broker has each event once, those of a key in order.
func (c *chain) ordered(js jetstream.JetStream, events int) {
	last, seen := map[string]int{}, 0
	for _, m := range stored(c.t, js, "orders") {
		var payload struct{ N int }
		if err := json.Unmarshal(m.Data(), &payload); err != nil {
			c.t.Fatal(err)
		}
		key := m.Headers().Get("event-key")
		if before, any := last[key]; any && payload.N <= before {
			c.t.Errorf("key %s: %d after %d", key, payload.N, before)
		}
		last[key] = payload.N
		seen++
	}
	if seen != events {
		c.t.Errorf("the broker has %d messages of %d events", seen, events)
	}
}
