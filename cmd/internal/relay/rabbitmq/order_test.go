package rabbitmq

import (
	"errors"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/tests/kit/broker"
)

// testOrder sends documents of one key to queues of which one is missing: none follows the one that found no queue.
func testOrder(t *testing.T, server *broker.Process) {
	channel := declare(t, server, "order", nil)
	sink := openSink(t, server, "order", "{{.Type}}")
	all := relaytest.Keyed(1, 40, func(n int, _ string) *wire.Document { return relaytest.Document(n, "order.a", "k") })
	all[20].Address = "refund"
	other := relaytest.Document(40, "order.a", "other")
	for range 2 { // without and with what the sink has learned
		for i, err := range sink.Send(relaytest.Context(t), append(all, other)) {
			if (err == nil) != (i < 20 || i == 40) || i > 20 && i < 40 && !errors.Is(err, wire.ErrBehind) {
				t.Errorf("document %d: %v", i, err)
			}
		}
	}
	if err := channel.QueueBind("order", "refund", "order", false, nil); err != nil {
		t.Fatal(err)
	}
	if err := channel.QueueUnbind("order", "order.a", "order", nil); err != nil {
		t.Fatal(err)
	}
	relaytest.Send(t, sink, all[20:])
	events := relaytest.Collect(t, openSource(t, server, "order", wire.Native, 100), 41)
	last := -1
	for _, e := range events {
		for i, d := range all {
			if d.ID == e.ID && i < last {
				t.Fatalf("%s came after %s", e.ID, all[last].ID)
			} else if d.ID == e.ID {
				last = i
			}
		}
	}
}

// testOrderFull sends documents of one key to a queue that is full most of the time. Those that a round stored behind the first refusal come again in order.
func testOrderFull(t *testing.T, server *broker.Process) {
	channel := declare(t, server, "narrow", amqp.Table{"x-max-length": 3, "x-overflow": "reject-publish"})
	if err := channel.Qos(1, 0, false); err != nil {
		t.Fatal(err)
	}
	messages, err := channel.Consume("narrow", "", false, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := relaytest.Keyed(1, 400, func(n int, _ string) *wire.Document { return relaytest.Document(n, "order.a", "k") })
	place := map[string]int{}
	for i, d := range all {
		place[d.ID] = i
	}
	early, next := 0, 0
	var consumer sync.WaitGroup
	consumer.Go(func() {
		seen := map[int]bool{}
		for next < len(all) {
			select {
			case m := <-messages:
				i := place[m.MessageId]
				if !seen[i] && i > next {
					early++
				}
				if seen[i] = true; i == next {
					next++
				}
				_ = m.Ack(false)
			case <-time.After(5 * time.Second):
				return
			}
		}
	})
	sink, refusals := openSink(t, server, "narrow", "order.a"), 0
	for rest := all; len(rest) > 0; {
		var again []*wire.Document
		for i, err := range sink.Send(relaytest.Context(t), rest) {
			if err != nil && len(again) == 0 {
				refusals++
			}
			if err != nil {
				again = append(again, rest[i])
			} else if len(again) > 0 {
				t.Fatalf("%s is stored behind one that failed", rest[i].ID)
			}
		}
		rest = again
	}
	consumer.Wait()
	if next != len(all) || early > depth || refusals == 0 {
		t.Fatalf("%d of %d in order, %d before an older one, %d calls failed", next, len(all), early, refusals)
	}
}
