package mqtt

import (
	"testing"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/tests/kit/broker"
)

// TestSessionRecreated has the broker lose the session while a sink and a source use it.
func TestSessionRecreated(t *testing.T) {
	server := broker.Mosquitto(t)
	c := durable(server, "one", "a")
	open := func() (wire.Source, error) {
		return NewSource(relaytest.Context(t), &c, relaytest.Decode(wire.Native), 10)
	}
	all := relaytest.Documents(t, wire.Native, "a", events(42, 80))
	relaytest.Recreated(t, openSink(t, config.MQTT{URL: "mqtt://" + server.Address()}), open, all[:40], all[40:], func() {
		server.Kill() // before it has saved anything
		server.Start()
	})
}
