// Package relay moves events between outboxes, inboxes and brokers.
//
// Files call downwards: relay, reload, dry, check, pipeline, stop, deliver, send, circuit, tries, open, trace, meter.
package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/metrics/endpoint"
	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/names"
	"github.com/pgsluice/sluice/cmd/internal/relay/postgres"
)

// maxConnections is how many connections a process has to a database, at most. Each worker needs one, and one from time to time that extends its lease.
const maxConnections = 100

// exportWithin is how long a stop waits for the last spans to be exported.
const exportWithin = 2 * time.Second

// Relay runs the pipelines of a configuration.
type Relay struct {
	Config *config.Relay
	Log    *slog.Logger
	Stdin  io.Reader
	Stdout io.Writer

	meter    *meter
	tracer   *tracer
	database *postgres.Database
	listener *postgres.Listener
	running  map[string]*pipeline
}

// Run moves events until ctx ends. It then stops taking events, finishes those in progress, and gives back what it could not finish. A configuration that
// comes from reload replaces the one before: pipelines that it does not change go on. It ends by itself if all pipelines do, as those from a file.
func (r *Relay) Run(ctx context.Context, reload <-chan *config.Relay) (err error) {
	r.meter = newMeter()
	if r.tracer, err = newTracer(ctx); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exportWithin)
		defer cancel()
		err = errors.Join(err, r.tracer.close(ctx))
	}()
	for ctx.Err() == nil {
		next, err := r.serve(ctx, reload)
		if err != nil || next == nil {
			return err
		}
		r.Config = next
	}
	return nil
}

// serve runs pipelines with one database and one address until ctx ends or a configuration with others comes, which it returns.
func (r *Relay) serve(ctx context.Context, reload <-chan *config.Relay) (next *config.Relay, err error) {
	if r.Config.Listen != "" {
		stop, err := endpoint.Serve(r.Config.Listen, r.meter.registry, r.meter.problems, r.Log)
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	if r.database, err = postgres.Open(r.Config.Database, r.Config.Schema, maxConnections); err != nil {
		return nil, err
	}
	defer r.database.Close()
	inner, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()
	r.listener = postgres.NewListener()
	background.Go(func() { r.listener.Run(inner, r.database, r.Log) })
	r.running = map[string]*pipeline{}
	defer func() {
		for name := range r.running {
			r.end(name)
		}
	}()
	r.change(inner)
	for {
		select {
		case <-ctx.Done():
			r.Log.Info("stopping; what is being sent is finished")
			r.endAll()
			return nil, nil
		case next := <-reload:
			if !sameProcess(r.Config, next) {
				r.Log.Info("configuration changed; all pipelines start again")
				r.endAll()
				return next, nil
			}
			r.Config = next
			r.change(inner)
		case <-time.After(200 * time.Millisecond):
			if r.allEnded() {
				r.endAll()
				return nil, nil
			}
		}
	}
}

// change stops pipelines that the configuration has no more or otherwise, and starts those that do not run.
func (r *Relay) change(ctx context.Context) {
	wanted := map[string]*config.Pipeline{}
	for i := range r.Config.Pipelines {
		wanted[r.Config.Pipelines[i].Name] = &r.Config.Pipelines[i]
	}
	for name, p := range r.running {
		if next := wanted[name]; next == nil || !config.Same(*p.c, *next) {
			r.end(name)
		}
	}
	for name, c := range wanted {
		if r.running[name] == nil {
			r.running[name] = r.start(ctx, c)
		}
	}
}

// start runs the workers of a pipeline.
func (r *Relay) start(ctx context.Context, c *config.Pipeline) *pipeline {
	ctx, cancel := context.WithCancel(ctx)
	p := &pipeline{c: c, relay: r, dsn: r.Config.Database, schema: r.Config.Schema, log: r.Log.With("pipeline", c.Name), cancel: cancel, stats: r.meter.pipeline(c.Name),
		names: map[int]names.Name{}}
	p.stop, p.ended = newStop(ctx, c), make(chan struct{})
	p.circuit = newCircuit(c.Retry, p.circuitChanged)
	p.log.Info("started", "workers", c.Workers)
	var workers sync.WaitGroup
	for n := range c.Workers {
		workers.Go(func() { p.work(ctx, n) })
	}
	go func() {
		workers.Wait()
		close(p.ended)
	}()
	return p
}

// end stops a pipeline and waits for it until a second after stop_within: a broker's client or a connection may hang in spite of its deadline.
func (r *Relay) end(name string) {
	p := r.running[name]
	p.cancel()
	select {
	case <-p.ended:
		p.log.Info("stopped")
	case <-after(p.stop.whole, time.Second).Done():
		p.log.Error("did not stop in time; what it holds comes again", "stop_within", p.stop.time.String())
	}
	r.meter.forget(name)
	delete(r.running, name)
}

// endAll stops all pipelines at once.
func (r *Relay) endAll() {
	for _, p := range r.running {
		p.cancel()
	}
	for name := range r.running {
		r.end(name)
	}
}

func (r *Relay) allEnded() bool {
	for _, p := range r.running {
		select {
		case <-p.ended:
		default:
			return false
		}
	}
	return true
}

// sameProcess reports whether a configuration leaves what all pipelines share as it is.
func sameProcess(a, b *config.Relay) bool {
	return a.Database == b.Database && a.Schema == b.Schema && a.Listen == b.Listen
}
