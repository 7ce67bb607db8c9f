package relaytest

import (
	"fmt"
	"math/rand"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Document makes the nth document of a key, in the format native.
func Document(n int, address, key string) *wire.Document {
	id := fmt.Sprintf("id-%d", n)
	return &wire.Document{Address: address, Key: key, ID: id, ContentType: "application/json",
		Headers: map[string]string{"event-id": id, "event-type": "t", "event-key": key}, Body: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// Keyed makes n documents of a few keys, in random order of the keys.
func Keyed(seed int64, n int, document func(n int, key string) *wire.Document) []*wire.Document {
	random := rand.New(rand.NewSource(seed))
	all := make([]*wire.Document, n)
	for i := range all {
		all[i] = document(i, fmt.Sprintf("k%d", random.Intn(7)))
	}
	return all
}

// SendAtOnce sends documents in one call, in which all succeed.
func SendAtOnce(t *testing.T, sink wire.Sink, documents ...*wire.Document) {
	t.Helper()
	for i, err := range sink.Send(Context(t), documents) {
		if err != nil {
			t.Fatalf("document %d: %v", i, err)
		}
	}
}

// Next receives events and settles none of them.
func Next(t *testing.T, source wire.Source) []*wire.Event {
	t.Helper()
	events, err := source.Receive(Context(t))
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// Take receives events until it has as many, with those that come again, and settles each batch as delivered.
func Take(t *testing.T, source wire.Source, n int) (events []*wire.Event) {
	t.Helper()
	for len(events) < n {
		got := Next(t, source)
		Settle(t, source, got, make([]error, len(got)))
		events = append(events, got...)
	}
	return events
}

// Settle tells a source what became of events.
func Settle(t *testing.T, source wire.Source, events []*wire.Event, outcomes []error) {
	t.Helper()
	if err := source.Settle(Context(t), events, outcomes); err != nil {
		t.Fatal(err)
	}
}

// DocumentIDs are the ids of documents, separated by blanks, as IDs has those of events.
func DocumentIDs(documents []*wire.Document) string {
	ids := make([]string, len(documents))
	for i, d := range documents {
		ids[i] = d.ID
	}
	return strings.Join(ids, " ")
}

// SameIDs compares ids that are separated by blanks.
func SameIDs(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %d, want %d: %.300s, want %.300s", what, len(strings.Fields(got)), len(strings.Fields(want)), got, want)
	}
}

// NoneRuns fails if goroutines whose stack has one of some texts are left once all is closed.
func NoneRuns(t *testing.T, texts ...string) {
	t.Helper()
	left := ""
	for range 100 {
		var all strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&all, 1)
		left = ""
		for stack := range strings.SplitSeq(all.String(), "\n\n") {
			if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(stack, text) }) {
				left += stack + "\n\n"
			}
		}
		if left == "" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("goroutines are left:\n%s", left)
}
