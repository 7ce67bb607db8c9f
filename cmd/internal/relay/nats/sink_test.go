package nats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

// event has texts and bytes that are awkward to carry.
func event() *wire.Event {
	return &wire.Event{ID: "7", Origin: "/shop/shop_events", Type: "order.placed", Key: "kéy:%\"1", Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		Headers: map[string]string{"tenant": "a: b; c=ü", "empty": ""}, Payload: json.RawMessage(`{"note":"\u0000 ü \" \n","n":12345678901234567890}`), Trace: "00-1-2-01"}
}

func TestFormatsArrive(t *testing.T) {
	url := start(t, nil)
	stream(t, admin(t, url), nil)
	sink := openSink(t, url, nil)
	address, err := wire.ParseTemplate("events.{{.Type}}")
	if err != nil {
		t.Fatal(err)
	}
	for i, format := range []string{wire.Native, wire.CloudEvents, wire.CloudEventsBinary, wire.Debezium} {
		encoder := wire.Encoder{Format: format, Address: address}
		sent := event()
		sent.ID = fmt.Sprint(i)
		if format == wire.CloudEventsBinary { // the binding can carry all
			sent.Key = " kéy\r\n\x00\xff%41+"
		}
		d, err := encoder.Encode(sent)
		if err != nil {
			t.Fatal(err)
		}
		relaytest.SendAtOnce(t, sink, d)
		source := openSource(t, sourceConfig(url), format, 10)
		got := relaytest.Take(t, source, 1)[0]
		if err := source.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got.Problem != nil || got.ID != sent.ID || got.Origin != sent.Origin || got.Type != sent.Type || got.Key != sent.Key || !bytes.Equal(got.Payload, sent.Payload) {
			t.Errorf("%s: %+v of %+v", format, got, sent)
		}
		if got.Raw.ID != d.ID || got.Raw.ContentType != d.ContentType || got.Headers["tenant"] != sent.Headers["tenant"] || got.Trace != sent.Trace {
			t.Errorf("%s: %+v of %+v", format, got.Raw, d)
		}
		if header := got.Tag.(*nats.Msg).Header; format == wire.CloudEventsBinary &&
			(header.Get("ce-subject") != "%20k%C3%A9y%0D%0A%00%FF%2541+" || header.Get("ce-datacontenttype") != "application/json") {
			t.Errorf("%v", header)
		}
		if got.Place != (wire.Place{Topic: "events.order.placed", Offset: int64(i) + 1, Known: true}) {
			t.Errorf("%s: %+v", format, got.Place)
		}
	}
}

func TestDocumentIsStoredOnce(t *testing.T) {
	url := start(t, nil)
	events := stream(t, admin(t, url), nil)
	sink := openSink(t, url, nil)
	all := documents(1, 50)
	relaytest.SendAtOnce(t, sink, all...)
	relaytest.SendAtOnce(t, sink, all...)
	info, err := events.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.State.Msgs != 50 {
		t.Fatalf("the stream has %d messages of 50", info.State.Msgs)
	}
}

// TestManyDocuments sends more than may be on their way at once.
func TestManyDocuments(t *testing.T) {
	url := start(t, nil)
	stream(t, admin(t, url), func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage })
	sink := openSink(t, url, nil)
	all := documents(2, window+1500)
	relaytest.SendAtOnce(t, sink, all...)
	if errs := sink.Send(t.Context(), nil); errs != nil {
		t.Fatalf("no documents: %v", errs)
	}
	source := openSource(t, sourceConfig(url), wire.Native, 5000)
	relaytest.SameIDs(t, "order of the stream", relaytest.IDs(relaytest.Take(t, source, len(all))), relaytest.DocumentIDs(all))
	relaytest.Nothing(t, source)
}

func TestRejected(t *testing.T) {
	url := start(t, nil)
	js := admin(t, url)
	events := stream(t, js, func(c *jetstream.StreamConfig) { c.MaxMsgSize = 16 << 10 })
	sink := openSink(t, url, func(c *config.NATS) { c.Stream = "EVENTS" })
	with := func(n int, change func(*wire.Document)) *wire.Document {
		d := document(n, "k")
		change(d)
		return d
	}
	all := []*wire.Document{
		document(0, "k"),
		with(1, func(d *wire.Document) { d.Body = bytes.Repeat([]byte("x"), 100<<10) }), // above max_payload
		with(2, func(d *wire.Document) { d.Body = bytes.Repeat([]byte("x"), 20<<10) }),  // above the stream's limit
		with(3, func(d *wire.Document) { d.Address = "events..k" }),
		with(4, func(d *wire.Document) { d.Address = "events.a b" }),
		with(5, func(d *wire.Document) { d.Address = "events.*" }),
		with(6, func(d *wire.Document) { d.Address = "" }),
		with(7, func(d *wire.Document) { d.Address = "$JS.API.STREAM.DELETE.EVENTS" }),
		with(8, func(d *wire.Document) { d.Headers["a"] = "1\r\nNats-Rollup: all" }),
		with(9, func(d *wire.Document) { d.Headers["a b"] = "1" }),
		with(10, func(d *wire.Document) { d.Headers["event-key"] = " k" }),
		with(11, func(d *wire.Document) { d.Address = "other.k" }), // of no stream: may be added
		document(12, "k"),
		with(13, func(d *wire.Document) { d.Body, d.Key, d.ID = nil, "", "" }),
	}
	errs := sink.Send(t.Context(), all)
	for i, err := range errs {
		switch i {
		case 0, 12, 13:
			if err != nil {
				t.Errorf("document %d: %v", i, err)
			}
		case 11:
			if err == nil || wire.IsRejected(err) || !strings.Contains(err.Error(), "no stream has the subject other.k") {
				t.Errorf("document %d: %v", i, err)
			}
		default:
			if !wire.IsRejected(err) {
				t.Errorf("document %d: %v", i, err)
			}
		}
	}
	letter := with(14, func(d *wire.Document) { d.Address = "" })
	relaytest.SendAtOnce(t, openSink(t, url, func(c *config.NATS) { c.Subject = "events.dead" }), letter) // to the only subject there is
	if info, err := events.Info(t.Context()); err != nil || info.State.Msgs != 4 {
		t.Fatalf("%+v, %v", info, err)
	}
}

func TestExpectedStream(t *testing.T) {
	url := start(t, nil)
	js := admin(t, url)
	stream(t, js, nil)
	if err := openSink(t, url, nil).Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ stream, subject, want string }{
		{"", "events.a", ""},
		{"EVENTS", "events.a", ""},
		{"", "none.a", "no stream has the subject none.a"},
		{"OTHER", "events.a", "stream OTHER does not exist"},
		{"", "events..a", "invalid subject"},
	} {
		sink := openSink(t, url, func(s *config.NATS) { s.Stream, s.Subject = c.stream, c.subject })
		if err := sink.Check(t.Context()); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "OTHER", Subjects: []string{"other.>"}}); err != nil {
		t.Fatal(err)
	}
	sink := openSink(t, url, func(s *config.NATS) { s.Stream, s.Subject = "OTHER", "events.a" })
	if err := sink.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "belongs to stream EVENTS, not to OTHER") {
		t.Error(err)
	}
	if errs := sink.Send(t.Context(), []*wire.Document{document(1, "a")}); errs == nil || errs[0] == nil || wire.IsRejected(errs[0]) {
		t.Errorf("a stream that was not expected: %v", errs)
	}
}

func TestSecretsStayHidden(t *testing.T) {
	url := start(t, func(o *natsserver.Options) { o.Username, o.Password = "app", "right" })
	host := strings.TrimPrefix(url, "nats://")
	for _, c := range []*config.NATS{
		{URL: "nats://app:hunter2@" + host},
		{URL: "nats://hunter2@" + host},
		{URL: url, User: "app", Password: "hunter2"},
		{URL: url, Token: "hunter2"},
		{URL: "nats://app:hunt/er2@" + host},
		{URL: "nats://app:hunter2%zz@" + host},
		{URL: "nats://app:hunter2@127.0.0.1:1"},
		{URL: "nats://app:hunter2@127.0.0.1:x"},
	} {
		c.Subject = "a"
		_, err := NewSink(t.Context(), c)
		if err == nil || strings.Contains(err.Error(), "hunt") {
			t.Errorf("%s: %v", c.URL, err)
		}
	}
	if err := openSink(t, url, func(c *config.NATS) { c.User, c.Password = "app", "right" }).Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSendEndsWithContext(t *testing.T) {
	url := start(t, nil)
	stream(t, admin(t, url), nil)
	sink := openSink(t, url, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range sink.Send(ctx, documents(1, 3)) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

// TestServerIsKilled sends the same documents until all are stored, while the server is killed and started again.
func TestServerIsKilled(t *testing.T) {
	server := startChild(t)
	stream(t, admin(t, server.url()), nil)
	sink := openSink(t, server.url(), func(c *config.NATS) { c.Timeout = spec.Duration(time.Second) })
	all := documents(3, 1500)
	rest, failures := all, 0
	killed := make(chan struct{})
	for step := 0; len(rest) > 0; step++ {
		part := rest[:min(50, len(rest))]
		if step == 10 {
			go func() {
				defer close(killed)
				time.Sleep(2 * time.Millisecond)
				server.kill()
			}()
		}
		errs := sink.Send(t.Context(), part)
		if errs == nil {
			rest = rest[len(part):]
			if step < 10 || failures > 0 {
				continue
			}
			time.Sleep(time.Millisecond)
			continue
		}
		failures++
		if failures == 3 {
			<-killed
			server.start(t)
		}
		for _, err := range errs {
			if wire.IsRejected(err) {
				t.Fatal(err)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	if failures < 3 {
		t.Fatalf("%d calls failed, although the server was killed", failures)
	}
	source := openSource(t, sourceConfig(server.url()), wire.Native, 500)
	relaytest.SameIDs(t, "stored", relaytest.IDs(relaytest.Take(t, source, len(all))), relaytest.DocumentIDs(all))
	relaytest.Nothing(t, source)
}
