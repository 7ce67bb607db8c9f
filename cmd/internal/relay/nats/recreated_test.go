package nats

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// TestStreamRecreated deletes the stream and creates it again while a sink and a source that began at its end use it.
func TestStreamRecreated(t *testing.T) {
	url := start(t, nil)
	js := admin(t, url)
	stream(t, js, nil)
	c := sourceConfig(url)
	c.Start = config.Latest
	open := func() (wire.Source, error) {
		return NewSource(t.Context(), c, wire.Decoder{Format: wire.Native, Origin: "EVENTS"}.Decode, 10)
	}
	all := relaytest.Documents(t, wire.CloudEventsBinary, "events.a", relaytest.Events(14, 80))
	for i, d := range all { // without characters that NATS has no room for
		all[i] = document(i, "k")
		all[i].Event = d.Event
		all[i].Event.ID = all[i].ID
	}
	relaytest.Recreated(t, openSink(t, url, nil), open, all[:40], all[40:], func() {
		if err := js.DeleteStream(t.Context(), "EVENTS"); err != nil {
			t.Fatal(err)
		}
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"events.>"}}); err != nil {
			t.Fatal(err)
		}
	})
}
