package mqtt

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/broker"
)

func openSink(t *testing.T, c config.MQTT) wire.Sink {
	t.Helper()
	c.Timeout = spec.Duration(5 * time.Second)
	s, err := NewSink(context.Background(), &c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func openSource(t *testing.T, c config.MQTTSource, format string, batch int) wire.Source {
	t.Helper()
	s, err := NewSource(relaytest.Context(t), &c, relaytest.Decode(format), batch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func durable(server *broker.Process, name string, topics ...string) config.MQTTSource {
	c := config.MQTTSource{URL: "mqtt://" + server.Address(), ClientID: name, SessionExpiry: spec.Duration(time.Hour)}
	for _, topic := range topics {
		c.Topics = append(c.Topics, spec.Text{Value: topic})
	}
	return c
}

// events are without the control characters that MQTT has no room for.
func events(seed uint64, n int) []*wire.Event {
	all := relaytest.Events(seed, n)
	for _, event := range all {
		event.Key = strings.NewReplacer("\n", " ", "\t", " ").Replace(event.Key)
	}
	return all
}

func TestFormats(t *testing.T) {
	server := broker.Mosquitto(t, "max_queued_messages 0")
	broker.NoLeaks(t)
	for _, format := range relaytest.Formats {
		for _, quality := range []int{1, 2} {
			published := events(uint64(31+quality), 150)
			topics := durable(server, format, "shop/"+format)
			topics.QoS = quality
			source := openSource(t, topics, format, 64)
			sink := openSink(t, config.MQTT{URL: "mqtt://" + server.Address(), QoS: quality})
			if err := sink.Check(relaytest.Context(t)); err != nil {
				t.Fatal(err)
			}
			relaytest.Send(t, sink, relaytest.Documents(t, format, "shop/"+format, published))
			received := relaytest.Collect(t, source, len(published))
			relaytest.Same(t, format, published, received)
			relaytest.Nothing(t, source)
			if err := source.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestProperties(t *testing.T) {
	server := broker.Mosquitto(t)
	source := openSource(t, durable(server, "one", "a/#"), wire.CloudEventsBinary, 10)
	sink := openSink(t, config.MQTT{URL: "mqtt://" + server.Address(), ClientID: "sink"})
	if errs := sink.Send(relaytest.Context(t), nil); errs != nil {
		t.Fatal(errs)
	}
	d := relaytest.Documents(t, wire.CloudEventsBinary, "a/b", events(32, 1))[0]
	d.Headers["note"] = "x"
	user := map[string]string{}
	for _, property := range properties(d.Headers) {
		if user[property.Key] != "" {
			t.Fatalf("%s is there twice", property.Key)
		}
		user[property.Key] = property.Value
	}
	if user["specversion"] != "1.0" || user["id"] != "32-0" || user["header:id"] != "another" || user["note"] != "x" {
		t.Fatal(user)
	}
	d.Body = []byte("\xff\x00")
	relaytest.Send(t, sink, []*wire.Document{d})
	event := relaytest.Receive(t, source, 1)[0]
	if string(event.Raw.Body) != "\xff\x00" || event.Problem == nil || event.ID != "32-0" || event.Raw.ID != d.ID || event.Raw.ContentType != "application/json" || event.Raw.Address != "a/b" {
		t.Fatalf("%+v %+v", event, event.Raw)
	}
}

func TestRejected(t *testing.T) {
	for name, settings := range map[string]string{"packet": "max_packet_size 20000", "message": "message_size_limit 19000"} {
		server := broker.Mosquitto(t, settings)
		source := openSource(t, durable(server, "one", "#"), wire.Native, 10)
		sink := openSink(t, config.MQTT{URL: "mqtt://" + server.Address()})
		documents := relaytest.Documents(t, wire.Native, "a", events(33, 8))
		documents[1].Body = []byte(strings.Repeat("x", 20000))
		documents[2].Address = "a/#"
		documents[3].Headers["n"] = "\xff"
		documents[6].Headers["n\t"] = "x"
		documents[5].Headers["n"] = "\ufdd0"
		documents[4].Headers["n"] = strings.Repeat("x", 66000)
		for i, err := range sink.Send(relaytest.Context(t), documents) {
			if wire.IsRejected(err) != (i > 0 && i < 7) || !wire.IsRejected(err) && err != nil {
				t.Error(name, i, err)
			}
		}
		if events := relaytest.Collect(t, source, 2); len(events) != 2 {
			t.Fatal(relaytest.IDs(events))
		}
	}
}

func TestUnsettled(t *testing.T) {
	server := broker.Mosquitto(t)
	broker.NoLeaks(t)
	for _, quality := range []int{1, 2} {
		c := durable(server, "one", "a/+", "b")
		c.QoS = quality
		source := openSource(t, c, wire.Native, 5)
		sink := openSink(t, config.MQTT{URL: "mqtt://" + server.Address(), QoS: quality})
		for _, d := range relaytest.Documents(t, wire.Native, "a/b", events(34, 12)) {
			relaytest.Send(t, sink, []*wire.Document{d})
		}
		first := relaytest.Receive(t, source, 5)
		if err := source.Settle(relaytest.Context(t), first, []error{nil, wire.Reject("never"), errors.New("later"), nil, errors.New("later")}); err != nil {
			t.Fatal(err)
		}
		again := relaytest.Receive(t, source, 5)
		if ids := relaytest.IDs(again); ids != "34-2 34-3 34-4 34-5 34-6" {
			t.Fatal(ids)
		}
		if err := source.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := source.Receive(relaytest.Context(t)); err == nil {
			t.Fatal("a closed source received")
		}
		relaytest.Send(t, sink, relaytest.Documents(t, wire.Native, "b", events(35, 1)))
		source = openSource(t, c, wire.Native, 20)
		if ids := relaytest.IDs(relaytest.Collect(t, source, 11)); ids != "34-2 34-3 34-4 34-5 34-6 34-7 34-8 34-9 34-10 34-11 35-0" {
			t.Fatal(ids)
		}
		relaytest.Nothing(t, source)
		if err := source.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOthers holds that what other clients publish, without properties or a guarantee, arrives and does not fill the source up.
func TestOthers(t *testing.T) {
	server := broker.Mosquitto(t)
	source := openSource(t, durable(server, "one", "#"), wire.Native, 5)
	e, err := newEndpoint("mqtt://"+server.Address(), "", "", config.TLS{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.connect(relaytest.Context(t), &paho.Connect{CleanStart: true}, paho.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 50 { // the broker confirms the last one, after which it has them all
		if _, err := c.Publish(relaytest.Context(t), &paho.Publish{QoS: byte(n / 49), Topic: "a", Payload: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	c.close()
	for n := 0; n < 50; {
		events, err := source.Receive(relaytest.Context(t))
		if err != nil {
			t.Fatal(err)
		}
		if n += len(events); events[0].Problem == nil || !strings.HasPrefix(events[0].Problem.Error(), "the document has no id") {
			t.Fatal(events[0].Problem)
		}
		if err := source.Settle(relaytest.Context(t), events, make([]error, len(events))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRetain(t *testing.T) {
	server := broker.Mosquitto(t)
	sink := openSink(t, config.MQTT{URL: "mqtt://" + server.Address(), Retain: true})
	relaytest.Send(t, sink, relaytest.Documents(t, wire.Native, "a", events(36, 1)))
	source := openSource(t, durable(server, "one", "a"), wire.Native, 5)
	relaytest.Collect(t, source, 1)
	if err := source.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	relaytest.Nothing(t, openSource(t, durable(server, "one", "a"), wire.Native, 5))
}

// TestKilled kills the broker, whose queues survive it, while events are unsettled and in the middle of a send.
func TestKilled(t *testing.T) {
	server := broker.Mosquitto(t, "max_queued_messages 0")
	broker.NoLeaks(t)
	published := events(37, 400)
	documents := relaytest.Documents(t, wire.Native, "a", published)
	source := openSource(t, durable(server, "one", "a"), wire.Native, 50)
	sink := openSink(t, config.MQTT{URL: "mqtt://" + server.Address()})
	relaytest.Send(t, sink, documents[:100])
	held := relaytest.Receive(t, source, 50)
	server.Save()
	server.Kill()
	if err := relaytest.Attempt(t, sink, documents[100:120]); err == nil || wire.IsRejected(err) {
		t.Fatal(err)
	}
	if _, err := source.Receive(relaytest.Context(t)); err == nil {
		t.Fatal("events were received without a broker")
	}
	if err := source.Settle(relaytest.Context(t), held, make([]error, len(held))); err == nil {
		t.Fatal("events were settled without a broker")
	}
	if err := source.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	server.Start()
	relaytest.Send(t, sink, documents[100:200])
	if err := openSource(t, durable(server, "two", "other"), wire.Native, 1).Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	server.Save()
	failures := relaytest.SendThrough(t, sink, relaytest.Documents(t, wire.Native, "other", published[:200]), func() {
		server.Kill()
		time.Sleep(100 * time.Millisecond)
		server.Start()
	})
	if failures == 0 {
		t.Fatal("a dead broker took documents")
	}
	relaytest.Send(t, sink, documents[200:])
	source = openSource(t, durable(server, "one", "a"), wire.Native, 64)
	relaytest.Same(t, wire.Native, published, relaytest.Collect(t, source, len(published)))
}

func TestTransports(t *testing.T) {
	encrypted, web := broker.Port(t), broker.Port(t)
	certificate, key := broker.Certificate(t)
	server := broker.Mosquitto(t, "listener "+web+" 127.0.0.1", "protocol websockets",
		"listener "+encrypted+" 127.0.0.1", "certfile "+certificate, "keyfile "+key)
	for _, port := range []string{web, encrypted} {
		if err := broker.Await("127.0.0.1:" + port); err != nil {
			t.Fatal(err)
		}
	}
	broker.NoLeaks(t)
	for _, c := range []config.MQTTSource{
		{URL: "ws://127.0.0.1:" + web}, {URL: "mqtts://localhost:" + encrypted, TLS: config.TLS{CA: certificate}},
	} {
		c.ClientID, c.Topics = "one", []spec.Text{{Value: "a"}}
		source := openSource(t, c, wire.Native, 10)
		published := events(38, 100)
		sink := openSink(t, config.MQTT{URL: c.URL, TLS: c.TLS})
		relaytest.Send(t, sink, relaytest.Documents(t, wire.Native, "a", published))
		relaytest.Same(t, wire.Native, published, relaytest.Collect(t, source, len(published)))
		if err := source.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []config.MQTT{{URL: "mqtts://localhost:" + encrypted}, {URL: "mqtts://127.0.0.1:" + encrypted, TLS: config.TLS{CA: certificate}}} {
		if err := openSink(t, c).Check(relaytest.Context(t)); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: the certificate was not verified: %v", c.URL, err)
		}
	}
	if err := openSink(t, config.MQTT{URL: "mqtt://" + server.Address()}).Check(relaytest.Context(t)); err != nil {
		t.Error(err)
	}
}

func TestSecrets(t *testing.T) {
	server := broker.Mosquitto(t, "allow_anonymous false")
	for _, url := range []string{"mqtt://user:hunter2/x@127.0.0.1:1", "http://user:hunter2@127.0.0.1:1", "mqtt://user:hunter2@127.0.0.1:1", "ws://user:hunter2@127.0.0.1:1", "mqtt://user:hunter2@" + server.Address()} {
		sink, err := NewSink(context.Background(), &config.MQTT{URL: url})
		if err == nil {
			err = sink.Check(relaytest.Context(t))
			_ = sink.Close(context.Background())
		}
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestStalled(t *testing.T) {
	server := broker.Mosquitto(t)
	broker.NoLeaks(t)
	sink, err := NewSink(context.Background(), &config.MQTT{URL: "mqtt://" + server.Address(), Timeout: spec.Duration(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sink.Close(context.Background()) }()
	if err := openSource(t, durable(server, "one", "a"), wire.Native, 1).Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	relaytest.Stalled(t, sink, relaytest.Documents(t, wire.Native, "a", events(39, 50)), server.Stall, server.Resume)
}
