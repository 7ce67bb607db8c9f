package relay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// picky is an endpoint that refuses events: poison always, all while it is down, and one the first time, for twenty seconds.
type picky struct {
	mu       sync.Mutex
	down     bool
	taken    map[int]int // how often
	byKey    map[string][]int
	attempts map[int]int
}

const later = -1 // what refuses itself the first time

func newPicky(t *testing.T) (*picky, string) {
	p := &picky{taken: map[int]int{}, byKey: map[string][]int{}, attempts: map[int]int{}}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return p, server.URL
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var payload struct {
		N      int
		Poison int
	}
	_ = json.NewDecoder(r.Body).Decode(&payload)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts[payload.N]++
	switch {
	case p.down:
		http.Error(w, "down", http.StatusServiceUnavailable)
	case payload.Poison > 0:
		http.Error(w, "it is poison", payload.Poison)
	case payload.N == later && p.attempts[later] == 1:
		w.Header().Set("Retry-After", "20")
		http.Error(w, "not now", http.StatusServiceUnavailable)
	default:
		p.taken[payload.N]++
		key := r.Header.Get("event-key")
		if p.taken[payload.N] == 1 {
			p.byKey[key] = append(p.byKey[key], payload.N)
		}
	}
}

// set changes whether the endpoint is down, and returns how many requests it had.
func (p *picky) set(down bool) (requests int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	for _, n := range p.attempts {
		requests += n
	}
	return requests
}

func (p *picky) has(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken[n] > 0
}

// distinct is how many events it took.
func (p *picky) distinct() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.taken)
}

func poison(t *testing.T, db *pgtest.Database, outbox, key string, n, answer int) {
	t.Helper()
	db.Exec(t, "insert into pgtrickle.outbox_"+outbox+" (event_type, aggregate_id, payload) values ('order.placed', $1, jsonb_build_object('n', $2::integer, 'poison', $3::integer))", key, n, answer)
}

const deadLetters = "select coalesce(string_agg(d.attempts || ' ' || d.error, E'\\n' order by d.id), '') from pgtrickle.pgt_consumer_dead_letters d where d.group_name = $1"

// TestRefusedEvents holds that events which an endpoint keeps refusing stop no others. They are dead letters after their attempts, those of the pipeline or of the group,
// with the answer, also where the relay was killed meanwhile; what was delivered is not sent again then.
func TestRefusedEvents(t *testing.T) {
	pgtest.Parallel(t)
	for _, c := range []struct {
		outbox, group string
		attempts      int
	}{{"events", "g", 4}, {"ordered", "o", 4}, {"events", "three", 20}} {
		t.Run(c.group, func(t *testing.T) {
			pgtest.Parallel(t)
			db := database(t)
			p, url := newPicky(t)
			db.Exec(t, "select pgtrickle.create_consumer_group('three', 'events', 'earliest', 3)")
			publish(t, db, c.outbox, 700)
			for n, answer := range []int{500, 404, 401, 429} {
				poison(t, db, c.outbox, fmt.Sprint("k", n), 2000+n, answer)
			}
			db.Exec(t, `insert into pgtrickle.outbox_`+c.outbox+` (event_type, aggregate_id, payload)
				select 'order.placed', 'k' || i % 7, jsonb_build_object('n', i) from generate_series(701, 1000) i`)
			config := write(t, db.DSN(), fmt.Sprintf(`
  - name: hooks
    from: {outbox: {name: %s, group: %s, visibility: 1s}}
    to: {webhook: {url: '%s/', concurrency: 32}}
    retry: {attempts: %d, first: 20ms, longest: 2s}
`, c.outbox, c.group, url, c.attempts))
			r := start(t, config)
			pgtest.Until(t, "half of the events are there", func() bool { return p.distinct() > 500 })
			r.kill()
			r = start(t, config)
			// Events that follow show that the endpoint takes others than those that it refuses.
			for n := 1001; pgtest.One[int64](t, db, "select lag_rows from pgtrickle.pgt_consumer_group_lag where group_name = $1", c.group) > 0 || p.distinct() < 1000; n++ {
				if n > 1600 {
					t.Fatalf("%d of 1,000 events are there, and dead letters: %s\n%.3000s", p.distinct(), pgtest.One[string](t, db, deadLetters, c.group), r.log.String())
				}
				db.Exec(t, "insert into pgtrickle.outbox_"+c.outbox+" (event_type, aggregate_id, payload) values ('order.placed', 'other', jsonb_build_object('n', $1::integer))", n)
				time.Sleep(50 * time.Millisecond)
			}
			r.stop()
			letters := pgtest.One[string](t, db, deadLetters, c.group)
			for _, answer := range []string{"500", "404", "401", "429"} {
				if !strings.Contains(letters, answer) {
					t.Errorf("no dead letter says %s:\n%s", answer, letters)
				}
			}
			if n := strings.Count(letters, "it is poison"); n != 4 || strings.Count(letters, "\n") != 3 {
				t.Errorf("dead letters are\n%s", letters)
			}
			twice := 0
			for _, n := range p.taken {
				twice += n - 1
			}
			if twice > 1000 {
				t.Errorf("%d events came twice, which is more than the two batches that were in progress when the relay was killed", twice)
			}
			for key, numbers := range p.byKey {
				for i := 1; c.outbox == "ordered" && i < len(numbers); i++ {
					if numbers[i] <= numbers[i-1] {
						t.Errorf("key %s: %v after %v", key, numbers[i], numbers[i-1])
					}
				}
			}
		})
	}
}

// TestSinkIsDown holds that no event is a dead letter for an endpoint that takes none, which is asked once in a while, and that all arrive when it works again.
func TestSinkIsDown(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	p, url := newPicky(t)
	p.set(true)
	publish(t, db, "events", 5000)
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	r := start(t, write(t, db.DSN(), fmt.Sprintf(`
  - name: hooks
    from: {outbox: {name: events, group: g}}
    to: {webhook: {url: '%s/', concurrency: 32}}
    retry: {attempts: 3, first: 10ms, longest: 1s}
listen: %s
`, url, address)))
	isIn := func(state string) bool {
		_, metrics := get(t, "http://"+address+"/metrics")
		return strings.Contains(metrics, fmt.Sprintf(`sluice_relay_circuit{pipeline="hooks",state=%q} 1`, state))
	}
	pgtest.Until(t, "the circuit opens", func() bool { return isIn("open") })
	if status, ready := get(t, "http://"+address+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(ready, "the sink takes nothing") {
		t.Errorf("/readyz says %d %q", status, ready)
	}
	before := p.set(true)
	time.Sleep(3 * time.Second)
	if asked := p.set(false) - before; asked > 40 {
		t.Errorf("%d requests in three seconds were sent to an endpoint that is down", asked)
	}
	pgtest.Until(t, "all arrive", func() bool { return p.distinct() == 5000 })
	pgtest.Until(t, "the circuit is closed", func() bool { return isIn("closed") })
	r.stop()
	if letters := pgtest.One[string](t, db, deadLetters, "g"); letters != "" {
		t.Errorf("dead letters: %s", letters)
	}
}

// TestNothingButPoison holds that an event which is refused for ever, and behind which all others are in order, is a dead letter in the end: as the endpoint can be
// reached, though nothing shows that it takes others.
func TestNothingButPoison(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	p, url := newPicky(t)
	poison(t, db, "ordered", "k", 1, 500)
	poison(t, db, "ordered", "k", 2, 0)
	start(t, write(t, db.DSN(), fmt.Sprintf(`
  - name: hooks
    from: {outbox: {name: ordered, group: o, poll_every: 20ms}}
    to: {webhook: {url: '%s/'}}
    retry: {attempts: 3, first: 10ms, longest: 100ms}
`, url)))
	pgtest.Until(t, "the other one arrives", func() bool { return p.has(2) })
	if letters := pgtest.One[string](t, db, deadLetters, "o"); !strings.HasPrefix(letters, "3 not delivered in 3 attempts: POST") {
		t.Errorf("dead letters: %s", letters)
	}
}

// TestRetryAfter holds that an answer which asks for a pause holds its event back, and no other.
func TestRetryAfter(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	p, url := newPicky(t)
	start(t, write(t, db.DSN(), fmt.Sprintf(`
  - name: hooks
    from: {outbox: {name: events, group: g, poll_every: 50ms}}
    to: {webhook: {url: '%s/'}}
`, url)))
	publish(t, db, "events", 10)
	pgtest.Until(t, "events arrive", func() bool { return p.distinct() == 10 })
	poison(t, db, "events", "k", later, 0)
	pgtest.Until(t, "it is refused", func() bool { return p.set(false) > 10 })
	began := time.Now()
	poison(t, db, "events", "k", 77, 0)
	pgtest.Until(t, "another one arrives", func() bool { return p.has(77) })
	if took := time.Since(began); took > 15*time.Second || p.has(later) {
		t.Errorf("it took %s, and the one before it has arrived: %v", took, p.has(later))
	}
}
