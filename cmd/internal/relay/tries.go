package relay

import (
	"sync"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// mostTried bounds how many events are known. Beyond, all are forgotten, and get some more attempts.
const mostTried = 10_000

// tries counts attempts to deliver events whose sources do not, and knows since when a sink that takes nothing refuses some.
type tries struct {
	mu    sync.Mutex
	n     map[string]int       // by the events' unique ids
	since map[string]time.Time // by the same, the last attempt that was counted, or the first that was not
}

// of returns how many attempts an event had.
func (t *tries) of(e *wire.Event) int {
	if e.Attempt > 0 {
		return e.Attempt
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n[e.Unique()]
}

func (t *tries) add(e *wire.Event) {
	if e.Attempt > 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil || len(t.n) >= mostTried {
		t.n = map[string]int{}
	}
	t.n[e.Unique()]++
}

// isOld reports whether an event was refused for a time since its last attempt that was counted, from which the time counts anew.
func (t *tries) isOld(e *wire.Event, after time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	since, known := t.since[e.Unique()]
	if known && time.Since(since) < after {
		return false
	}
	if t.since == nil || len(t.since) >= mostTried {
		t.since = map[string]time.Time{}
	}
	t.since[e.Unique()] = time.Now()
	return known
}

// forget drops what is known of events that were delivered or rejected.
func (t *tries) forget(events []*wire.Event, outcomes []error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := 0; i < len(events) && len(t.n)+len(t.since) > 0; i++ {
		if outcomes[i] == nil || wire.IsRejected(outcomes[i]) {
			delete(t.n, events[i].Unique())
			delete(t.since, events[i].Unique())
		}
	}
}
