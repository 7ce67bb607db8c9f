package rabbitmq

import (
	"testing"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/tests/kit/broker"
)

// testRecreated deletes the exchange and the queue and creates them again while a sink and a source use them.
func testRecreated(t *testing.T, server *broker.Process) {
	channel := declare(t, server, "recreated", nil)
	open := func() (wire.Source, error) {
		return NewSource(relaytest.Context(t), &config.RabbitMQSource{URL: url(server), Queue: "recreated"}, relaytest.Decode(wire.Native), 10)
	}
	all := relaytest.Documents(t, wire.Native, "order.placed", relaytest.Events(30, 80))
	relaytest.Recreated(t, openSink(t, server, "recreated", "order.placed"), open, all[:40], all[40:], func() {
		if _, err := channel.QueueDelete("recreated", false, false, false); err != nil {
			t.Fatal(err)
		}
		if err := channel.ExchangeDelete("recreated", false, false); err != nil {
			t.Fatal(err)
		}
		declare(t, server, "recreated", nil)
	})
}
