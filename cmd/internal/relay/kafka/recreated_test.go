package kafka

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// TestTopicRecreated deletes the topic and creates it again while a sink and a source that began at its end use it.
func TestTopicRecreated(t *testing.T) {
	addresses := start(t, 2)
	client, err := kgo.NewClient(kgo.SeedBrokers(addresses...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c := sourceConfig(addresses)
	c.Start = config.Latest
	open := func() (wire.Source, error) {
		return NewSource(t.Context(), c, wire.Decoder{Format: wire.Native, Origin: "kafka"}.Decode, 10)
	}
	events := relaytest.Events(13, 80)
	all := relaytest.Documents(t, wire.Native, "events", events)
	relaytest.Recreated(t, openSink(t, sinkConfig(addresses)), open, all[:40], all[40:], func() {
		admin := kadm.NewClient(client)
		if _, err := admin.DeleteTopic(t.Context(), "events"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, err := admin.CreateTopic(t.Context(), 2, 1, nil, "events"); err != nil {
			t.Fatal(err)
		}
	})
}
