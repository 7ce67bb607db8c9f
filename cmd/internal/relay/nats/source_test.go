package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

var errLater = errors.New("later")

// nextWhole receives a whole batch of documents that are all there: it waits for each as long as a busy machine may take.
func nextWhole(t *testing.T, s wire.Source) []*wire.Event {
	t.Helper()
	nats := s.(*source)
	nats.straggler = 10 * time.Second
	defer func() { nats.straggler = straggler }()
	return relaytest.Next(t, s)
}

func TestUnsettledComeAgain(t *testing.T) {
	url := start(t, nil)
	stream(t, admin(t, url), nil)
	all := documents(4, 20)
	relaytest.SendAtOnce(t, openSink(t, url, nil), all...)
	source := openSource(t, sourceConfig(url), wire.Native, 10)

	first := nextWhole(t, source)
	relaytest.SameIDs(t, "first", relaytest.IDs(first), relaytest.DocumentIDs(all[:10]))
	outcomes := make([]error, 10)
	outcomes[3], outcomes[5], outcomes[7] = errLater, errLater, wire.Reject("never")
	if err := source.Settle(t.Context(), first, outcomes); err != nil {
		t.Fatal(err)
	}
	want := all[3].ID + " " + all[5].ID + " " + relaytest.DocumentIDs(all[10:18])
	second := nextWhole(t, source)
	relaytest.SameIDs(t, "those given back, then new ones", relaytest.IDs(second), want)
	if err := source.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := openSource(t, sourceConfig(url), wire.Native, 100)
	begun := time.Now()
	relaytest.SameIDs(t, "after Close", relaytest.IDs(relaytest.Take(t, again, 12)), want+" "+relaytest.DocumentIDs(all[18:]))
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("documents came after %v", took)
	}
	relaytest.Nothing(t, again)
}

func TestFewComePromptly(t *testing.T) {
	url := start(t, nil)
	js := admin(t, url)
	stream(t, js, nil)
	source := openSource(t, sourceConfig(url), wire.Native, 500)
	relaytest.Nothing(t, source)
	for i := range 5 {
		go func() {
			time.Sleep(20 * time.Millisecond)
			_, _ = js.Publish(context.Background(), "events.a", fmt.Appendf(nil, "%d", i))
		}()
		begun := time.Now()
		got := relaytest.Take(t, source, 1)
		if took := time.Since(begun); took > time.Second || string(got[0].Payload) != fmt.Sprint(i) {
			t.Errorf("%s came after %v", got[0].Payload, took)
		}
		if got[0].ID == "" || got[0].Origin != "EVENTS" {
			t.Errorf("an event without an id has %q of %q", got[0].ID, got[0].Origin)
		}
	}
}

// TestSlowSink holds documents for longer than the server waits for an acknowledgement.
func TestSlowSink(t *testing.T) {
	url := start(t, nil)
	stream(t, admin(t, url), nil)
	all := documents(5, 10)
	relaytest.SendAtOnce(t, openSink(t, url, nil), all...)
	c := sourceConfig(url)
	c.AckWait = spec.Duration(300 * time.Millisecond)
	slow, other := openSource(t, c, wire.Native, 5), openSource(t, c, wire.Native, 100)
	held := nextWhole(t, slow)
	relaytest.SameIDs(t, "others", relaytest.IDs(relaytest.Take(t, other, 5)), relaytest.DocumentIDs(all[5:]))
	for range 5 {
		relaytest.Nothing(t, other)
	}
	if err := slow.Settle(t.Context(), held, make([]error, len(held))); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		relaytest.Nothing(t, other)
	}
}

// TestCrash leaves documents to the server, which delivers them again.
func TestCrash(t *testing.T) {
	url := start(t, nil)
	stream(t, admin(t, url), nil)
	all := documents(6, 10)
	relaytest.SendAtOnce(t, openSink(t, url, nil), all...)
	c := sourceConfig(url)
	c.AckWait = spec.Duration(500 * time.Millisecond)
	c.MaxAckPending = 10
	crashed := openSource(t, c, wire.Native, 100).(*source)
	relaytest.SameIDs(t, "first", relaytest.IDs(nextWhole(t, crashed)), relaytest.DocumentIDs(all))
	crashed.conn.Close()
	again := openSource(t, c, wire.Native, 100)
	relaytest.SameIDs(t, "after a crash", relaytest.IDs(relaytest.Take(t, again, 10)), relaytest.DocumentIDs(all))
}

func TestSubjectsAndStart(t *testing.T) {
	url := start(t, nil)
	js := admin(t, url)
	stream(t, js, nil)
	sink := openSink(t, url, nil)
	relaytest.SendAtOnce(t, sink, document(1, "a"), document(2, "b"), document(3, "c"))
	c := sourceConfig(url)
	c.Subjects = []spec.Text{{Value: "events.a"}, {Value: "events.c"}}
	source := openSource(t, c, wire.Native, 10)
	relaytest.SameIDs(t, "filtered", relaytest.IDs(relaytest.Take(t, source, 2)), "id-1 id-3")
	if err := source.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Subjects = c.Subjects[:1]
	source = openSource(t, c, wire.Native, 10)
	relaytest.SendAtOnce(t, sink, document(4, "c"), document(5, "a"))
	relaytest.SameIDs(t, "other filter", relaytest.IDs(relaytest.Take(t, source, 1)), "id-5")

	late := sourceConfig(url)
	late.Consumer, late.Start = "late", config.Latest
	after := openSource(t, late, wire.Native, 10)
	if err := after.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	relaytest.SendAtOnce(t, sink, document(6, "a"))
	late.Start = config.Earliest
	relaytest.SameIDs(t, "from the end", relaytest.IDs(relaytest.Take(t, openSource(t, late, wire.Native, 10), 1)), "id-6")

	if _, err := js.CreateConsumer(t.Context(), "EVENTS", jetstream.ConsumerConfig{Durable: "none", AckPolicy: jetstream.AckNonePolicy}); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct{ stream, consumer, want string }{{"NONE", "x", "stream NONE does not exist"}, {"EVENTS", "none", "use another name"}} {
		c := sourceConfig(url)
		c.Stream, c.Consumer = wrong.stream, wrong.consumer
		if _, err := NewSource(t.Context(), c, wire.Decoder{}.Decode, 1); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%v", err)
		}
	}
}

func TestReceiveEnds(t *testing.T) {
	url := start(t, nil)
	js := admin(t, url)
	stream(t, js, nil)
	source := openSource(t, sourceConfig(url), wire.Native, 10)
	relaytest.Nothing(t, source)
	go func() {
		time.Sleep(50 * time.Millisecond)
		_ = source.Close(context.Background())
	}()
	if _, err := source.Receive(t.Context()); err == nil {
		t.Fatal("Receive returned events of a closed source")
	}
	gone := openSource(t, sourceConfig(url), wire.Native, 10)
	go func() {
		time.Sleep(50 * time.Millisecond)
		_ = js.DeleteConsumer(context.Background(), "EVENTS", "relay")
	}()
	begun := time.Now()
	if _, err := gone.Receive(t.Context()); err == nil || time.Since(begun) > 3*time.Second {
		t.Fatalf("a deleted consumer after %v: %v", time.Since(begun), err)
	}
}

// TestSourceSurvivesKill settles across a restart of the server. One that is killed at once may not have written what it delivered; then it does not take
// all acknowledgements, and some come again.
func TestSourceSurvivesKill(t *testing.T) {
	for _, pause := range []time.Duration{0, 500 * time.Millisecond} {
		t.Run(pause.String(), func(t *testing.T) { settleAcrossKill(t, pause) })
	}
}

func settleAcrossKill(t *testing.T, pause time.Duration) {
	server := startChild(t)
	stream(t, admin(t, server.url()), nil)
	all := documents(7, 40)
	relaytest.SendAtOnce(t, openSink(t, server.url(), nil), all...)
	c := sourceConfig(server.url())
	c.AckWait = spec.Duration(3 * time.Second)
	source := openSource(t, c, wire.Native, 20)
	held := nextWhole(t, source)
	relaytest.SameIDs(t, "first", relaytest.IDs(held), relaytest.DocumentIDs(all[:20]))
	time.Sleep(pause)
	server.kill()
	settled := make(chan error)
	go func() { settled <- source.Settle(t.Context(), held, make([]error, len(held))) }()
	time.Sleep(100 * time.Millisecond)
	server.start(t)
	err := <-settled
	if _, err := source.Receive(t.Context()); err == nil {
		t.Fatal("a source that lost its connection receives")
	}
	if err := source.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	rest := all[20:]
	consumer, failed := admin(t, server.url()).Consumer(t.Context(), "EVENTS", c.Consumer)
	if failed != nil {
		t.Fatal(failed)
	}
	// Some acknowledgements of those that failed as a whole may be taken: of what the server had written that it delivered.
	left := int(consumer.CachedInfo().NumPending) + consumer.CachedInfo().NumAckPending
	if left < len(rest) || err == nil && left > len(rest) {
		t.Fatalf("%d are left after the restart (settled: %v)", left, err)
	}
	again := openSource(t, c, wire.Native, 100)
	got := strings.Fields(relaytest.IDs(relaytest.Take(t, again, left)))
	for _, id := range strings.Fields(relaytest.DocumentIDs(rest)) {
		if !slices.Contains(got, id) {
			t.Errorf("%s was lost (settled: %v)", id, err)
		}
	}
	slices.Sort(got)
	if len(slices.Compact(got)) != left {
		t.Errorf("some came twice: %v", got)
	}
	relaytest.Nothing(t, again)
}
