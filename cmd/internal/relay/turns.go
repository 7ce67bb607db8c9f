package relay

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// turns are those of the sources of a worker: one receives while the events of the other are sent, in the order in which they were received. A consumer group
// grants a consumer what it holds again, so each source is a consumer of its own.
type turns struct {
	*delivery
	sources []wire.Source
	moved   atomic.Bool

	receiving, sending sync.Mutex // a source takes the second before it leaves the first
}

// run moves events until something fails. moved reports whether any arrived.
func (t *turns) run(ctx context.Context) (moved bool, err error) {
	group, ctx := errgroup.WithContext(ctx)
	for n := range t.sources {
		group.Go(func() error {
			for ctx.Err() == nil {
				if err := t.turn(ctx, n); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	return t.moved.Load(), err
}

// turn moves what a source receives at once.
func (t *turns) turn(ctx context.Context, n int) error {
	events, err := t.receive(ctx, n)
	if err != nil {
		return err
	}
	source, leave := t.sources[n], sync.OnceFunc(t.sending.Unlock)
	defer leave()
	for {
		outcomes := t.outcomes(ctx, events)
		postponing, ok := source.(wire.Postponing)
		isLast := !ok || !postponing.HasMore()
		if isLast {
			leave()
		}
		if err := t.settle(ctx, n, events, outcomes); err != nil || isLast {
			return err
		}
		if events, err = source.Receive(ctx); err != nil {
			return err
		}
	}
}

// outcomes sends events, or leaves a batch that was received before the circuit opened.
func (t *turns) outcomes(ctx context.Context, events []*wire.Event) []error {
	if len(t.sources) == 1 || len(events) == 1 || t.p.circuit.isClosed() {
		return t.deliver(ctx, events)
	}
	return wire.All(events, wire.ErrBehind)
}

// receive waits for a source's turn and for its events, and then until those before them were sent.
func (t *turns) receive(ctx context.Context, n int) ([]*wire.Event, error) {
	t.receiving.Lock()
	defer t.receiving.Unlock()
	if s, ok := t.sources[n].(wire.Postponing); ok {
		s.Probe(t.p.circuit.rest(ctx))
	}
	events, err := t.sources[n].Receive(ctx)
	if err != nil {
		return nil, err
	}
	t.sending.Lock()
	if ctx.Err() != nil { // meanwhile: closing the source gives them back
		t.sending.Unlock()
		return nil, ctx.Err()
	}
	return events, nil
}

// settle tells a source what became of its events. The other one may wait for the keys that they had.
func (t *turns) settle(ctx context.Context, n int, events []*wire.Event, outcomes []error) error {
	err := t.p.settle(t.sources[n], events, outcomes)
	if cause := left(outcomes); cause != nil && t.mode != postpone {
		err = cause // which an error of the source that it has them again only follows
	}
	if err != nil || ctx.Err() != nil {
		return err
	}
	if other, ok := t.sources[len(t.sources)-1-n].(wire.Postponing); ok && t.inOrder {
		other.Wake()
	}
	t.moved.Store(true)
	t.p.stats.up(t.worker)
	return nil
}
