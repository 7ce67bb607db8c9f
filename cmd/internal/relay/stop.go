package relay

import (
	"context"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
)

// settleWithin is how much of the time of a stop is kept for what gives back events and closes both ends, at most.
const settleWithin = 5 * time.Second

// stop is how a pipeline ends: all that it does when it is to stop shares stop_within.
type stop struct {
	time    time.Duration   // stop_within, a second at least
	sending context.Context // ends when nothing is sent any more, with some of the time left
	whole   context.Context // ends with it
}

// newStop begins to count when ctx ends.
func newStop(ctx context.Context, c *config.Pipeline) stop {
	s := stop{time: max(time.Duration(c.StopWithin), time.Second)}
	s.sending, s.whole = after(ctx, s.time-min(s.time/4, settleWithin)), after(ctx, s.time)
	return s
}

// after is a context that ends a time after another.
func after(ctx context.Context, d time.Duration) context.Context {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return later
}

// within is a context for work that takes a time at most, and ends with the stop.
func (s stop) within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.whole, d)
}
