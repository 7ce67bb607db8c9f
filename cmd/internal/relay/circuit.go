package relay

import (
	"context"
	"sync"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
)

const (
	// tripAfter is how many passes in a row deliver nothing before the sink counts as down. One may be of events that it refuses.
	tripAfter = 3
	// patient is how many times retry.longest an event waits at most whose sink is down. Without, the first few that it refuses would come again for each
	// probe, and events that it takes never.
	patient = 10
	// probeEvery is the longest pause between two attempts to find out whether a sink that was down takes events again.
	probeEvery = time.Second
)

// The states of a circuit breaker, as Nygard's "Release It!" names them.
const (
	closed   = "closed"    // the sink takes events
	open     = "open"      // it takes none, and nothing is sent
	halfOpen = "half-open" // one event is sent to find out
)

// circuit tells a sink that is down from events that it refuses. The workers of a pipeline share one.
type circuit struct {
	c       config.Retry
	changed func(from, to string, problem error) // is called at each change of the state, with the error of the sink

	mu     sync.Mutex
	state  string
	failed int       // passes in a row that delivered nothing
	took   time.Time // when the sink took an event last
}

func newCircuit(c config.Retry, changed func(from, to string, problem error)) *circuit {
	changed("", closed, nil)
	return &circuit{c: c, changed: changed, state: closed}
}

// record notes a pass over events that delivered some, or failed to deliver some for a problem. It reports whether failures are the events' own, as the sink
// took others within retry.longest. Then passes over events that failed before, which is not fresh, say nothing about the sink.
func (c *circuit) record(delivered int, problem error, fresh bool) (own bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if delivered > 0 {
		c.took, c.failed = time.Now(), 0
		c.enter(closed, nil)
	}
	own = time.Since(c.took) < time.Duration(c.c.Longest)
	if delivered == 0 && problem != nil && (fresh || !own) {
		if c.failed++; c.failed >= tripAfter {
			c.enter(open, problem)
		}
	}
	return own
}

func (c *circuit) enter(state string, problem error) {
	if state != c.state {
		from := c.state
		c.state = state
		c.changed(from, state, problem)
	}
}

func (c *circuit) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == closed
}

// rest waits while the circuit is open, and reports whether one event is to be sent to find out.
func (c *circuit) rest(ctx context.Context) (probe bool) {
	c.mu.Lock()
	pause, state := c.pause(), c.state
	c.mu.Unlock()
	if state == open {
		sleep(ctx, pause)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.state == open {
			c.enter(halfOpen, nil)
		}
		state = c.state
	}
	return state == halfOpen
}

// pause is the time before a probe.
func (c *circuit) pause() time.Duration {
	return min(pauseAfter(c.c, c.failed), probeEvery, time.Duration(c.c.Longest)/2)
}

// away is how long an event is to wait that failed since the sink takes none: long enough for as many others to be tried as were.
func (c *circuit) away() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return min(max(pauseAfter(c.c, c.failed+1), 2*time.Duration(c.failed)*c.pause()), c.longest())
}

// longest is the longest time that an event waits for a sink that takes none.
func (c *circuit) longest() time.Duration { return patient * time.Duration(c.c.Longest) }

// pauseAfter is the pause after the n-th failure in a row, from 1.
func pauseAfter(c config.Retry, n int) time.Duration {
	pause := backoff{c: c}
	for range min(n, 63) {
		pause.next()
	}
	return pause.pause
}
