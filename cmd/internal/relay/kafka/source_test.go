package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

var errLater = errors.New("later")

func TestUnsettledComeAgain(t *testing.T) {
	addresses := start(t, 1)
	all := documents(5, 20)
	relaytest.SendAtOnce(t, openSink(t, sinkConfig(addresses)), all...)
	source := openSource(t, sourceConfig(addresses), wire.Native, 10)
	first := relaytest.Next(t, source)
	relaytest.SameIDs(t, "first", relaytest.IDs(first), relaytest.DocumentIDs(all[:10]))
	outcomes := make([]error, 10)
	outcomes[2], outcomes[5], outcomes[7] = wire.Reject("never"), errLater, errLater
	relaytest.Settle(t, source, first, outcomes)
	second := relaytest.Next(t, source)
	relaytest.SameIDs(t, "from the first that was not delivered", relaytest.IDs(second), relaytest.DocumentIDs(all[5:15]))
	if err := source.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := openSource(t, sourceConfig(addresses), wire.Native, 100)
	relaytest.SameIDs(t, "after Close", relaytest.IDs(relaytest.Take(t, again, 15)), relaytest.DocumentIDs(all[5:]))
	relaytest.Nothing(t, again)
	if err := again.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	relaytest.Nothing(t, openSource(t, sourceConfig(addresses), wire.Native, 100))
}

// TestPartitionsGoBackAlone fails documents of one partition only.
func TestPartitionsGoBackAlone(t *testing.T) {
	addresses := start(t, 4)
	all := documents(6, 200)
	relaytest.SendAtOnce(t, openSink(t, sinkConfig(addresses)), all...)
	source := openSource(t, sourceConfig(addresses), wire.Native, 1000)
	var first []*wire.Event
	var repeated []string
	failing := int32(-1)
	for len(first) < len(all) {
		got := relaytest.Next(t, source)
		outcomes := make([]error, len(got))
		for i, e := range got {
			if failing < 0 {
				failing = e.Place.Partition
			}
			if e.Place.Partition == failing && len(repeated) == 0 {
				outcomes[i] = errLater
			}
		}
		relaytest.Settle(t, source, got, outcomes)
		for i, e := range got {
			if outcomes[i] != nil {
				repeated = append(repeated, e.ID)
			} else {
				first = append(first, e)
			}
		}
	}
	if again := inOrder(t, first, all); again != 0 {
		t.Errorf("%d documents of other partitions came again", again)
	}
	relaytest.Nothing(t, source)
}

func TestFewComePromptly(t *testing.T) {
	addresses := start(t, 3)
	sink := openSink(t, sinkConfig(addresses))
	source := openSource(t, sourceConfig(addresses), wire.Native, 500)
	relaytest.Nothing(t, source)
	relaytest.SendAtOnce(t, sink, document(0, "a"))
	relaytest.Take(t, source, 1)
	for i := range 5 {
		begun := time.Now()
		relaytest.SendAtOnce(t, sink, document(i+1, "a"))
		relaytest.Take(t, source, 1)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("a document came after %v", took)
		}
	}
}

func TestStartAtEnd(t *testing.T) {
	addresses := start(t, 3)
	sink := openSink(t, sinkConfig(addresses))
	all := documents(7, 30)
	relaytest.SendAtOnce(t, sink, all[:10]...)
	c := sourceConfig(addresses)
	c.Group, c.Start = "end", config.Latest
	source := openSource(t, c, wire.Native, 100)
	if err := source.Close(t.Context()); err != nil { // before it has joined the group
		t.Fatal(err)
	}
	relaytest.SendAtOnce(t, sink, all[10:20]...)
	source = openSource(t, c, wire.Native, 100)
	inOrder(t, relaytest.Take(t, source, 10), all[10:20])
	other := openSource(t, c, wire.Native, 100) // beside another member
	if err := source.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	relaytest.SendAtOnce(t, sink, all[20:]...)
	inOrder(t, relaytest.Take(t, other, 10), all[20:])
	relaytest.Nothing(t, other)
}

// TestRebalance has members come and go while documents are consumed.
func TestRebalance(t *testing.T) {
	addresses := start(t, 6)
	sink := openSink(t, sinkConfig(addresses))
	all := documents(8, 200)
	relaytest.SendAtOnce(t, sink, all...)
	first := openSource(t, sourceConfig(addresses), wire.Native, 40)
	events := relaytest.Take(t, first, 40)
	held := relaytest.Next(t, first)
	second := openSource(t, sourceConfig(addresses), wire.Native, 40)
	results := make(chan []*wire.Event)
	go func() { // gets partitions once the first has settled
		got, err := second.Receive(t.Context())
		if err == nil {
			err = second.Settle(t.Context(), got, make([]error, len(got)))
		}
		if err != nil {
			t.Error(err)
		}
		results <- got
	}()
	time.Sleep(200 * time.Millisecond)
	relaytest.Settle(t, first, held, make([]error, len(held)))
	events = append(events, held...)
	var others []*wire.Event
	for n := len(all); others == nil; n += 7 {
		select {
		case others = <-results:
			continue
		default:
		}
		for i := range 7 {
			all = append(all, document(n+i, fmt.Sprintf("k%d", i)))
		}
		relaytest.SendAtOnce(t, sink, all[n:]...)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if got, err := first.Receive(ctx); err == nil {
			relaytest.Settle(t, first, got, make([]error, len(got)))
			events = append(events, got...)
		}
		cancel()
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	events = append(events, others...)
	for distinct(events) < len(all) {
		events = append(events, relaytest.Take(t, second, 1)...)
	}
	if repeated := inOrder(t, sorted(events), all); repeated != 0 {
		t.Errorf("%d documents came again", repeated)
	}
	relaytest.Nothing(t, second)
}

func distinct(events []*wire.Event) int {
	seen := map[string]bool{}
	for _, e := range events {
		seen[e.ID] = true
	}
	return len(seen)
}

// sorted has the events of two members as the partitions have them.
func sorted(events []*wire.Event) []*wire.Event {
	slices.SortStableFunc(events, func(a, b *wire.Event) int { return int(a.Place.Offset - b.Place.Offset) })
	return events
}

// TestLostPartitions holds documents for so long that the group goes on without the member, which must not commit then.
func TestLostPartitions(t *testing.T) {
	addresses := start(t, 2)
	all := documents(9, 20)
	relaytest.SendAtOnce(t, openSink(t, sinkConfig(addresses)), all...)
	c := sourceConfig(addresses)
	c.RebalanceTimeout = spec.Duration(time.Second)
	slow := openSource(t, c, wire.Native, 5)
	held := relaytest.Next(t, slow)
	other := openSource(t, c, wire.Native, 100)
	inOrder(t, relaytest.Take(t, other, 20), all)
	if err := slow.Settle(t.Context(), held, make([]error, len(held))); err == nil {
		t.Error("a member that lost its partitions committed")
	}
	relaytest.Nothing(t, other)
}

func TestReceiveEnds(t *testing.T) {
	addresses := start(t, 1)
	source := openSource(t, sourceConfig(addresses), wire.Native, 10)
	relaytest.Nothing(t, source)
	go func() {
		time.Sleep(50 * time.Millisecond)
		_ = source.Close(context.Background())
	}()
	if _, err := source.Receive(t.Context()); err == nil {
		t.Fatal("Receive returned events of a closed source")
	}
	c := sourceConfig(addresses)
	c.Topics = texts([]string{"events", "none"})
	if _, err := NewSource(t.Context(), c, wire.Decoder{}.Decode, 1); err == nil || !strings.Contains(err.Error(), "topic none does not exist") {
		t.Errorf("%v", err)
	}
	begun := time.Now()
	if _, err := NewSource(t.Context(), sourceConfig([]string{"127.0.0.1:1"}), wire.Decoder{}.Decode, 1); err == nil || time.Since(begun) > 10*time.Second {
		t.Errorf("no broker after %v: %v", time.Since(begun), err)
	}
}

// TestSourceSurvivesKill consumes across a restart of the broker.
func TestSourceSurvivesKill(t *testing.T) {
	server := startProcess(t)
	all := documents(10, 300)
	relaytest.SendAtOnce(t, openSink(t, sinkConfig(server.addresses())), all...)
	source := openSource(t, sourceConfig(server.addresses()), wire.Native, 20)
	events := relaytest.Take(t, source, 20)
	held := relaytest.Next(t, source)
	server.kill()
	settled := make(chan error)
	go func() { settled <- source.Settle(t.Context(), held, make([]error, len(held))) }()
	time.Sleep(100 * time.Millisecond)
	server.start(t)
	err := <-settled
	if err == nil {
		events = append(events, held...)
	} else {
		if err := source.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		source = openSource(t, sourceConfig(server.addresses()), wire.Native, 20)
	}
	t.Log("settled:", err)
	for distinct(events) < len(all) {
		events = append(events, relaytest.Take(t, source, 1)...)
	}
	inOrder(t, events, all)
}
