package redis

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/broker"
)

func TestUnsettled(t *testing.T) {
	server := broker.Redis(t)
	broker.NoLeaks(t)
	events := relaytest.Events(11, 12)
	relaytest.Send(t, openSink(t, server.Address(), "s"), relaytest.Documents(t, wire.Native, "s", events))
	source := openSource(t, group(server.Address(), "one", "s"), wire.Native, 5)
	first := relaytest.Receive(t, source, 5)
	outcomes := []error{nil, errors.New("later"), wire.Reject("never"), nil, errors.New("later")}
	if err := source.Settle(relaytest.Context(t), first, outcomes); err != nil {
		t.Fatal(err)
	}
	again := relaytest.Receive(t, source, 2)
	if relaytest.IDs(again) != "11-1 11-4" {
		t.Fatal(relaytest.IDs(again))
	}
	if err := source.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := source.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	source = openSource(t, group(server.Address(), "one", "s"), wire.Native, 5)
	rest := relaytest.Collect(t, source, 9)
	if ids := relaytest.IDs(rest); ids != "11-1 11-4 11-5 11-6 11-7 11-8 11-9 11-10 11-11" {
		t.Fatal(ids)
	}
	relaytest.Nothing(t, source)
}

// TestConsumers holds that a dead consumer's entries go to another one after the visibility, and a slow one's do not.
func TestConsumers(t *testing.T) {
	server := broker.Redis(t)
	events := relaytest.Events(12, 20)
	relaytest.Send(t, openSink(t, server.Address(), "s"), relaytest.Documents(t, wire.Native, "s", events))
	quick := func(name string) wire.Source {
		c := group(server.Address(), name, "s", "another")
		c.Visibility = spec.Duration(600 * time.Millisecond)
		return openSource(t, c, wire.Native, 20)
	}
	dead, slow, third := quick("dead"), quick("slow"), quick("third")
	relaytest.Receive(t, dead, 10)
	if err := dead.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	held := relaytest.Receive(t, slow, 10)
	taken := relaytest.Collect(t, third, 10)
	if relaytest.IDs(taken) != relaytest.IDs(events[:10]) {
		t.Fatal(relaytest.IDs(taken))
	}
	relaytest.Nothing(t, third)
	relaytest.Nothing(t, third)
	if err := slow.Settle(relaytest.Context(t), held, make([]error, 10)); err != nil {
		t.Fatal(err)
	}
	relaytest.Nothing(t, slow)
}

// TestWorkers holds that sources of one process that have one name get different events.
func TestWorkers(t *testing.T) {
	server := broker.Redis(t)
	relaytest.Send(t, openSink(t, server.Address(), "s"), relaytest.Documents(t, wire.Native, "s", relaytest.Events(13, 10)))
	one, two := openSource(t, group(server.Address(), "same", "s"), wire.Native, 5), openSource(t, group(server.Address(), "same", "s"), wire.Native, 5)
	first, second := relaytest.Receive(t, one, 5), relaytest.Receive(t, two, 5)
	if relaytest.IDs(append(first, second...)) != relaytest.IDs(relaytest.Events(13, 10)) {
		t.Fatal(relaytest.IDs(first), relaytest.IDs(second))
	}
}

func TestBegin(t *testing.T) {
	server := broker.Redis(t)
	sink := openSink(t, server.Address(), "s")
	relaytest.Send(t, sink, relaytest.Documents(t, wire.Native, "s", relaytest.Events(14, 3)))
	latest := group(server.Address(), "one", "s")
	latest.Start = "latest"
	source := openSource(t, latest, wire.Native, 10)
	relaytest.Nothing(t, source)
	relaytest.Send(t, sink, relaytest.Documents(t, wire.Native, "s", relaytest.Events(15, 1)))
	relaytest.Receive(t, source, 1)
}

// TestKilled kills the server between sends, while events are unsettled, and in the middle of a send.
func TestKilled(t *testing.T) {
	server := broker.Redis(t)
	broker.NoLeaks(t)
	events := relaytest.Events(16, 1200)
	sink := openSink(t, server.Address(), "s")
	documents := relaytest.Documents(t, wire.Native, "s", events)
	relaytest.Send(t, sink, documents[:100])
	source := openSource(t, group(server.Address(), "one", "s"), wire.Native, 100)
	held := relaytest.Receive(t, source, 100)
	server.Kill()
	if err := relaytest.Attempt(t, sink, documents[100:200]); err == nil || wire.IsRejected(err) {
		t.Fatal(err)
	}
	if err := sink.Check(relaytest.Context(t)); err == nil {
		t.Fatal("a dead server is checked well")
	}
	if err := source.Settle(relaytest.Context(t), held, make([]error, 100)); err == nil {
		t.Fatal("events were settled without a server")
	}
	if _, err := source.Receive(relaytest.Context(t)); err == nil {
		t.Fatal("events were received without a server")
	}
	server.Start()
	relaytest.Send(t, sink, documents[100:200])
	failures := relaytest.SendThrough(t, sink, documents[200:], func() {
		server.Kill()
		time.Sleep(100 * time.Millisecond)
		server.Start()
	})
	if failures == 0 {
		t.Fatal("a dead server took documents")
	}
	if err := source.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	source = openSource(t, group(server.Address(), "one", "s"), wire.Native, 64)
	relaytest.Same(t, wire.Native, events, relaytest.Collect(t, source, len(events)))
}

func TestSecrets(t *testing.T) {
	for _, url := range []string{"redis://user:hunter2/x@127.0.0.1:1/0", "http://user:hunter2@127.0.0.1:1", "rediss://user:hunter2@127.0.0.1:1?skip_verify=true", "redis://user:hunter2@127.0.0.1:1/0"} {
		sink, err := NewSink(context.Background(), &config.Redis{URL: url, Stream: "s"})
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
	server := broker.Redis(t)
	sink, err := NewSink(context.Background(), &config.Redis{URL: "redis://" + server.Address(), Stream: "s", Timeout: spec.Duration(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sink.Close(context.Background()) }()
	relaytest.Stalled(t, sink, relaytest.Documents(t, wire.Native, "s", relaytest.Events(17, 50)), server.Stall, server.Resume)
}
