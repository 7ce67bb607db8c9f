package relay

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// chaos is relays of one group of an outbox, which are killed again and again, and what was published for them.
type chaos struct {
	t             *testing.T
	db            *pgtest.Database
	outbox, group string
	random        *rand.Rand
	paths         []string
	relays        []*running
	events        int
	poison        []int64 // ids of events that the sink refuses for ever
}

// newChaos starts relays, each with a consumer name of its own. pipeline gives their pipeline.
func newChaos(t *testing.T, db *pgtest.Database, outbox, group string, random *rand.Rand, relays int, pipeline func(consumer string) string) *chaos {
	c := &chaos{t: t, db: db, outbox: outbox, group: group, random: random}
	for n := range relays {
		c.paths = append(c.paths, write(t, db.DSN(), pipeline(fmt.Sprint("relay ", n))))
		c.relays = append(c.relays, start(t, c.paths[n]))
	}
	return c
}

// seed is that of random tests.
func seed() uint64 {
	n, _ := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	return n
}

// add publishes an event with its number as n of the payload.
func (c *chaos) add(payload string, isPoison bool) {
	c.events++
	id := pgtest.One[int64](c.t, c.db, "insert into pgtrickle.outbox_"+c.outbox+` (event_type, aggregate_id, payload)
		values ('t', 'k' || $1::integer % 50, $2::jsonb || jsonb_build_object('n', $1::integer)) returning id`, c.events, payload)
	if isPoison {
		c.poison = append(c.poison, id)
	}
}

// killOne kills a relay and starts it again.
func (c *chaos) killOne() {
	n := c.random.IntN(len(c.relays))
	c.relays[n].kill()
	c.relays[n] = start(c.t, c.paths[n])
}

func (c *chaos) dead() []int64 {
	return pgtest.One[[]int64](c.t, c.db, "select coalesce(array_agg(id order by id), '{}') from pgtrickle.pgt_consumer_dead_letters where group_name = $1", c.group)
}

// settle publishes further events, by which the sink shows that it takes some, until all but poison have arrived and as many are dead letters, and stops the
// relays: dead letters are the poison, and nothing waits.
func (c *chaos) settle(payload string, arrived func() int) {
	c.t.Helper()
	for end := time.Now().Add(3 * time.Minute); arrived() < c.events-len(c.poison) || len(c.dead()) < len(c.poison); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("%d of %d events have arrived, and dead letters are %v of %v", arrived(), c.events-len(c.poison), c.dead(), c.poison)
		}
		c.add(payload, false)
	}
	for _, r := range c.relays {
		r.stop()
		if strings.Contains(r.log.String(), "deadlock") {
			c.t.Errorf("a relay met a deadlock:\n%.4000s", r.log.String())
		}
	}
	if got := c.dead(); !slices.Equal(got, c.poison) {
		c.t.Errorf("dead letters are %v, and should be %v:\n%.2000s", got, c.poison, pgtest.One[string](c.t, c.db, deadLetters, c.group))
	}
	if n := pgtest.One[int64](c.t, c.db, "select lag_rows from pgtrickle.pgt_consumer_group_lag where group_name = $1", c.group); n > 0 {
		c.t.Errorf("%d events wait", n)
	}
}

// moody is an endpoint that refuses one request in ten, all while it is down, and poison always.
type moody struct {
	mu     sync.Mutex
	random *rand.Rand
	down   bool
	first  map[string][]int // events that it took, by key, in the order in which they came first
	taken  map[int]bool
}

func (m *moody) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var payload struct {
		N      int
		Poison bool
	}
	_ = json.NewDecoder(r.Body).Decode(&payload)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch key := r.Header.Get("event-key"); {
	case m.down || payload.Poison || m.random.IntN(10) == 0:
		http.Error(w, "no", []int{500, 503, 404, 429, 401}[m.random.IntN(5)])
	case !m.taken[payload.N]:
		m.taken[payload.N] = true
		m.first[key] = append(m.first[key], payload.N)
	}
}

func (m *moody) set(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

func (m *moody) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.taken)
}

// TestChaosOfRefusals kills two relays of one group again and again, beside an endpoint that is down from time to time, refuses some requests, and some events
// for ever: all others arrive, in the order of their keys where the outbox promises it, and the dead letters are those that it refuses for ever.
func TestChaosOfRefusals(t *testing.T) {
	rounds := 12
	if pgtest.Long() {
		rounds = 60
	}
	for _, o := range []struct{ outbox, group string }{{"events", "g"}, {"ordered", "o"}} {
		t.Run(o.outbox, func(t *testing.T) {
			pgtest.Parallel(t)
			random := rand.New(rand.NewPCG(seed(), 3))
			m := &moody{random: rand.New(rand.NewPCG(random.Uint64(), 1)), first: map[string][]int{}, taken: map[int]bool{}}
			server := httptest.NewServer(m)
			defer server.Close()
			c := newChaos(t, database(t), o.outbox, o.group, random, 2, func(consumer string) string {
				return fmt.Sprintf(`
  - name: hooks
    from: {outbox: {name: %s, group: %s, visibility: 1s, poll_every: 20ms, consumer: %s}}
    to: {webhook: {url: '%s/', concurrency: 8}}
    retry: {attempts: 12, first: 20ms, longest: 400ms}
    batch: 40
`, o.outbox, o.group, consumer, server.URL)
			})
			for round := range rounds {
				for range 60 {
					isPoison := round < rounds-2 && random.IntN(100) == 0
					c.add(fmt.Sprintf(`{"poison": %t}`, isPoison), isPoison)
				}
				switch random.IntN(3) {
				case 0:
					c.killOne()
				case 1:
					m.set(true)
					time.Sleep(time.Duration(random.IntN(900)) * time.Millisecond)
					m.set(false)
				default:
					time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
				}
			}
			c.settle("{}", m.count)
			for _, key := range slices.Sorted(maps.Keys(m.first)) {
				if o.outbox == "ordered" && !slices.IsSorted(m.first[key]) {
					t.Errorf("key %s came as %v", key, m.first[key])
				}
			}
		})
	}
}
