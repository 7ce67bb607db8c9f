package crash

import (
	"fmt"
	"sync"
)

// broker stands in for one that drops what it has seen before, by idempotency key.
type broker struct {
	sync.Mutex
	seen   map[string]int // most attempts
	again  int
	wrong  []string       // what came again without a reason
	latest map[string]int // number of each aggregate
}

// publish takes an event; it may only come again if its lease has ended, and of one aggregate only in order.
func (b *broker) publish(key, aggregate string, number, attempts int) {
	b.Lock()
	defer b.Unlock()
	switch {
	case b.seen[key] > 0:
		b.again++
		if b.seen[key] == 1 && attempts == 1 {
			b.wrong = append(b.wrong, key+" comes twice for the first time")
		}
	case aggregate != "" && number != b.latest[aggregate]+1:
		b.wrong = append(b.wrong, fmt.Sprintf("%s: number %d after %d", key, number, b.latest[aggregate]))
	case aggregate != "":
		b.latest[aggregate] = number
	}
	b.seen[key] = max(b.seen[key], attempts)
}
