package relay

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/file"
	"github.com/pgsluice/sluice/cmd/internal/relay/names"
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
	stop    stop
	ended   chan struct{} // closed when all workers have ended
	stats   *stats
	circuit *circuit
	tries   tries

	mu    sync.Mutex
	names map[int]names.Name // of sources in the consumer group
}

// work moves events until ctx ends or the source does. What fails is opened again after a pause.
func (p *pipeline) work(ctx context.Context, n int) {
	defer p.release(n)
	defer p.release(n + p.c.Workers)
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
	defer p.closing(d.close)
	source, err := p.source(ctx, n)
	if err != nil {
		return false, err
	}
	defer p.closing(source.Close)
	d.patience = patienceWith(source)
	t := &turns{delivery: d, sources: []wire.Source{source}}
	if d.mode == postpone {
		ahead, err := p.source(ctx, n+p.c.Workers)
		if err != nil {
			return false, err
		}
		defer p.closing(ahead.Close)
		t.sources = append(t.sources, ahead)
	}
	p.stats.up(n)
	return t.run(ctx)
}

// left is the error of an event that was given back, if one was.
func left(outcomes []error) (cause error) {
	for _, err := range outcomes {
		if err != nil && !wire.IsRejected(err) && (cause == nil || errors.Is(cause, wire.ErrBehind)) {
			cause = err
		}
	}
	return cause
}

// settle tells the source, even when the relay is to stop.
func (p *pipeline) settle(source wire.Source, events []*wire.Event, outcomes []error) error {
	ctx, cancel := p.stop.within(p.stop.time)
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
func (p *pipeline) closing(closing func(context.Context) error) {
	ctx, cancel := p.stop.within(p.stop.time)
	defer cancel()
	if err := closing(ctx); err != nil {
		p.log.Warn("closing", "error", err)
	}
}

// circuitChanged tells metrics, readiness and the log that the sink takes events or none.
func (p *pipeline) circuitChanged(from, to string, problem error) {
	p.stats.circuit(to, problem)
	switch {
	case from == closed && to == open:
		p.log.Error("the sink takes nothing; trying one event at a time until it does", "error", problem)
	case from != "" && to == closed:
		p.log.Info("the sink takes events again")
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
