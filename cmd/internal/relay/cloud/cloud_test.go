//go:build clouds

package cloud

import (
	"context"
	"strings"
	"testing"
	"time"

	_ "gocloud.dev/pubsub/mempubsub" // mem, in the memory of the process

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// open makes a sink and a source of a topic of its own.
func open(t *testing.T, format, query string) (wire.Sink, wire.Source) {
	t.Helper()
	topic := "mem://" + strings.ReplaceAll(t.Name(), "/", "-") + "-" + format
	sink, err := NewSink(relaytest.Context(t), &config.Cloud{URL: topic})
	if err != nil {
		t.Fatal(err)
	}
	source, err := NewSource(relaytest.Context(t), &config.CloudSource{URL: topic + query}, relaytest.Decode(format), 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = source.Close(context.Background()) })
	t.Cleanup(func() { _ = sink.Close(context.Background()) })
	return sink, source
}

// withoutOrder compares events as Same does, but in any order, which the driver in memory has.
func withoutOrder(t *testing.T, format string, published, received []*wire.Event) {
	t.Helper()
	byID := map[string]*wire.Event{}
	for _, e := range received {
		byID[e.ID] = e
	}
	var sorted []*wire.Event
	for _, e := range published {
		if byID[e.ID] == nil {
			t.Fatalf("%s: %s was lost", format, e.ID)
		}
		sorted = append(sorted, byID[e.ID])
	}
	relaytest.Same(t, format, published, sorted)
}

func TestFormats(t *testing.T) {
	for _, format := range relaytest.Formats {
		events := relaytest.Events(7, 200)
		sink, source := open(t, format, "")
		if err := sink.Check(relaytest.Context(t)); err != nil {
			t.Fatal(err)
		}
		relaytest.Send(t, sink, relaytest.Documents(t, format, "", events))
		withoutOrder(t, format, events, relaytest.Collect(t, source, len(events)))
		relaytest.Nothing(t, source)
	}
}

func TestIDs(t *testing.T) {
	sink, source := open(t, wire.Native, "")
	if errs := sink.Send(relaytest.Context(t), nil); len(errs) != 0 {
		t.Fatal(errs)
	}
	d := &wire.Document{ID: "i", Key: "k", ContentType: "text/plain", Headers: map[string]string{"a": "1", "id": "2", "empty": ""}, Body: []byte("\xff\x00")}
	relaytest.Send(t, sink, []*wire.Document{d})
	e := relaytest.Receive(t, source, 1)[0]
	if e.ID != "i" || e.Key != "k" || e.Raw.ContentType != "text/plain" || string(e.Raw.Body) != "\xff\x00" || e.Problem == nil {
		t.Fatalf("%+v", e)
	}
	if _, isEmpty := e.Headers["empty"]; e.Headers["a"] != "1" || e.Headers["id"] != "2" || !isEmpty || len(e.Headers) != 3 {
		t.Fatalf("%q", e.Headers)
	}
}

// TestUnsettledComeAgain holds that what was given back comes again, and nothing else.
func TestUnsettledComeAgain(t *testing.T) {
	sink, source := open(t, wire.Native, "")
	events := relaytest.Events(1, 3)
	relaytest.Send(t, sink, relaytest.Documents(t, wire.Native, "", events))
	outcomes := map[string]error{events[0].ID: nil, events[1].ID: wire.Reject("never"), events[2].ID: context.Canceled}
	for seen := map[string]bool{}; len(seen) < 3; {
		got, err := source.Receive(relaytest.Context(t))
		if err != nil {
			t.Fatal(err)
		}
		errs := make([]error, len(got))
		for i, e := range got {
			seen[e.ID], errs[i] = true, outcomes[e.ID]
		}
		if err := source.Settle(relaytest.Context(t), got, errs); err != nil {
			t.Fatal(err)
		}
	}
	again := relaytest.Collect(t, source, 1)
	if again[0].ID != events[2].ID {
		t.Fatal(again[0].ID)
	}
	relaytest.Nothing(t, source)
}

func TestRejected(t *testing.T) {
	sink, source := open(t, wire.Native, "")
	documents := relaytest.Documents(t, wire.Native, "", relaytest.Events(3, 4))
	documents[1].Body = []byte(strings.Repeat("x", 256<<10))
	documents[2].Headers["note"] = "\xff"
	errs := sink.Send(relaytest.Context(t), documents)
	if errs[0] != nil || !wire.IsRejected(errs[1]) || !wire.IsRejected(errs[2]) || errs[3] != nil {
		t.Fatal(errs)
	}
	if n := len(relaytest.Collect(t, source, 2)); n != 2 {
		t.Fatal(n)
	}
	relaytest.Nothing(t, source)
}

func TestClosed(t *testing.T) {
	sink, source := open(t, wire.Native, "")
	go func() {
		time.Sleep(50 * time.Millisecond)
		_ = source.Close(context.Background())
	}()
	if _, err := source.Receive(relaytest.Context(t)); err == nil {
		t.Fatal("a closed source receives")
	}
	if err := sink.Close(relaytest.Context(t)); err != nil {
		t.Fatal(err)
	}
	for _, err := range sink.Send(relaytest.Context(t), relaytest.Documents(t, wire.Native, "", relaytest.Events(1, 2))) {
		if err == nil || wire.IsRejected(err) {
			t.Fatal(err)
		}
	}
}

// TestErrors holds that errors do not show the URL.
func TestErrors(t *testing.T) {
	for _, url := range []string{"none://hunter2", "mem://t?x=hunter2", "mem://a:hunter2@t", "mem://t\x00hunter2", "awssqs://h/q?x=hunter2", "gcppubsub://hunter2/?x=hunter2", "awssqs://h/q?raw=hunter2"} {
		_, err := NewSink(relaytest.Context(t), &config.Cloud{URL: url})
		_, sourceErr := NewSource(relaytest.Context(t), &config.CloudSource{URL: url}, relaytest.Decode(wire.Native), 1)
		for _, err := range []error{err, sourceErr} {
			if err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q: %v", url, err)
			}
		}
	}
}
