package nats

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// TestFullStream has a stream that refuses documents once it is full.
func TestFullStream(t *testing.T) {
	url := start(t, nil)
	events := stream(t, admin(t, url), func(c *jetstream.StreamConfig) { c.MaxMsgs, c.Discard = 3, jetstream.DiscardNew })
	sink := openSink(t, url, nil)
	all := documents(8, 5)
	for i, err := range sink.Send(t.Context(), all) {
		if i < 3 && err != nil || i >= 3 && (err == nil || wire.IsRejected(err) || !strings.Contains(err.Error(), "maximum messages exceeded")) {
			t.Errorf("document %d: %v", i, err)
		}
	}
	if err := events.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	relaytest.SendAtOnce(t, sink, all[3:]...)
}
