package relay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// delivery sends the events of one worker.
type delivery struct {
	p       *pipeline
	worker  int
	encoder *wire.Encoder
	sink    wire.Sink
	patience

	dead        wire.Sink // nil: the source's
	deadAddress wire.Template
}

// errStopped is the outcome of events that a stop left.
var errStopped = errors.New("the relay stops")

// newDelivery opens the sinks.
func (p *pipeline) newDelivery(ctx context.Context, worker int) (*delivery, error) {
	d := &delivery{p: p, worker: worker}
	var err error
	if d.encoder, err = encoder(p.c, &p.c.To); err != nil {
		return nil, err
	}
	if d.sink, err = p.sink(ctx, &p.c.To); err != nil {
		return nil, err
	}
	if p.c.DeadLetters != nil {
		_, _, address := p.c.DeadLetters.Address()
		if d.deadAddress, err = wire.ParseTemplate(address); err == nil {
			d.dead, err = p.sink(ctx, p.c.DeadLetters)
		}
		if err != nil {
			return nil, errors.Join(err, d.sink.Close(ctx))
		}
	}
	return d, nil
}

func (d *delivery) close(ctx context.Context) error {
	err := d.sink.Close(ctx)
	if d.dead != nil {
		err = errors.Join(err, d.dead.Close(ctx))
	}
	return err
}

// deliver sends events until each was delivered or rejected. After ctx ended it goes on for most of stop_within, but pauses no more.
func (d *delivery) deliver(ctx context.Context, events []*wire.Event) []error {
	work := d.p.stop.sending
	d.p.stats.progress(len(events))
	defer d.p.stats.progress(-len(events))
	began := time.Now()
	spans := d.p.relay.tracer.begin(d.p.c, events)
	outcomes, documents := make([]error, len(events)), make([]*wire.Document, len(events))
	pending := make([]int, 0, len(events))
	for i, e := range events {
		if documents[i], outcomes[i] = d.encoder.Encode(e); outcomes[i] == nil {
			pending = append(pending, i)
		}
	}
	d.send(ctx, work, events, documents, pending, outcomes)
	d.bury(ctx, work, events, documents, outcomes)
	d.p.tries.forget(events, outcomes)
	d.p.relay.tracer.end(spans, outcomes)
	d.p.stats.delivered(events, outcomes, time.Since(began))
	return outcomes
}

// bury puts rejected events into the dead letters of the pipeline, after which they are done. If neither the pipeline nor the source has any, a rejected
// event is tried until somebody helps.
func (d *delivery) bury(ctx, work context.Context, events []*wire.Event, documents []*wire.Document, outcomes []error) {
	var rejected []int
	for i, err := range outcomes {
		if wire.IsRejected(err) {
			rejected = append(rejected, i)
		}
	}
	switch {
	case len(rejected) == 0 || d.dead == nil && d.p.c.From.Refuses():
		return
	case d.dead == nil:
		for _, i := range rejected {
			outcomes[i] = errors.New(outcomes[i].Error())
		}
		return
	}
	letters, buried := make([]*wire.Document, len(events)), make([]error, len(events))
	var pending []int
	for _, i := range rejected {
		letters[i] = letter(events[i], documents[i], outcomes[i], d.p.c.Name)
		d.p.log.Warn("dead letter", "id", events[i].Unique(), "type", events[i].Type, "reason", outcomes[i])
		if letters[i].Address, buried[i] = d.deadAddress.Execute(events[i]); buried[i] == nil {
			pending = append(pending, i)
		}
	}
	d.insist(ctx, work, d.dead, letters, pending, buried)
	for _, i := range rejected {
		if wire.IsRejected(buried[i]) { // it has no place at all: it is tried until somebody helps
			buried[i] = fmt.Errorf("the dead letters do not take an event either: %w", errors.New(buried[i].Error()))
		}
		outcomes[i] = buried[i]
		d.p.stats.buried(buried[i])
	}
}

// letter is the document of a dead letter: as the broker had it, or as the sink should have got it, and why it was rejected.
func letter(e *wire.Event, d *wire.Document, reason error, pipeline string) *wire.Document {
	l := &wire.Document{Event: e, Key: e.Key, ID: e.Unique(), ContentType: "application/json", Headers: map[string]string{}}
	switch {
	case e.Raw != nil:
		l.Body, l.ContentType, l.Headers = e.Raw.Body, e.Raw.ContentType, clone(e.Raw.Headers)
	case d != nil:
		l.Body, l.ContentType, l.Headers = d.Body, d.ContentType, clone(d.Headers)
	default:
		l.Body = e.Body()
	}
	l.Headers["dead-letter-reason"], l.Headers["dead-letter-pipeline"] = strings.Join(strings.FieldsFunc(reason.Error(), unicode.IsControl), " "), pipeline
	return l
}

func clone(headers map[string]string) map[string]string {
	c := make(map[string]string, len(headers)+2)
	for name, value := range headers {
		c[name] = value
	}
	return c
}
