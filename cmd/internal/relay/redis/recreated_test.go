package redis

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/tests/kit/broker"
)

// TestStreamRecreated deletes the stream, which the next document creates again, while a sink and a source that began at its end use it.
func TestStreamRecreated(t *testing.T) {
	server := broker.Redis(t)
	client := redis.NewClient(&redis.Options{Addr: server.Address()})
	defer func() { _ = client.Close() }()
	c := group(server.Address(), "one", "s")
	c.Start = config.Latest
	open := func() (wire.Source, error) {
		return NewSource(relaytest.Context(t), &c, relaytest.Decode(wire.Native), 10)
	}
	all := relaytest.Documents(t, wire.Native, "s", relaytest.Events(15, 80))
	relaytest.Recreated(t, openSink(t, server.Address(), "s"), open, all[:40], all[40:], func() {
		if err := client.Del(context.Background(), "s").Err(); err != nil {
			t.Fatal(err)
		}
	})
}
