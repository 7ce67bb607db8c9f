package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	brokers "github.com/pgsluice/sluice/tests/kit/broker"
)

// asPeer is the first argument with which the benchmark is a relay as one writes it by hand. The kind of the sink, its address and the database follow.
const asPeer = "peer"

const (
	peerBacklog = 200_000
	peerBatch   = 500 // as of the relay by default
	peerTarget  = "bench"
)

// relayPeers compares the relay with a program of a hundred lines that polls 500 events, publishes the same documents and commits, with the same clients of brokers.
func (b *bench) relayPeers(ctx context.Context, kind string) (rows []row, err error) {
	t := &broken{ctx: ctx}
	defer t.end(&err)
	s, err := b.relayStage(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	address, to := startSink(t, kind)
	var ours, peers []float64
	for range b.cfg.Rounds {
		for _, side := range []struct {
			rates *[]float64
			start func() (*exec.Cmd, error)
		}{
			{&ours, func() (*exec.Cmd, error) { return s.start(ctx, "relay", "events", to, 0) }},
			{&peers, func() (*exec.Cmd, error) {
				p := exec.CommandContext(ctx, os.Args[0], asPeer, kind, address, s.dsn)
				p.Stderr = os.Stderr
				return p, p.Start()
			}},
		} {
			if err := s.refill(ctx, peerBacklog); err != nil {
				return nil, err
			}
			rate, _, err := s.drain(ctx, "relay", peerBacklog, side.start)
			if err != nil {
				return nil, err
			}
			*side.rates = append(*side.rates, rate)
		}
	}
	r := row{Case: "to " + kind + ", against one written by hand", Unit: "events/s"}
	r.compare(ours, peers)
	r.goal(atLeast(1))
	return []row{r}, nil
}

// broken is what brokers need of a test: it keeps what is to be done in the end, and panics where a test fails.
type broken struct {
	ctx  context.Context
	ends []func()
}

func (b *broken) Helper()                  {}
func (b *broken) Context() context.Context { return b.ctx }
func (b *broken) Cleanup(f func())         { b.ends = append(b.ends, f) }
func (b *broken) Fatal(args ...any)        { panic(errors.New(fmt.Sprint(args...))) }
func (b *broken) Fatalf(format string, args ...any) {
	panic(fmt.Errorf(format, args...))
}

func (b *broken) TempDir() string {
	dir, err := os.MkdirTemp("", "sluice-bench-broker-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// end ends the brokers. It makes an error of what one panicked for.
func (b *broken) end(err *error) {
	if failed, ok := recover().(error); ok {
		*err = failed
	}
	for _, f := range slices.Backward(b.ends) {
		f()
	}
}

// startSink starts what a kind of sink needs. It returns its address for the peer, and the relay's configuration.
func startSink(t *broken, kind string) (address, to string) {
	switch kind {
	case "Redis":
		address = brokers.Redis(t).Address()
		return address, fmt.Sprintf("redis: {url: 'redis://%s', stream: %s}", address, peerTarget)
	case "RabbitMQ":
		address = "amqp://guest:guest@" + brokers.RabbitMQ(t).Address()
		if err := declareQueue(address); err != nil {
			t.Fatal(err)
		}
		return address, fmt.Sprintf("rabbitmq: {url: '%s', routing_key: %s}", address, peerTarget)
	case "Kafka":
		address = brokers.Kafka(t, brokers.Port(t), brokers.Port(t)).Address()
		if err := createTopic(t.ctx, address); err != nil {
			t.Fatal(err)
		}
		return address, fmt.Sprintf("kafka: {brokers: ['%s'], topic: %s}", address, peerTarget)
	}
	return "", "inbox: {name: " + peerTarget + "}"
}

func declareQueue(address string) error {
	conn, err := amqp.Dial(address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	channel, err := conn.Channel()
	if err == nil {
		_, err = channel.QueueDeclare(peerTarget, true, false, false, false, nil)
	}
	return err
}

func createTopic(ctx context.Context, address string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = kadm.NewClient(client).CreateTopic(ctx, 4, 1, nil, peerTarget)
	return err
}

const peerOrigin = "/bench_relay/events"

// event is a row of a poll.
type event struct {
	id                 int64
	at                 time.Time
	kind, key, payload string
}

// headers are those of the relay's native format.
func (e event) headers() [][2]string {
	return [][2]string{{"event-id", strconv.FormatInt(e.id, 10)}, {"event-source", peerOrigin}, {"event-type", e.kind}, {"event-key", e.key}, {"event-time", e.at.Format(time.RFC3339Nano)}}
}

// peer relays until SIGTERM.
func peer(kind, address, dsn string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	publish, err := publisher(ctx, kind, address, dsn)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		rows, _ := conn.Query(ctx, "select id, created_at, event_type, aggregate_id, payload::text from relay.poll_outbox('g', 'by hand', $1)", peerBatch)
		events, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (e event, err error) {
			return e, r.Scan(&e.id, &e.at, &e.kind, &e.key, &e.payload)
		})
		if err == nil && len(events) == 0 {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		if err == nil {
			err = publish(ctx, events)
		}
		if err == nil {
			_, err = conn.Exec(ctx, "select relay.commit_offset('g', 'by hand', $1)", events[len(events)-1].id)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// publisher connects to a sink. It returns what stores a batch.
func publisher(ctx context.Context, kind, address, dsn string) (func(context.Context, []event) error, error) {
	switch kind {
	case "Redis":
		client := redis.NewClient(&redis.Options{Addr: address})
		return func(ctx context.Context, events []event) error {
			_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
				for _, e := range events {
					values := []any{"id", e.id, "key", e.key, "data", e.payload}
					for _, h := range e.headers() {
						values = append(values, h[0], h[1])
					}
					p.XAdd(ctx, &redis.XAddArgs{Stream: peerTarget, Values: values})
				}
				return nil
			})
			return err
		}, nil
	case "RabbitMQ":
		conn, err := amqp.Dial(address)
		if err != nil {
			return nil, err
		}
		channel, err := conn.Channel()
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, events []event) error { return publishAMQP(ctx, channel, events) }, channel.Confirm(false)
	case "Kafka":
		client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DefaultProduceTopic(peerTarget))
		return func(ctx context.Context, events []event) error {
			records := make([]*kgo.Record, len(events))
			for i, e := range events {
				records[i] = &kgo.Record{Key: []byte(e.key), Value: []byte(e.payload)}
				for _, h := range e.headers() {
					records[i].Headers = append(records[i].Headers, kgo.RecordHeader{Key: h[0], Value: []byte(h[1])})
				}
			}
			return client.ProduceSync(ctx, records...).FirstErr()
		}, err
	}
	conn, err := pgx.Connect(ctx, dsn)
	return func(ctx context.Context, events []event) error {
		messages := make([]string, len(events))
		for i, e := range events {
			messages[i] = fmt.Sprintf(`{"event_id": "%s/%d", "source": "%[1]s", "event_type": %[3]q, "aggregate_id": %[4]q, "payload": %[5]s}`, peerOrigin, e.id, e.kind, e.key, e.payload)
		}
		_, err := conn.Exec(ctx, "select relay.inbox_receive_many($1, $2)", peerTarget, "["+strings.Join(messages, ",")+"]")
		return err
	}, err
}

func publishAMQP(ctx context.Context, channel *amqp.Channel, events []event) error {
	confirmations := make([]*amqp.DeferredConfirmation, len(events))
	for i, e := range events {
		headers := amqp.Table{}
		for _, h := range e.headers() {
			headers[h[0]] = h[1]
		}
		var err error
		confirmations[i], err = channel.PublishWithDeferredConfirmWithContext(ctx, "", peerTarget, true, false, amqp.Publishing{
			DeliveryMode: amqp.Persistent, MessageId: fmt.Sprint(e.id), Timestamp: e.at, Headers: headers, Body: []byte(e.payload)})
		if err != nil {
			return err
		}
	}
	for _, c := range confirmations {
		if stored, err := c.WaitContext(ctx); err != nil || !stored {
			return errors.Join(err, errors.New("an event was not stored"))
		}
	}
	return nil
}
