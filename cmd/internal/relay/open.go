package relay

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/cmd/internal/relay/cloud"
	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/file"
	"github.com/pgsluice/sluice/cmd/internal/relay/kafka"
	"github.com/pgsluice/sluice/cmd/internal/relay/mqtt"
	"github.com/pgsluice/sluice/cmd/internal/relay/names"
	"github.com/pgsluice/sluice/cmd/internal/relay/nats"
	"github.com/pgsluice/sluice/cmd/internal/relay/postgres"
	"github.com/pgsluice/sluice/cmd/internal/relay/rabbitmq"
	"github.com/pgsluice/sluice/cmd/internal/relay/redis"
	"github.com/pgsluice/sluice/cmd/internal/relay/webhook"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// source opens a source of a pipeline: of worker n, or ahead of that of worker n less the number of workers.
func (p *pipeline) source(ctx context.Context, n int) (wire.Source, error) {
	decode := func(origin string) func(*wire.Document, wire.Place) *wire.Event {
		return wire.Decoder{Format: p.c.Format, Origin: origin}.Decode
	}
	from := &p.c.From
	switch {
	case from.Outbox != nil:
		consumer, err := p.consumer(n)
		if err != nil {
			return nil, err
		}
		return opened(postgres.NewOutbox(ctx, p.relay.database, from.Outbox, consumer, p.c.Batch, p.relay.listener, p.log))
	case from.File != nil:
		return opened(file.NewSource(from.File, p.c.Format, p.c.Batch, p.relay.Stdin, decode("/"+from.File.Path)))
	case from.Webhook != nil:
		return opened(webhook.NewSource(from.Webhook, p.c.Batch, decode(from.Webhook.Path)))
	case from.Kafka != nil:
		return kafka.NewSource(ctx, from.Kafka, decode("kafka"), p.c.Batch)
	case from.NATS != nil:
		return nats.NewSource(ctx, from.NATS, decode("nats/"+from.NATS.Stream), p.c.Batch)
	case from.MQTT != nil:
		return mqtt.NewSource(ctx, from.MQTT, decode("mqtt"), p.c.Batch)
	case from.RabbitMQ != nil:
		return rabbitmq.NewSource(ctx, from.RabbitMQ, decode("rabbitmq/"+from.RabbitMQ.Queue), p.c.Batch)
	case from.Redis != nil:
		return redis.NewSource(ctx, from.Redis, decode("redis"), p.c.Batch)
	case from.Cloud != nil:
		return cloud.NewSource(ctx, from.Cloud, decode("cloud"), p.c.Batch)
	}
	return nil, errors.New("the pipeline has no source")
}

// Usable says whether this binary has what a configuration asks for.
func Usable(c *config.Relay) error {
	for i := range c.Pipelines {
		p := &c.Pipelines[i]
		if p.From.Cloud != nil || p.To.Cloud != nil || p.DeadLetters != nil && p.DeadLetters.Cloud != nil {
			if err := cloud.Available(); err != nil {
				return fmt.Errorf("pipeline %s: %w", p.Name, err)
			}
		}
	}
	return nil
}

// opened keeps a nil pointer from becoming an interface that is not nil.
func opened[S wire.Source](s S, err error) (wire.Source, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// consumer is the name of a source in the consumer group, which it keeps until release.
func (p *pipeline) consumer(n int) (string, error) {
	worker := ""
	if p.c.Workers > 1 {
		worker = fmt.Sprintf("/%d", n%p.c.Workers)
	}
	if n >= p.c.Workers {
		worker += "/ahead"
	}
	from := p.c.From.Outbox
	if from.Consumer != "" {
		return from.Consumer + worker, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if name, taken := p.names[n]; taken {
		return name.Text, nil
	}
	name, err := names.Take(strings.Join([]string{"outbox", p.schema, from.Group}, "\x00"), "", "/"+p.c.Name+worker)
	if err == nil {
		p.names[n] = name
	}
	return name.Text, err
}

// release lets others have a source's name.
func (p *pipeline) release(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names[n].Release()
}

// sink opens a sink.
func (p *pipeline) sink(ctx context.Context, to *config.Sink) (wire.Sink, error) {
	switch {
	case to.Inbox != nil:
		return p.inbox(to.Inbox)
	case to.File != nil:
		return file.NewSink(to.File.Path, p.c.Format)
	case to.Stdout != nil:
		return file.NewStream(p.relay.Stdout, p.c.Format), nil
	case to.Null != nil:
		return discard{}, nil
	case to.Webhook != nil:
		return webhook.NewSink(to.Webhook)
	case to.Kafka != nil:
		return kafka.NewSink(ctx, to.Kafka)
	case to.NATS != nil:
		return nats.NewSink(ctx, to.NATS)
	case to.MQTT != nil:
		return mqtt.NewSink(ctx, to.MQTT)
	case to.RabbitMQ != nil:
		return rabbitmq.NewSink(ctx, to.RabbitMQ)
	case to.Redis != nil:
		return redis.NewSink(ctx, to.Redis)
	case to.Cloud != nil:
		return cloud.NewSink(ctx, to.Cloud)
	}
	return nil, errors.New("the pipeline has no sink")
}

func (p *pipeline) inbox(c *config.Inbox) (wire.Sink, error) {
	db, own := p.relay.database, c.Database != "" || c.Schema != "" && c.Schema != p.schema
	if own {
		dsn, schema := c.Database, c.Schema
		if dsn == "" {
			dsn = p.dsn
		}
		if schema == "" {
			schema = p.schema
		}
		var err error
		if db, err = postgres.Open(dsn, schema, p.c.Workers); err != nil {
			return nil, err
		}
	}
	i, err := postgres.NewInbox(db, c, own)
	if err != nil {
		return nil, err
	}
	i.Duplicates = p.stats.duplicates
	return i, nil
}

// encoder makes documents for a sink.
func encoder(c *config.Pipeline, to *config.Sink) (*wire.Encoder, error) {
	e := &wire.Encoder{Format: c.Format, Headers: map[string]wire.Template{}}
	_, _, address := to.Address()
	var err error
	if e.Address, err = wire.ParseTemplate(address); err != nil {
		return nil, err
	}
	for _, t := range []struct {
		text string
		to   **wire.Template
	}{{c.ID, &e.ID}, {c.Type, &e.Type}, {c.Key, &e.Key}} {
		if t.text == "" {
			continue
		}
		parsed, err := wire.ParseTemplate(t.text)
		if err != nil {
			return nil, err
		}
		*t.to = &parsed
	}
	for name, text := range c.Headers {
		if e.Headers[name], err = wire.ParseTemplate(text); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// discard is the sink that forgets documents.
type discard struct{}

func (discard) InOrder()                                       {}
func (discard) Send(context.Context, []*wire.Document) []error { return nil }
func (discard) Check(context.Context) error                    { return nil }
func (discard) Close(context.Context) error                    { return nil }
