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
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

var errLater = errors.New("later")

func TestUnsettledComeAgain(t *testing.T) {
	url := start(t, nil)
	stream(t, admin(t, url), nil)
	all := documents(4, 20)
	send(t, openSink(t, url, nil), all...)
	source := openSource(t, sourceConfig(url), wire.Native, 10)

	first := next(t, source)
	sameTexts(t, "first", ids(first), documentIDs(all[:10]))
	outcomes := make([]error, 10)
	outcomes[3], outcomes[5], outcomes[7] = errLater, errLater, wire.Reject("never")
	if err := source.Settle(t.Context(), first, outcomes); err != nil {
		t.Fatal(err)
	}
	want := append([]string{all[3].ID, all[5].ID}, documentIDs(all[10:18])...)
	second := next(t, source)
	sameTexts(t, "those given back, then new ones", ids(second), want)
	if err := source.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := openSource(t, sourceConfig(url), wire.Native, 100)
	begun := time.Now()
	sameTexts(t, "after Close", ids(receive(t, again, 12)), append(want, documentIDs(all[18:])...))
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("documents came after %v", took)
	}
	nothing(t, again)
}

func TestFewComePromptly(t *testing.T) {
	url := start(t, nil)
	js := admin(t, url)
	stream(t, js, nil)
	source := openSource(t, sourceConfig(url), wire.Native, 500)
	nothing(t, source)
	for i := range 5 {
		go func() {
			time.Sleep(20 * time.Millisecond)
			_, _ = js.Publish(context.Background(), "events.a", fmt.Appendf(nil, "%d", i))
		}()
		begun := time.Now()
		got := receive(t, source, 1)
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
	send(t, openSink(t, url, nil), all...)
	c := sourceConfig(url)
	c.AckWait = spec.Duration(300 * time.Millisecond)
	slow, other := openSource(t, c, wire.Native, 5), openSource(t, c, wire.Native, 100)
	held := next(t, slow)
	sameTexts(t, "others", ids(receive(t, other, 5)), documentIDs(all[5:]))
	for range 5 {
		nothing(t, other)
	}
	if err := slow.Settle(t.Context(), held, make([]error, len(held))); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		nothing(t, other)
	}
}

// TestCrash leaves documents to the server, which delivers them again.
func TestCrash(t *testing.T) {
	url := start(t, nil)
	stream(t, admin(t, url), nil)
	all := documents(6, 10)
	send(t, openSink(t, url, nil), all...)
	c := sourceConfig(url)
	c.AckWait = spec.Duration(500 * time.Millisecond)
	c.MaxAckPending = 10
	crashed := openSource(t, c, wire.Native, 100).(*source)
	sameTexts(t, "first", ids(next(t, crashed)), documentIDs(all))
	crashed.conn.Close()
	again := openSource(t, c, wire.Native, 100)
	sameTexts(t, "after a crash", ids(receive(t, again, 10)), documentIDs(all))
}

func TestSubjectsAndStart(t *testing.T) {
	url := start(t, nil)
	js := admin(t, url)
	stream(t, js, nil)
	sink := openSink(t, url, nil)
	send(t, sink, document(1, "a"), document(2, "b"), document(3, "c"))
	c := sourceConfig(url)
	c.Subjects = []spec.Text{{Value: "events.a"}, {Value: "events.c"}}
	source := openSource(t, c, wire.Native, 10)
	sameTexts(t, "filtered", ids(receive(t, source, 2)), []string{"id-1", "id-3"})
	if err := source.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Subjects = c.Subjects[:1]
	source = openSource(t, c, wire.Native, 10)
	send(t, sink, document(4, "c"), document(5, "a"))
	sameTexts(t, "other filter", ids(receive(t, source, 1)), []string{"id-5"})

	late := sourceConfig(url)
	late.Consumer, late.Start = "late", config.Latest
	after := openSource(t, late, wire.Native, 10)
	if err := after.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	send(t, sink, document(6, "a"))
	late.Start = config.Earliest
	sameTexts(t, "from the end", ids(receive(t, openSource(t, late, wire.Native, 10), 1)), []string{"id-6"})

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
	nothing(t, source)
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
// the acknowledgements, and all comes again.
func TestSourceSurvivesKill(t *testing.T) {
	for _, pause := range []time.Duration{0, 500 * time.Millisecond} {
		t.Run(pause.String(), func(t *testing.T) { settleAcrossKill(t, pause) })
	}
}

func settleAcrossKill(t *testing.T, pause time.Duration) {
	server := startChild(t)
	stream(t, admin(t, server.url()), nil)
	all := documents(7, 40)
	send(t, openSink(t, server.url(), nil), all...)
	c := sourceConfig(server.url())
	c.AckWait = spec.Duration(3 * time.Second)
	source := openSource(t, c, wire.Native, 20)
	held := next(t, source)
	sameTexts(t, "first", ids(held), documentIDs(all[:20]))
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
	want := documentIDs(all[20:])
	if err != nil {
		want = documentIDs(all)
	}
	again := openSource(t, c, wire.Native, 100)
	got := ids(receive(t, again, len(want)))
	slices.Sort(got)
	slices.Sort(want)
	sameTexts(t, fmt.Sprintf("after the restart (settled: %v)", err), got, want)
	nothing(t, again)
}
