package relay

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestInboxOnceUnderKills moves events from an outbox into an inbox of another database while relays are killed and publishers go on: each is there once, whatever
// was sent twice.
func TestInboxOnceUnderKills(t *testing.T) {
	pgtest.Parallel(t)
	events, kills := 2000, 12
	if pgtest.Long() {
		events, kills = 100_000, 100
	}
	from, to := database(t), database(t)
	path := write(t, from.DSN(), fmt.Sprintf(`
  - name: copy
    from: {outbox: {name: events, group: g, visibility: 2s, poll_every: 50ms}}
    to: {inbox: {name: copies, database: %q}}
    batch: 100
    workers: 2
`, to.DSN()))
	r := rand.New(rand.NewPCG(1, 1))
	relays := [2]*running{start(t, path), nil}
	for n := range kills {
		publish(t, from, "events", events/kills)
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		relays[0].kill()
		relays[0] = start(t, path)
		if n%4 == 0 {
			relays[0].stop()
			relays[0] = start(t, path)
		}
	}
	total := int64(events / kills * kills)
	pgtest.Until(t, "all events are in the inbox", func() bool {
		return pgtest.One[int64](t, to, "select count(*) from pgtrickle.copies") >= total
	})
	if got := pgtest.One[int64](t, to, "select count(distinct event_id) from pgtrickle.copies"); got != total {
		t.Errorf("%d ids of %d events", got, total)
	}
	want := pgtest.One[string](t, from, "select md5(string_agg(payload::text || aggregate_id, ',' order by id)) from pgtrickle.outbox_events")
	got := pgtest.One[string](t, to, "select md5(string_agg(payload::text || aggregate_id, ',' order by (regexp_replace(event_id, '.*/', ''))::bigint)) from pgtrickle.copies")
	if got != want {
		t.Error("what arrived differs from what was published")
	}
	pgtest.Until(t, "nothing lags", func() bool {
		return pgtest.One[int64](t, from, "select lag_rows from pgtrickle.pgt_consumer_group_lag where group_name = 'g'") == 0
	})
}

// TestPoison has the inbox refuse some messages: they are the group's dead letters, with the reason, and the others are there.
func TestPoison(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	db.Exec(t, "alter table pgtrickle.copies add constraint no_sevens check ((payload ->> 'n')::integer % 7 <> 0)")
	path := write(t, db.DSN(), `
  - name: copy
    from: {outbox: {name: events, group: g}}
    to: {inbox: {name: copies}}
`)
	publish(t, db, "events", 100)
	r := start(t, path)
	pgtest.Until(t, "all are settled", func() bool {
		return pgtest.One[int64](t, db, "select lag_rows from pgtrickle.pgt_consumer_group_lag where group_name = 'g'") == 0
	})
	r.stop()
	if got := pgtest.One[int64](t, db, "select count(*) from pgtrickle.copies"); got != 86 {
		t.Errorf("%d messages arrived, not 86", got)
	}
	if got := pgtest.One[int64](t, db, "select count(*) from pgtrickle.pgt_consumer_dead_letters where error like '%no_sevens%'"); got != 14 {
		t.Errorf("%d dead letters, not 14", got)
	}
}

// TestFormatsRoundTrip sends events through a file in each format into an inbox.
func TestFormatsRoundTrip(t *testing.T) {
	pgtest.Parallel(t)
	for _, format := range []string{"native", "cloudevents", "cloudevents-binary", "debezium"} {
		t.Run(format, func(t *testing.T) {
			db := database(t)
			file := t.TempDir() + "/events.jsonl"
			publish(t, db, "events", 50)
			db.Exec(t, `insert into pgtrickle.outbox_events (event_type, payload, headers) values
				('Odd "type"', 'null', '{"source": "/other", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "X-A": "ä\n"}'), ('x', '"\u00e4"', '{}'), ('y', '[1.50, 1e400]', '{}')`)
			path := write(t, db.DSN(), fmt.Sprintf(`
  - name: out
    from: {outbox: {name: events, group: g}}
    to: {file: {path: %[1]s}}
    format: %[2]s
  - name: in
    from: {file: {path: %[1]s, follow: true}}
    to: {inbox: {name: copies}}
    dead_letters: {file: {path: %[1]s.dead}}
    format: %[2]s
`, file, format))
			r := start(t, path)
			pgtest.Until(t, "all events are in the inbox", func() bool {
				return pgtest.One[int64](t, db, "select count(*) from pgtrickle.copies") == 53
			})
			r.stop()
			if got := pgtest.One[int64](t, db, `
				select count(*)
				from pgtrickle.outbox_events e
				join pgtrickle.copies c on c.event_id = coalesce(e.headers ->> 'source', '/shop/events') || '/' || e.id
				where c.event_type = e.event_type and c.payload::text = e.payload::text and c.aggregate_id is not distinct from e.aggregate_id
				  and c.trace_id is not distinct from e.headers ->> 'traceparent'`); got != 53 {
				t.Errorf("%d of 53 are as they were published", got)
				t.Log(pgtest.Rows(t, db, "select event_id, event_type, payload, aggregate_id, trace_id from pgtrickle.copies order by received_at desc limit 5"))
			}
		})
	}
}

// TestDebeziumOfAnOutbox holds that an envelope names the table of the outbox, whatever the publisher's header source says, and keeps nulls, ids and headers.
func TestDebeziumOfAnOutbox(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	db.Exec(t, `insert into pgtrickle.outbox_events (event_type, payload, headers) values ('t', 'null', '{}'), ('t', '{"a": 1.50}', '{"source": "/my src/ü", "n": "1"}')`)
	r := start(t, write(t, db.DSN(), "  - {name: one, from: {outbox: {name: events, group: g}}, to: {stdout: }, format: debezium}\n"))
	pgtest.Until(t, "both are there", func() bool { return strings.Count(r.out.String(), "\n") == 2 })
	r.stop()
	for i, want := range []string{
		`{"aggregate_id":null,"event_type":"t","headers":"{}","id":1,"payload":"null"} /shop/events pgtrickle.outbox_events`,
		`{"aggregate_id":null,"event_type":"t","headers":"{\"n\":\"1\",\"source\":\"/my src/ü\"}","id":2,"payload":"{\"a\": 1.50}"} /my src/ü pgtrickle.outbox_events`,
	} {
		change := lines(t, r.out.String())[i]
		after, source := change["after"].(map[string]any), change["source"].(map[string]any)
		delete(after, "created_at")
		row, err := json.Marshal(after)
		if got := fmt.Sprintf("%s %s %s.%s", row, source["name"], source["schema"], source["table"]); err != nil || got != want {
			t.Errorf("%v\n%s\n%s", err, got, want)
		}
	}
}

// TestDeadLetters reads lines of which two can never be stored. They are put aside with the reason; where even that fails, the source does not pass them.
func TestDeadLetters(t *testing.T) {
	pgtest.Parallel(t)
	db, dir := database(t), t.TempDir()
	db.Exec(t, "alter table pgtrickle.copies add constraint no_sevens check (payload ->> 'n' <> '7')")
	text := ""
	for n := range 20 {
		text += fmt.Sprintf(`{"id": "%d", "type": "t", "payload": {"n": %[1]d}}`+"\n", n)
	}
	text += "no json\n{\"id\": \"x\", \"type\": \"t\", \"payload\": {\"n\": 100}}\n"
	if err := os.WriteFile(dir+"/in", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	pipeline := func(dead string) string {
		return fmt.Sprintf("  - {name: in, from: {file: {path: %s/in}}, to: {inbox: {name: copies}}, dead_letters: {%s}, retry: {first: 10ms, longest: 50ms}, batch: 4}\n", dir, dead)
	}
	r := start(t, write(t, db.DSN(), pipeline("inbox: {name: copies}")))
	pgtest.Until(t, "the seventh cannot be put aside", func() bool { return strings.Contains(r.log.String(), "the dead letters do not take an event either") })
	r.stop()
	if got := pgtest.One[int64](t, db, "select count(*) from pgtrickle.copies where event_id::integer = 7 or event_id::integer > 10"); got != 0 { // the batch is 7 to 10
		t.Errorf("%d of the seventh and of those behind its batch were stored", got)
	}
	r = start(t, write(t, db.DSN(), pipeline("file: {path: "+dir+"/dead}")))
	<-r.ended // at the end of the file
	if got := pgtest.One[int64](t, db, "select count(*) from pgtrickle.copies"); got != 20 {
		t.Errorf("%d messages, not 20", got)
	}
	letters, err := os.ReadFile(dir + "/dead")
	if err != nil {
		t.Fatal(err)
	}
	dead := lines(t, string(letters))
	if len(dead) != 2 {
		t.Fatalf("dead letters: %s", letters)
	}
	for i, want := range []struct{ id, reason string }{{"7", "no_sevens"}, {dir + "/in/0/", "no JSON"}} {
		reason := fmt.Sprint(dead[i]["headers"].(map[string]any)["dead-letter-reason"])
		if !strings.Contains(fmt.Sprint(dead[i]["id"]), want.id) || !strings.Contains(reason, want.reason) {
			t.Errorf("dead letter %d: %v", i, dead[i])
		}
	}
}
