package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/broker"
)

// TestRabbitMQ starts one broker for all tests, which takes seconds.
func TestRabbitMQ(t *testing.T) {
	certificate, key := broker.Certificate(t)
	encrypted := broker.Port(t)
	server := broker.RabbitMQ(t, "max_message_size = 65536", "listeners.ssl.default = "+encrypted, "ssl_options.certfile = "+certificate,
		"ssl_options.keyfile = "+key, "ssl_options.cacertfile = "+certificate, "ssl_options.verify = verify_none")
	t.Run("TLS", func(t *testing.T) {
		if err := broker.Await("127.0.0.1:" + encrypted); err != nil {
			t.Fatal(err)
		}
		broker.NoLeaks(t)
		testTLS(t, encrypted, certificate)
	})
	for _, test := range []struct {
		name string
		run  func(*testing.T, *broker.Process)
	}{
		{"Formats", testFormats}, {"Properties", testProperties}, {"Rejected", testRejected}, {"Unroutable", testUnroutable}, {"Full", testFull}, {"Order", testOrder}, {"OrderFull", testOrderFull},
		{"Unsettled", testUnsettled}, {"Deleted", testDeleted}, {"Recreated", testRecreated}, {"Check", testCheck}, {"Quorum", testQuorum}, {"Stalled", testStalled}, {"Killed", testKilled},
	} {
		t.Run(test.name, func(t *testing.T) {
			broker.NoLeaks(t)
			test.run(t, server)
		})
	}
}

func url(server *broker.Process) string { return "amqp://guest:guest@" + server.Address() }

// declare makes a durable queue that an exchange of its name routes all keys to.
func declare(t *testing.T, server *broker.Process, name string, arguments amqp.Table) *amqp.Channel {
	t.Helper()
	connection, err := amqp.Dial(url(server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	channel, err := connection.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := channel.QueueDeclare(name, true, false, false, false, arguments); err != nil {
		t.Fatal(err)
	}
	if err := channel.ExchangeDeclare(name, amqp.ExchangeTopic, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := channel.QueueBind(name, "order.#", name, false, nil); err != nil {
		t.Fatal(err)
	}
	return channel
}

func openSink(t *testing.T, server *broker.Process, exchange, key string) wire.Sink {
	t.Helper()
	s, err := NewSink(context.Background(), &config.RabbitMQ{URL: url(server), Exchange: exchange, RoutingKey: key, Timeout: spec.Duration(10 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func openSource(t *testing.T, server *broker.Process, queue, format string, batch int) wire.Source {
	t.Helper()
	s, err := NewSource(relaytest.Context(t), &config.RabbitMQSource{URL: url(server), Queue: queue}, relaytest.Decode(format), batch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func testFormats(t *testing.T, server *broker.Process) {
	for _, format := range relaytest.Formats {
		declare(t, server, format, nil)
		events := relaytest.Events(21, 200)
		sink := openSink(t, server, format, "order.placed")
		if err := sink.Check(relaytest.Context(t)); err != nil {
			t.Fatal(err)
		}
		relaytest.Send(t, sink, relaytest.Documents(t, format, "order.placed", events))
		source := openSource(t, server, format, format, 64)
		received := relaytest.Collect(t, source, len(events))
		relaytest.Nothing(t, source)
		relaytest.Same(t, format, events, received)
	}
}

func testProperties(t *testing.T, server *broker.Process) {
	channel := declare(t, server, "properties", nil)
	sink := openSink(t, server, "", "properties")
	if err := sink.Check(relaytest.Context(t)); err != nil {
		t.Fatal(err)
	}
	if errs := sink.Send(relaytest.Context(t), nil); errs != nil {
		t.Fatal(errs)
	}
	events := relaytest.Events(22, 1)
	d := relaytest.Documents(t, wire.CloudEventsBinary, "properties", events)[0]
	d.Body = []byte("\xff\x00")
	relaytest.Send(t, sink, []*wire.Document{d})
	m, ok, err := channel.Get("properties", true)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if m.MessageId != events[0].Unique() || m.ContentType != "application/json" || m.DeliveryMode != amqp.Persistent || m.Timestamp.Unix() != events[0].Time.Unix() ||
		string(m.Body) != "\xff\x00" || m.Headers["cloudEvents:id"] != "22-0" || m.Headers["n"] != "0" {
		t.Fatalf("%+v", m)
	}
	err = channel.Publish("", "properties", false, false, amqp.Publishing{MessageId: "m", Body: []byte(`{"a": 1}`), Headers: amqp.Table{
		"cloudEvents_x": "y", "Big": int64(1) << 60, "yes": true, "none": nil, "bytes": []byte("b"), "at": time.Unix(1700000000, 0), "deaths": []any{amqp.Table{"count": int32(2)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	event := relaytest.Receive(t, openSource(t, server, "properties", wire.Native, 5), 1)[0]
	const want = "map[at:2023-11-14T22:13:20Z big:1152921504606846976 bytes:b ce-x:y deaths:[{\"count\":2}] none: yes:true]"
	if got := fmt.Sprint(event.Raw.Headers); got != want || event.ID != "m" || string(event.Payload) != `{"a": 1}` || event.Problem != nil {
		t.Fatal(got, event.ID, event.Problem)
	}
}

func testRejected(t *testing.T, server *broker.Process) {
	declare(t, server, "rejected", nil)
	sink := openSink(t, server, "rejected", "order.placed")
	documents := relaytest.Documents(t, wire.Native, "order.placed", relaytest.Events(23, 6))
	documents[1].Body = []byte(strings.Repeat("x", 65537))
	documents[2].Address = "order." + strings.Repeat("x", 250)
	documents[3].ID = strings.Repeat("x", 256)
	documents[4].Headers["long"] = strings.Repeat("x", 140000)
	stored := map[int]bool{}
	for i, err := range sink.Send(relaytest.Context(t), documents) {
		if wire.IsRejected(err) != (i > 0 && i < 5) {
			t.Error(i, err)
		}
		stored[i] = err == nil
	}
	// The broker closed the channel at the one that is too large: the others are sent again.
	for i, err := range sink.Send(relaytest.Context(t), documents) {
		if wire.IsRejected(err) != (i > 0 && i < 5) || !wire.IsRejected(err) && err != nil {
			t.Error(i, err)
		}
	}
	source := openSource(t, server, "rejected", wire.Native, 10)
	if events := relaytest.Collect(t, source, 2); relaytest.IDs(events) != "23-0 23-5" {
		t.Fatal(relaytest.IDs(events))
	}
}

func testUnroutable(t *testing.T, server *broker.Process) {
	declare(t, server, "unroutable", nil)
	sink := openSink(t, server, "unroutable", "{{.Type}}")
	documents := relaytest.Documents(t, wire.Native, "order.placed", relaytest.Events(24, 3))
	documents[1].Address = "refund"
	errs := sink.Send(relaytest.Context(t), documents)
	const want = `exchange "unroutable" has no queue for routing key "refund": 312 NO_ROUTE`
	if errs[0] != nil || errs[1] == nil || errs[1].Error() != want || wire.IsRejected(errs[1]) || errs[2] != nil {
		t.Fatal(errs)
	}
}

// testFull holds that a document that a full queue refuses is an error, and stored later.
func testFull(t *testing.T, server *broker.Process) {
	channel := declare(t, server, "full", amqp.Table{"x-max-length": 3, "x-overflow": "reject-publish"})
	sink := openSink(t, server, "full", "order.placed")
	documents := relaytest.Documents(t, wire.Native, "order.placed", relaytest.Events(25, 8))
	var again []*wire.Document
	for i, err := range sink.Send(relaytest.Context(t), documents) {
		if err != nil {
			if !errors.Is(err, errRefused) && !errors.Is(err, wire.ErrBehind) {
				t.Fatal(err)
			}
			again = append(again, documents[i])
		}
	}
	if len(again) < 3 {
		t.Fatal(len(again))
	}
	if _, err := channel.QueuePurge("full", false); err != nil {
		t.Fatal(err)
	}
	relaytest.Send(t, sink, again[:1])
}

// testQuorum sends documents to a quorum queue, which confirms them once its quorum has them.
func testQuorum(t *testing.T, server *broker.Process) {
	declare(t, server, "quorum", amqp.Table{"x-queue-type": "quorum"})
	events := relaytest.Events(30, 200)
	relaytest.Send(t, openSink(t, server, "quorum", "order.placed"), relaytest.Documents(t, wire.Native, "order.placed", events))
	relaytest.Same(t, wire.Native, events, relaytest.Collect(t, openSource(t, server, "quorum", wire.Native, 64), len(events)))
}

func testUnsettled(t *testing.T, server *broker.Process) {
	declare(t, server, "unsettled", nil)
	sink := openSink(t, server, "unsettled", "order.placed")
	for _, d := range relaytest.Documents(t, wire.Native, "order.placed", relaytest.Events(26, 12)) {
		relaytest.Send(t, sink, []*wire.Document{d})
	}
	source := openSource(t, server, "unsettled", wire.Native, 5)
	first := relaytest.Receive(t, source, 5)
	if err := source.Settle(relaytest.Context(t), first, []error{nil, errors.New("later"), wire.Reject("never"), nil, errors.New("later")}); err != nil {
		t.Fatal(err)
	}
	again := relaytest.Receive(t, source, 5)
	if ids := relaytest.IDs(again); ids != "26-1 26-4 26-5 26-6 26-7" {
		t.Fatal(ids)
	}
	if err := source.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := source.Receive(relaytest.Context(t)); err == nil {
		t.Fatal("a closed source received")
	}
	source = openSource(t, server, "unsettled", wire.Native, 20)
	if ids := relaytest.IDs(relaytest.Collect(t, source, 9)); ids != "26-1 26-4 26-5 26-6 26-7 26-8 26-9 26-10 26-11" {
		t.Fatal(ids)
	}
	relaytest.Nothing(t, source)
}

func testDeleted(t *testing.T, server *broker.Process) {
	channel := declare(t, server, "deleted", nil)
	source := openSource(t, server, "deleted", wire.Native, 5)
	if _, err := channel.QueueDelete("deleted", false, false, false); err != nil {
		t.Fatal(err)
	}
	if _, err := source.Receive(relaytest.Context(t)); err == nil || !strings.Contains(err.Error(), "cancelled the consumer") {
		t.Fatal(err)
	}
}

func testCheck(t *testing.T, server *broker.Process) {
	for _, sink := range []wire.Sink{openSink(t, server, "missing", "x"), openSink(t, server, "", "missing")} {
		if err := sink.Check(relaytest.Context(t)); err == nil || !strings.Contains(err.Error(), "404") {
			t.Error(err)
		}
		if errs := sink.Send(relaytest.Context(t), relaytest.Documents(t, wire.Native, "x", relaytest.Events(27, 1))); errs[0] == nil || wire.IsRejected(errs[0]) {
			t.Error(errs)
		}
	}
	_, err := NewSource(relaytest.Context(t), &config.RabbitMQSource{URL: url(server), Queue: "missing"}, relaytest.Decode(wire.Native), 5)
	if err == nil || !strings.Contains(err.Error(), "404") {
		t.Error(err)
	}
	for _, address := range []string{"amqp://user:hunter2/x@127.0.0.1:1", "http://user:hunter2@127.0.0.1:1", "amqp://user:hunter2@127.0.0.1:1", "amqp://user:hunter2@" + server.Address()} {
		sink, err := NewSink(context.Background(), &config.RabbitMQ{URL: address, RoutingKey: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Check(relaytest.Context(t)); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// testKilled kills the broker while events are unsettled and in the middle of a send.
func testKilled(t *testing.T, server *broker.Process) {
	declare(t, server, "killed", nil)
	events := relaytest.Events(28, 600)
	sink := openSink(t, server, "killed", "order.placed")
	documents := relaytest.Documents(t, wire.Native, "order.placed", events)
	relaytest.Send(t, sink, documents[:100])
	source := openSource(t, server, "killed", wire.Native, 50)
	held := relaytest.Next(t, source)
	failures := relaytest.SendThrough(t, sink, documents[100:], func() {
		server.Kill()
		if err := source.Settle(relaytest.Context(t), held, make([]error, len(held))); err == nil {
			if _, err := source.Receive(relaytest.Context(t)); err == nil {
				t.Error("events were received without a broker")
			}
		}
		server.Start()
	})
	if failures == 0 {
		t.Fatal("a dead broker took documents")
	}
	if err := source.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	source = openSource(t, server, "killed", wire.Native, 64)
	relaytest.Same(t, wire.Native, events, relaytest.Collect(t, source, len(events)))
}

func testStalled(t *testing.T, server *broker.Process) {
	declare(t, server, "stalled", nil)
	sink, err := NewSink(context.Background(), &config.RabbitMQ{URL: url(server), RoutingKey: "stalled", Timeout: spec.Duration(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sink.Close(context.Background()) }()
	relaytest.Stalled(t, sink, relaytest.Documents(t, wire.Native, "stalled", relaytest.Events(29, 50)), server.Stall, server.Resume)
}

func testTLS(t *testing.T, port, certificate string) {
	for _, c := range []struct {
		host, ca string
		isGood   bool
	}{{"localhost", certificate, true}, {"localhost", "", false}, {"127.0.0.1", certificate, false}} {
		sink, err := NewSink(context.Background(), &config.RabbitMQ{URL: "amqps://guest:guest@" + c.host + ":" + port, RoutingKey: "{{.Type}}", TLS: config.TLS{CA: c.ca}})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Check(relaytest.Context(t)); (err == nil) != c.isGood || err != nil && !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s %s: %v", c.host, c.ca, err)
		}
	}
}
