package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/file"
	"github.com/pgsluice/sluice/cmd/internal/relay/postgres"
)

const checkTimeout = 15 * time.Second

// Check says of each pipeline whether both of its ends can be reached, and moves nothing. Its error names those that cannot.
func (r *Relay) Check(ctx context.Context) (err error) {
	r.meter = newMeter()
	if r.database, err = postgres.Open(r.Config.Database, r.Config.Schema, maxConnections); err != nil {
		return err
	}
	defer r.database.Close()
	failed := 0
	for i := range r.Config.Pipelines {
		c := &r.Config.Pipelines[i]
		p := &pipeline{c: c, relay: r, dsn: r.Config.Database, schema: r.Config.Schema, log: r.Log, stats: r.meter.pipeline(c.Name)}
		failed += report(r.Stdout, c.Name+": from "+config.Kind(c.From), p.checkSource(ctx))
		failed += report(r.Stdout, c.Name+": to "+config.Kind(c.To), p.checkSink(ctx, &c.To))
		if c.DeadLetters != nil {
			failed += report(r.Stdout, c.Name+": dead letters to "+config.Kind(*c.DeadLetters), p.checkSink(ctx, c.DeadLetters))
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of the pipelines' ends cannot be used", failed)
	}
	return nil
}

func report(out io.Writer, what string, err error) (failed int) {
	if err != nil {
		fmt.Fprintf(out, "%s: %v\n", what, err)
		return 1
	}
	fmt.Fprintf(out, "%s: ok\n", what)
	return 0
}

// checkSource creates the group of an outbox if it is missing, and polls it, in a transaction that it rolls back. Other sources are opened and closed again;
// nothing is received.
func (p *pipeline) checkSource(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if outbox := p.c.From.Outbox; outbox != nil {
		return p.relay.database.CheckOutbox(ctx, outbox)
	}
	source, err := p.source(ctx, 0)
	if err != nil {
		return err
	}
	return source.Close(ctx)
}

func (p *pipeline) checkSink(ctx context.Context, to *config.Sink) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if to.File != nil {
		return file.CheckPath(to.File.Path)
	}
	sink, err := p.sink(ctx, to)
	if err != nil {
		return err
	}
	return errors.Join(sink.Check(ctx), sink.Close(ctx))
}
