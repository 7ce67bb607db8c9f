package relay

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/file"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// pipeline is a running one.
type pipeline struct {
	c       *config.Pipeline
	relay   *Relay
	dsn     string // of the relay
	schema  string
	log     *slog.Logger
	cancel  context.CancelFunc
	workers sync.WaitGroup
	ended   atomic.Bool
	stats   *stats
}

// work moves events until ctx ends or the source does. What fails is opened again after a pause.
func (p *pipeline) work(ctx context.Context, n int) {
	pause := backoff{c: p.c.Retry}
	problem := ""
	for ctx.Err() == nil {
		moved, err := p.session(ctx, n)
		if ctx.Err() != nil || errors.Is(err, file.ErrEnd) {
			break
		}
		if moved {
			pause.reset()
			problem = ""
		}
		p.stats.down(n, err)
		if err.Error() != problem {
			problem = err.Error()
			p.log.Error("failed; trying again until it works", "error", err)
		}
		pause.wait(ctx)
	}
}

// session opens both ends and moves events until something fails. moved reports whether any arrived.
func (p *pipeline) session(ctx context.Context, n int) (moved bool, err error) {
	d, err := p.newDelivery(ctx, n)
	if err != nil {
		return false, err
	}
	defer p.closing(ctx, d.close)
	source, err := p.source(ctx, n)
	if err != nil {
		return false, err
	}
	defer p.closing(ctx, source.Close)
	p.stats.up(n)
	for {
		events, err := source.Receive(ctx)
		if err != nil {
			return moved, err
		}
		outcomes := d.deliver(ctx, events)
		err = p.settle(ctx, source, events, outcomes)
		if cause := left(outcomes); cause != nil {
			err = cause // which an error of the source that it has them again only follows
		}
		if err != nil || ctx.Err() != nil {
			return moved, err
		}
		moved = true
		p.stats.up(n)
	}
}

// left is the error of an event that was given back, if one was.
func left(outcomes []error) error {
	for _, err := range outcomes {
		if err != nil && !wire.IsRejected(err) {
			return err
		}
	}
	return nil
}

// settle tells the source, even when the relay is to stop.
func (p *pipeline) settle(ctx context.Context, source wire.Source, events []*wire.Event, outcomes []error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(time.Duration(p.c.StopWithin), time.Second))
	defer cancel()
	err := source.Settle(ctx, events, outcomes)
	for i, outcome := range outcomes {
		if wire.IsRejected(outcome) {
			p.log.Warn("rejected", "id", events[i].Unique(), "type", events[i].Type, "reason", outcome)
		}
	}
	return err
}

// closing closes an end, even when the relay is to stop.
func (p *pipeline) closing(ctx context.Context, closing func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(time.Duration(p.c.StopWithin), time.Second))
	defer cancel()
	if err := closing(ctx); err != nil {
		p.log.Warn("closing", "error", err)
	}
}

// backoff is a pause that doubles.
type backoff struct {
	c     config.Retry
	pause time.Duration
}

func (b *backoff) reset() { b.pause = 0 }

// next is the pause before the next attempt.
func (b *backoff) next() time.Duration {
	b.pause = min(max(2*b.pause, time.Duration(b.c.First), time.Millisecond), max(time.Duration(b.c.Longest), time.Millisecond))
	return b.pause
}

func (b *backoff) wait(ctx context.Context) { sleep(ctx, b.next()) }

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
