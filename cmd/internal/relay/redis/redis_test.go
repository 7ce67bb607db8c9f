package redis

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/broker"
)

func openSink(t *testing.T, address, stream string) wire.Sink {
	t.Helper()
	s, err := NewSink(context.Background(), &config.Redis{URL: "redis://" + address, Stream: stream})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func openSource(t *testing.T, c config.RedisSource, format string, batch int) wire.Source {
	t.Helper()
	s, err := NewSource(relaytest.Context(t), &c, relaytest.Decode(format), batch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func group(address, consumer string, streams ...string) config.RedisSource {
	c := config.RedisSource{URL: "redis://" + address, Group: "relay", Consumer: consumer, Visibility: spec.Duration(time.Minute)}
	for _, stream := range streams {
		c.Streams = append(c.Streams, spec.Text{Value: stream})
	}
	return c
}

func TestFormats(t *testing.T) {
	server := broker.Redis(t)
	broker.NoLeaks(t)
	for _, format := range relaytest.Formats {
		events := relaytest.Events(7, 200)
		sink := openSink(t, server.Address(), format)
		if err := sink.Check(relaytest.Context(t)); err != nil {
			t.Fatal(err)
		}
		relaytest.Send(t, sink, relaytest.Documents(t, format, format, events))
		source := openSource(t, group(server.Address(), "one", format), format, 64)
		relaytest.Same(t, format, events, relaytest.Collect(t, source, len(events)))
		relaytest.Nothing(t, source)
	}
}

func TestFields(t *testing.T) {
	server := broker.Redis(t)
	sink := openSink(t, server.Address(), "s")
	if errs := sink.Send(relaytest.Context(t), nil); errs != nil {
		t.Fatal(errs)
	}
	d := &wire.Document{Address: "s", ID: "i", Key: "k", ContentType: "text/plain", Headers: map[string]string{"b": "2", "a": "1", "body": "x"}, Body: []byte("\xff\x00")}
	relaytest.Send(t, sink, []*wire.Document{d, d})
	client := redis.NewClient(&redis.Options{Addr: server.Address()})
	defer func() { _ = client.Close() }()
	got, err := client.Do(context.Background(), "xrange", "s", "-", "+").Slice()
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	const want = "[id i key k content-type text/plain a 1 b 2 header:body x body \xff\x00]"
	if fields := fmt.Sprint(got[1].([]any)[1]); fields != want {
		t.Fatalf("%q, not %q", fields, want)
	}
	if err := client.XAdd(context.Background(), &redis.XAddArgs{Stream: "s", ID: "9999999999999-1", Values: []string{"name", "Ann"}}).Err(); err != nil {
		t.Fatal(err)
	}
	events := relaytest.Receive(t, openSource(t, group(server.Address(), "one", "s"), wire.Native, 10), 3)
	if string(events[2].Payload) != `{"name":"Ann"}` || events[2].ID != "s/9999999999999-1" {
		t.Fatal(events[2].ID, string(events[2].Payload))
	}
	if string(events[0].Raw.Body) != "\xff\x00" || events[0].Problem == nil || events[0].Key != "k" || events[0].Headers["body"] != "x" {
		t.Fatalf("%+v", events[0])
	}
}

func TestRejected(t *testing.T) {
	server := broker.Redis(t, "--proto-max-bulk-len", "1mb")
	sink := openSink(t, server.Address(), "s")
	documents := relaytest.Documents(t, wire.Native, "s", relaytest.Events(3, 4))
	documents[1].Body = []byte(strings.Repeat("x", 1<<20+1))
	documents[2].Address = ""
	errs := sink.Send(relaytest.Context(t), documents)
	if errs[0] != nil || !wire.IsRejected(errs[1]) || !wire.IsRejected(errs[2]) || errs[3] != nil {
		t.Fatal(errs)
	}
	documents[1].Body = documents[1].Body[1:]
	relaytest.Send(t, sink, documents[1:2])
}

// TestOutOfMemory holds that a transaction is stored as a whole or not at all.
func TestOutOfMemory(t *testing.T) {
	server := broker.Redis(t)
	sink := openSink(t, server.Address(), "s")
	client := redis.NewClient(&redis.Options{Addr: server.Address()})
	defer func() { _ = client.Close() }()
	limit := func(memory string) {
		if err := client.ConfigSet(context.Background(), "maxmemory", memory).Err(); err != nil {
			t.Fatal(err)
		}
	}
	documents := relaytest.Documents(t, wire.Native, "s", relaytest.Events(4, 300))
	limit("1mb")
	for i, err := range sink.Send(relaytest.Context(t), documents) {
		if err == nil || wire.IsRejected(err) {
			t.Fatal(i, err)
		}
	}
	if n, err := client.XLen(context.Background(), "s").Result(); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	limit("0")
	relaytest.Send(t, sink, documents)
	if n, err := client.XLen(context.Background(), "s").Result(); n != 300 || err != nil {
		t.Fatal(n, err)
	}
}

func TestOtherKeys(t *testing.T) {
	server := broker.Redis(t)
	client := redis.NewClient(&redis.Options{Addr: server.Address()})
	defer func() { _ = client.Close() }()
	if err := client.Set(context.Background(), "text", "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	sink := openSink(t, server.Address(), "text")
	if err := sink.Check(relaytest.Context(t)); err == nil || err.Error() != "the key text is a string, not a stream" {
		t.Fatal(err)
	}
	documents := relaytest.Documents(t, wire.Native, "good", relaytest.Events(5, 2))
	documents[0].Address = "text"
	errs := sink.Send(relaytest.Context(t), documents)
	if errs[0] == nil || wire.IsRejected(errs[0]) || errs[1] != nil {
		t.Fatal(errs)
	}
}

func TestTrimmed(t *testing.T) {
	server := broker.Redis(t)
	sink, err := NewSink(context.Background(), &config.Redis{URL: "redis://" + server.Address(), Stream: "s", MaxLength: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sink.Close(context.Background()) }()
	relaytest.Send(t, sink, relaytest.Documents(t, wire.Native, "s", relaytest.Events(6, 10)))
	source := openSource(t, group(server.Address(), "one", "s"), wire.Native, 10)
	events := relaytest.Receive(t, source, 10)
	relaytest.Send(t, sink, relaytest.Documents(t, wire.Native, "s", relaytest.Events(8, 1000)))
	client := redis.NewClient(&redis.Options{Addr: server.Address()})
	defer func() { _ = client.Close() }()
	if n := client.XLen(context.Background(), "s").Val(); n < 100 || n > 300 {
		t.Fatal(n)
	}
	// The entries that come again are no longer there.
	if err := source.Settle(relaytest.Context(t), events, relaytest.Undelivered(10)); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	if next := relaytest.Receive(t, source, 10); next[0].ID == events[0].ID {
		t.Fatal(next[0].ID)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "entries=10 first=s/") {
		t.Fatal(log.String())
	}
	if n := client.XPending(context.Background(), "s", "relay").Val().Count; n != 10 {
		t.Fatal(n)
	}
}

func TestTLS(t *testing.T) {
	certificate, key := broker.Certificate(t)
	port := broker.Port(t)
	broker.Redis(t, "--tls-port", port, "--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no")
	for _, c := range []struct {
		url, ca string
		isGood  bool
	}{{"rediss://localhost:" + port, certificate, true}, {"rediss://localhost:" + port, "", false}, {"rediss://127.0.0.1:" + port, certificate, false}} {
		sink, err := NewSink(context.Background(), &config.Redis{URL: c.url, Stream: "s", TLS: config.TLS{CA: c.ca}})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Check(relaytest.Context(t)); (err == nil) != c.isGood || err != nil && !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s %s: %v", c.url, c.ca, err)
		}
		if err := sink.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}
