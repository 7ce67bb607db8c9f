package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

// unsteady is a sink that stores documents or not at random, and sometimes says that it did not where it did. In order, it stops at the first that it does not
// store at random.
type unsteady struct {
	t       *testing.T
	random  *rand.Rand
	inOrder bool
	poison  string // an id that is never stored
	stored  []string
}

var errUnsteady = errors.New("not now")

func (u *unsteady) Send(_ context.Context, documents []*wire.Document) []error {
	errs, keys, refused, stopped := make([]error, len(documents)), map[string]bool{}, map[string]bool{}, false
	for i, d := range documents {
		if keys[d.Key] && d.Key != "" && !u.inOrder {
			u.t.Errorf("two documents of key %s in one call", d.Key)
		}
		keys[d.Key] = true
		what := u.random.IntN(10)
		switch {
		case stopped && u.inOrder, refused[d.Key]:
			errs[i] = wire.ErrBehind
		case d.ID == u.poison:
			errs[i], refused[d.Key] = errUnsteady, u.inOrder && d.Key != ""
		case d.ID == "13":
			errs[i] = wire.Reject("never")
		case what == 0:
			errs[i], stopped = errUnsteady, true
		default:
			u.stored = append(u.stored, d.ID)
			if what == 1 {
				errs[i], stopped = errUnsteady, true
			}
		}
	}
	return errs
}

func (u *unsteady) Check(context.Context) error { return nil }
func (u *unsteady) Close(context.Context) error { return nil }

type steady struct{ *unsteady }

func (steady) InOrder() {}

// newTestDelivery has a pipeline from an outbox, with pauses of a nanosecond.
func newTestDelivery(sink wire.Sink, patience patience) *delivery {
	retry := config.Retry{Attempts: 20, First: 1, Longest: spec.Duration(time.Hour)}
	if patience.mode == hold {
		retry.Longest = 1
	}
	p := &pipeline{c: &config.Pipeline{Name: "p", Retry: retry}, relay: &Relay{}, log: slog.New(slog.NewTextHandler(io.Discard, nil)), stats: newMeter().pipeline("p")}
	p.c.From.Outbox = &config.Outbox{}
	p.stop = newStop(context.Background(), p.c)
	p.circuit = newCircuit(retry, p.circuitChanged)
	return &delivery{p: p, encoder: &wire.Encoder{}, sink: sink, patience: patience}
}

// newTest makes a sink and events of a seed.
func newTest(t *testing.T, seed uint64, events int) (*unsteady, wire.Sink, []*wire.Event) {
	random := rand.New(rand.NewPCG(seed, 2))
	u := &unsteady{t: t, random: random, inOrder: seed%2 == 1}
	var sink wire.Sink = u
	if u.inOrder {
		sink = steady{u}
	}
	var all []*wire.Event
	for n := range events {
		all = append(all, &wire.Event{ID: fmt.Sprint(n), Key: []string{"", "a", "b", "c"}[random.IntN(4)], Payload: []byte("{}"), Attempt: 1})
	}
	return u, sink, all
}

// checkOrder holds that each event but those that were rejected is stored, the first time in the order of its key where that is promised.
func (u *unsteady) checkOrder(seed uint64, events []*wire.Event, rejected map[string]bool, inOrder bool) {
	first := map[string]int{}
	for place, id := range u.stored {
		if _, seen := first[id]; !seen {
			first[id] = place
		}
	}
	last := map[string]int{}
	for _, e := range events {
		place, isStored := first[e.ID]
		switch {
		case rejected[e.ID]:
			continue
		case !isStored:
			u.t.Errorf("seed %d: event %s is not stored", seed, e.ID)
		case inOrder && e.Key != "" && place < last[e.Key]:
			u.t.Errorf("seed %d: event %s of key %s before an older one", seed, e.ID, e.Key)
		}
		last[e.Key] = place
	}
}

// TestDeliver holds that each document is stored, the first time in the order of its key, but for one that is rejected.
func TestDeliver(t *testing.T) {
	for seed := range uint64(400) {
		u, sink, events := newTest(t, seed, 40)
		outcomes := newTestDelivery(sink, patience{hold, true}).deliver(t.Context(), events)
		for i, err := range outcomes {
			if err != nil && (events[i].ID != "13" || !wire.IsRejected(err)) {
				t.Errorf("seed %d: event %s: %v", seed, events[i].ID, err)
			}
		}
		u.checkOrder(seed, events, map[string]bool{"13": true}, true)
	}
}

// TestPostpone holds the same where events come again, and that the events of one key wait for each other only where they are to be in order. An event that is
// refused for ever is rejected after its attempts, and no other one.
func TestPostpone(t *testing.T) {
	for seed := range uint64(400) {
		u, sink, events := newTest(t, seed, 40)
		u.poison = "7"
		inOrder := seed%4 < 2
		d := newTestDelivery(sink, patience{postpone, inOrder})
		rejected, waiting := map[string]bool{}, events
		for n := 0; len(waiting) > 0; n++ {
			if n > 1000 {
				t.Fatalf("seed %d: %d events are never delivered", seed, len(waiting))
			}
			var again []*wire.Event
			for i, err := range d.deliver(t.Context(), waiting) {
				e := waiting[i]
				var later wire.Postponed
				switch {
				case err == nil:
				case wire.IsRejected(err):
					rejected[e.ID] = true
				case errors.As(err, &later):
					if later.Counts {
						e.Attempt++
					}
					again = append(again, e)
				case errors.Is(err, wire.ErrBehind) && (inOrder && e.Key != "" || u.inOrder):
					again = append(again, e)
				default:
					t.Errorf("seed %d: event %s of key %q: %v", seed, e.ID, e.Key, err)
				}
			}
			waiting = again
		}
		if !rejected["7"] || !rejected["13"] || len(rejected) != 2 {
			t.Errorf("seed %d: rejected are %v", seed, rejected)
		}
		u.checkOrder(seed, events, rejected, inOrder)
	}
}

// TestCircuit holds that failures are an event's own only while the sink takes others, that a sink which takes none is sent one event at a time, and that events
// which come again do not make it look like one.
func TestCircuit(t *testing.T) {
	var states []string
	c := newCircuit(config.Retry{First: 1, Longest: spec.Duration(time.Hour)}, func(_, to string, _ error) { states = append(states, to) })
	fail := func(fresh bool) bool { return c.record(0, errUnsteady, fresh) }
	own := []bool{fail(true), c.record(1, errUnsteady, true), fail(true), fail(false), fail(false), fail(true)}
	if want := []bool{false, true, true, true, true, true}; !slices.Equal(own, want) {
		t.Errorf("failures are the events' own: %v, and they should be %v", own, want)
	}
	probes := []bool{c.rest(t.Context())}
	fail(true)
	probes = append(probes, c.rest(t.Context()))
	fail(true)
	probes = append(probes, c.rest(t.Context()))
	c.record(1, nil, true)
	probes = append(probes, c.rest(t.Context()))
	if want := []bool{false, true, true, false}; !slices.Equal(probes, want) {
		t.Errorf("probes are %v, and they should be %v", probes, want)
	}
	if want := []string{closed, open, halfOpen, open, halfOpen, closed}; !slices.Equal(states, want) {
		t.Errorf("states are %v, and they should be %v", states, want)
	}
	c.took = time.Now().Add(-2 * time.Hour)
	for range tripAfter {
		if fail(false) {
			t.Error("a failure is the event's own though the sink took nothing for long")
		}
	}
	if !c.rest(t.Context()) {
		t.Error("a sink that took nothing for long is not down")
	}
}
