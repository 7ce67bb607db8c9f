// Package relaytest holds what the tests of brokers share: events, and how they go through a sink and come out of a source.
package relaytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Formats are those that a document can have.
var Formats = []string{wire.Native, wire.CloudEvents, wire.CloudEventsBinary, wire.Debezium}

const patience = 30 * time.Second

// odd are texts that a careless writer breaks.
var odd = []string{"", "ünï ☃ 🙂", "a'b\"c\\d", "line\nfeed\ttab", "{{.Key}} $1 %s", "  blanks  ", strings.Repeat("x", 200)}

// Events makes events of some keys, one of which is empty, from a seed.
func Events(seed uint64, n int) []*wire.Event {
	random := rand.New(rand.NewPCG(seed, 1))
	events := make([]*wire.Event, n)
	for i := range events {
		payload, _ := json.Marshal(map[string]any{"n": i, "text": odd[random.IntN(len(odd))], "large": strings.Repeat("y", random.IntN(3000))})
		e := &wire.Event{
			ID: fmt.Sprint(seed, "-", i), Origin: "/shop/shop_events", Type: "order.placed", Time: time.UnixMilli(1700000000000 + int64(i)).UTC(),
			Payload: payload, Headers: map[string]string{"n": fmt.Sprint(i), "body": "a header", "id": "another", "key": "a third"},
		}
		if key := random.IntN(5); key > 0 {
			e.Key = fmt.Sprint("key ", key, odd[key])
		}
		if random.IntN(2) == 0 {
			e.Headers["note"] = odd[1+random.IntN(2)]
			e.Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		}
		events[i] = e
	}
	return events
}

// Documents encodes events for one address.
func Documents(t *testing.T, format, address string, events []*wire.Event) []*wire.Document {
	t.Helper()
	template, err := wire.ParseTemplate(address)
	if err != nil {
		t.Fatal(err)
	}
	encoder := wire.Encoder{Format: format, Address: template}
	documents := make([]*wire.Document, len(events))
	for i, event := range events {
		if documents[i], err = encoder.Encode(event); err != nil {
			t.Fatal(err)
		}
	}
	return documents
}

// Decode reads documents of a format.
func Decode(format string) func(*wire.Document, wire.Place) *wire.Event {
	return wire.Decoder{Format: format, Origin: "/broker"}.Decode
}

// Context ends when the test has lasted too long.
func Context(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// Send sends documents, which all succeed, as the pipeline does: in rounds with one document of each key, unless the sink keeps the order.
func Send(t *testing.T, sink wire.Sink, documents []*wire.Document) {
	t.Helper()
	if failed := Attempt(t, sink, documents); failed != nil {
		t.Fatal(failed)
	}
}

// Attempt sends documents and returns the first error. After it no more are sent.
func Attempt(t *testing.T, sink wire.Sink, documents []*wire.Document) error {
	t.Helper()
	for _, round := range rounds(sink, documents) {
		for i, err := range sink.Send(Context(t), round) {
			if err != nil {
				return fmt.Errorf("%s: %w", round[i].ID, err)
			}
		}
	}
	return nil
}

// SendThrough sends documents, some at a time and again until they are stored, while the broker is interrupted in the middle. It returns how often that failed.
func SendThrough(t *testing.T, sink wire.Sink, documents []*wire.Document, interrupt func()) (failures int) {
	t.Helper()
	began, ended := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for part := range slices.Chunk(documents, max(1, len(documents)/20)) {
			if err == nil {
				err = sendUntil(t, sink, part, &failures)
			}
			if part[0] == documents[0] {
				close(began)
			}
		}
		ended <- err
	}()
	<-began
	interrupt()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return failures
}

// Stalled checks a sink whose timeout is a second, while the broker stalls between two calls.
func Stalled(t *testing.T, sink wire.Sink, documents []*wire.Document, stall, resume func()) {
	t.Helper()
	Send(t, sink, documents)
	stall()
	began := time.Now()
	err := Attempt(t, sink, documents)
	if waited := time.Since(began); err == nil || wire.IsRejected(err) || waited < 500*time.Millisecond || waited > 4*time.Second {
		t.Errorf("a broker that stalls: %v after %s", err, waited)
	}
	began = time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := sink.Check(ctx); err == nil || time.Since(began) > 4*time.Second {
		t.Errorf("a broker that stalls is checked well: %v after %s", err, time.Since(began))
	}
	resume()
	if err := sendUntil(t, sink, documents, new(int)); err != nil {
		t.Fatal(err)
	}
}

func sendUntil(t *testing.T, sink wire.Sink, documents []*wire.Document, failures *int) error {
	t.Helper()
	for deadline := time.Now().Add(patience); ; *failures++ {
		err := Attempt(t, sink, documents)
		if err == nil || wire.IsRejected(err) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func rounds(sink wire.Sink, documents []*wire.Document) [][]*wire.Document {
	if _, ok := sink.(wire.InOrder); ok {
		return [][]*wire.Document{documents}
	}
	var all [][]*wire.Document
	seen := map[string]int{}
	for _, d := range documents {
		n := seen[d.Key]
		if seen[d.Key]++; n == len(all) {
			all = append(all, nil)
		}
		all[n] = append(all[n], d)
	}
	return all
}

// Collect receives events and settles them, until it has as many with ids of their own.
func Collect(t *testing.T, source wire.Source, n int) []*wire.Event {
	t.Helper()
	var all []*wire.Event
	seen := map[string]bool{}
	for len(seen) < n {
		events, err := source.Receive(Context(t))
		if err != nil {
			t.Fatalf("after %d events: %v", len(seen), err)
		}
		for _, event := range events {
			if !seen[event.ID] {
				all = append(all, event)
			}
			seen[event.ID] = true
		}
		if err := source.Settle(Context(t), events, make([]error, len(events))); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Receive receives as many events and settles none of them.
func Receive(t *testing.T, source wire.Source, n int) []*wire.Event {
	t.Helper()
	events, err := source.Receive(Context(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(events) != n {
		t.Fatalf("received %d events, not %d", len(events), n)
	}
	return events
}

// Undelivered are outcomes of events that no sink has.
func Undelivered(n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = errors.New("not delivered")
	}
	return errs
}

// IDs are the ids of events, separated by blanks.
func IDs(events []*wire.Event) string {
	ids := make([]string, len(events))
	for i, event := range events {
		ids[i] = event.ID
	}
	return strings.Join(ids, " ")
}

// Nothing fails the test if a source has an event.
func Nothing(t *testing.T, source wire.Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	began := time.Now()
	if events, err := source.Receive(ctx); err == nil {
		t.Fatalf("received %d events, beginning with %s, where none was left", len(events), events[0].ID)
	}
	if waited := time.Since(began); waited < 400*time.Millisecond || waited > 3*time.Second {
		t.Fatalf("the source gave up after %s", waited)
	}
}

// Same compares events with those that were published. Those of one key are in order.
func Same(t *testing.T, format string, published, received []*wire.Event) {
	t.Helper()
	byID := map[string]*wire.Event{}
	for _, event := range received {
		if event.Problem != nil {
			t.Fatalf("%s: %v", event.ID, event.Problem)
		}
		byID[event.ID] = event
	}
	if len(byID) != len(published) {
		t.Fatalf("received %d events, not %d", len(byID), len(published))
	}
	for _, want := range published {
		got := byID[want.ID]
		if got == nil {
			t.Fatalf("%s was lost", want.ID)
		}
		same(t, format, want, got)
	}
	inOrder(t, published, received)
}

func same(t *testing.T, format string, want, got *wire.Event) {
	t.Helper()
	if got.Key != want.Key || got.Type != want.Type || got.Origin != want.Origin || !got.Time.Equal(want.Time) || string(got.Payload) != string(want.Payload) {
		t.Fatalf("received %q %q %q %s %s, not %q %q %q %s %s", got.Key, got.Type, got.Origin, got.Time, got.Payload,
			want.Key, want.Type, want.Origin, want.Time, want.Payload)
	}
	if !maps.Equal(got.Headers, want.Headers) || got.Trace != want.Trace {
		t.Fatalf("%s: received headers %q and trace %q, not %q and %q", format, got.Headers, got.Trace, want.Headers, want.Trace)
	}
}

func inOrder(t *testing.T, published, received []*wire.Event) {
	t.Helper()
	place := map[string]int{}
	for i, event := range published {
		place[event.ID] = i
	}
	last := map[string]int{}
	for _, event := range received {
		before, follows := last[event.Key]
		if follows && place[event.ID] < before && event.Key != "" {
			t.Fatalf("key %q: %s came after %s", event.Key, event.ID, published[before].ID)
		}
		last[event.Key] = place[event.ID]
	}
}
