package relay

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// passage is a way from an outbox to an inbox, over a broker or not, whose sink refuses some events.
type passage struct {
	sink, source     string   // of the pipelines before and behind the broker; without a source the sink is the inbox
	writers, readers int      // relays that run each pipeline
	good             string   // payload of an event that the sink takes
	poison           []string // payloads of events that it refuses, some at once and some at each attempt
	kill             func()   // ends the broker and starts it again; nil: it cannot be killed
	quiesces         bool     // no relay writes while the broker is killed, which loses what it has confirmed since it was saved
	kills            int      // of relays that read, in a short run; 0: as many as of those that write
}

// run publishes events beside relays that are killed, and a broker that is: each event is once in the inbox, those of a key in order, the dead letters of the
// group are the poison, and nothing is left behind.
func (p passage) run(t *testing.T, from, to *pgtest.Database) {
	random := rand.New(rand.NewPCG(seed(), 7))
	to.SuperExec(t, noteArrivals("copies"))
	to.SuperExec(t, "grant all on arrivals to public")
	const retry = "    retry: {attempts: 12, first: 20ms, longest: 400ms}\n    batch: 40\n"
	var readers *chaos
	letters := filepath.Join(t.TempDir(), "dead")
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	if p.source != "" {
		pipeline := "  - name: in\n    from: {" + p.source + "}\n    to: {inbox: {name: copies}}\n    dead_letters: {file: {path: " + letters + "}}\n" + retry
		readers = newChaos(t, to, "", "", random, p.readers, func(string) string { return pipeline })
		defer p.nothingLeft(t, readers, pipeline+"listen: "+address+"\n", "http://"+address, letters)
		time.Sleep(time.Second) // MQTT keeps what comes after a subscription
	}
	writers := newChaos(t, from, "ordered", "o", random, p.writers, func(consumer string) string {
		return "  - name: out\n    from: {outbox: {name: ordered, group: o, visibility: 1s, poll_every: 20ms, consumer: " + consumer + "}}\n" +
			"    to: {" + p.sink + "}\n    headers: {to: '{{ .Data.to }}'}\n" + retry
	})
	for _, trouble := range p.troubles(writers, readers) {
		for range 30 {
			writers.add(p.good, false)
		}
		if n := random.IntN(len(p.poison) + 2); n < len(p.poison) {
			writers.add(p.poison[n], true)
		}
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		trouble()
	}
	for _, payload := range p.poison {
		writers.add(payload, true)
	}
	writers.settle(p.good, func() int { return pgtest.One[int](t, to, "select count(distinct event_id) from pgtrickle.copies") })
	p.compare(t, writers, to)
}

// troubles are what happens beside the events, in random order.
func (p passage) troubles(writers, readers *chaos) (all []func()) {
	times := 2
	if pgtest.Long() {
		times = 15
	}
	add := func(times int, trouble func()) {
		for range times {
			all = append(all, trouble)
		}
	}
	add(times, writers.killOne)
	add(times, func() {})
	if p.kill != nil {
		add(times, func() { p.killBroker(writers) })
	}
	switch {
	case readers != nil && p.kills > 0 && !pgtest.Long():
		add(p.kills, readers.killOne)
	case readers != nil:
		add(times, readers.killOne)
	}
	writers.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func (p passage) killBroker(writers *chaos) {
	for n := range writers.relays {
		if p.quiesces {
			writers.relays[n].kill()
		}
	}
	p.kill()
	for n := range writers.relays {
		if p.quiesces {
			writers.relays[n] = start(writers.t, writers.paths[n])
		}
	}
}

// compare holds what the inbox has against what was published.
func (p passage) compare(t *testing.T, c *chaos, to *pgtest.Database) {
	want := pgtest.One[[]string](t, c.db, "select array_agg('/shop/ordered/' || id order by id) from pgtrickle.outbox_ordered where id <> all ($1)", c.poison)
	got := pgtest.One[[]string](t, to, "select array_agg(event_id order by regexp_replace(event_id, '.*/', '')::bigint) from pgtrickle.copies")
	if !slices.Equal(got, want) {
		t.Errorf("%d events are in the inbox, and should be %d:\n%.1000v\n%.1000v", len(got), len(want), got, want)
	}
	if early := pgtest.One[string](t, to, `
		with first as (
			select c.aggregate_id, (c.payload ->> 'n')::integer as n, min(a.no) as no from pgtrickle.copies c join arrivals a using (event_id) group by 1, 2
		), pairs as (
			select aggregate_id, n, lag(n) over (partition by aggregate_id order by no) as before from first
		)
		select coalesce(string_agg(format('%s: %s after %s', aggregate_id, n, before), ', '), '') from pairs where before > n`); early != "" {
		t.Errorf("events of a key overtook others: %s", early)
	}
	t.Logf("%d events, %d of them poison; the inbox received %d", c.events, len(c.poison), pgtest.One[int](t, to, "select count(*) from arrivals"))
}

// nothingLeft holds that the broker has no event that was not acknowledged, and that no dead letter was made behind it.
func (p passage) nothingLeft(t *testing.T, readers *chaos, pipeline, url, letters string) {
	if t.Failed() {
		return
	}
	for _, r := range readers.relays {
		r.stop()
	}
	r := start(t, write(t, readers.db.DSN(), pipeline))
	defer r.stop()
	pgtest.Until(t, "it is ready", func() bool { status, _ := get(t, url+"/readyz"); return status == 200 })
	time.Sleep(time.Second)
	_, metrics := get(t, url+"/metrics")
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "sluice_relay_events_total{") && !strings.HasSuffix(line, " 0\n") {
			t.Errorf("events were left behind: %s", line)
		}
	}
	if text, err := os.ReadFile(letters); err != nil || len(text) > 0 {
		t.Errorf("dead letters behind the broker: %v %.1000s", err, text)
	}
}

// TestChaosOfPassages is the chaos of an inbox, of a file and of NATS.
func TestChaosOfPassages(t *testing.T) {
	const good = `{"to": "events"}`
	t.Run("inbox", func(t *testing.T) {
		pgtest.Parallel(t)
		from, to := database(t), database(t)
		to.SuperExec(t, `alter table pgtrickle.copies add constraint no_poison check (payload ->> 'to' <> 'never');
			create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
			create trigger refused before insert on pgtrickle.copies for each row when (new.payload ->> 'to' = 'later') execute function refuse()`)
		passage{sink: fmt.Sprintf("inbox: {name: copies, database: %q}", to.DSN()), writers: 2, good: good, poison: []string{"{}", `{"to": "never"}`, `{"to": "later"}`}, kill: func() {
			to.SuperExec(t, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice relay' and datname = current_database()")
		}}.run(t, from, to)
	})
	t.Run("file", func(t *testing.T) {
		pgtest.Parallel(t)
		path := filepath.Join(t.TempDir(), "events")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		passage{sink: "file: {path: " + path + "}", source: "file: {path: " + path + ", follow: true}", writers: 2, readers: 1, good: good, poison: []string{"{}"}}.run(t, database(t), database(t))
	})
	t.Run("nats", func(t *testing.T) {
		pgtest.Parallel(t)
		b := &broker{t: t, dir: t.TempDir(), port: freePort(t)}
		b.start()
		t.Cleanup(func() { b.kill() })
		b.create("events")
		passage{
			sink:    "nats: {url: '" + b.url() + "', subject: '{{ .Data.to }}', timeout: 2s}",
			source:  "nats: {url: '" + b.url() + "', stream: events, consumer: in, ack_wait: 1s, max_ack_pending: 1}",
			writers: 2, readers: 2, good: `{"to": "events.a"}`, poison: []string{"{}", `{"to": "events..a"}`, `{"to": "nowhere.a"}`},
			kill: func() {
				b.kill()
				time.Sleep(100 * time.Millisecond)
				b.start()
			},
		}.run(t, database(t), database(t))
	})
}
