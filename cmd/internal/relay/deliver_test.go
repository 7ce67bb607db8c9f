package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

// unsteady is a sink that stores documents or not at random, and sometimes says that it did not where it did. In order, it stops at the first that it does not
// store.
type unsteady struct {
	t       *testing.T
	random  *rand.Rand
	inOrder bool
	stored  []string
}

var errUnsteady = errors.New("not now")

func (u *unsteady) Send(_ context.Context, documents []*wire.Document) []error {
	errs, keys, stopped := make([]error, len(documents)), map[string]bool{}, false
	for i, d := range documents {
		if keys[d.Key] && d.Key != "" && !u.inOrder {
			u.t.Errorf("two documents of key %s in one call", d.Key)
		}
		keys[d.Key] = true
		what := u.random.IntN(10)
		switch {
		case stopped && u.inOrder:
			errs[i] = errUnsteady
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

// TestDeliver holds that each document is stored, the first time in the order of its key, but for one that is rejected.
func TestDeliver(t *testing.T) {
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 2))
		u := &unsteady{t: t, random: random, inOrder: seed%2 == 1}
		var sink wire.Sink = u
		if u.inOrder {
			sink = steady{u}
		}
		p := &pipeline{c: &config.Pipeline{Name: "p", Retry: config.Retry{First: spec.Duration(1), Longest: spec.Duration(1)}}, relay: &Relay{},
			log: slog.New(slog.NewTextHandler(io.Discard, nil)), stats: newMeter().pipeline("p")}
		p.c.From.Outbox = &config.Outbox{}
		d := &delivery{p: p, encoder: &wire.Encoder{}, sink: sink}
		var events []*wire.Event
		for n := range 40 {
			events = append(events, &wire.Event{ID: fmt.Sprint(n), Key: []string{"", "a", "b", "c"}[random.IntN(4)], Payload: []byte("{}")})
		}
		outcomes := d.deliver(t.Context(), events)
		first := map[string]int{}
		for place, id := range u.stored {
			if _, seen := first[id]; !seen {
				first[id] = place
			}
		}
		last := map[string]int{}
		for i, e := range events {
			place, isStored := first[e.ID]
			switch {
			case e.ID == "13" && wire.IsRejected(outcomes[i]):
				continue
			case !isStored || outcomes[i] != nil:
				t.Errorf("seed %d: event %s: %v", seed, e.ID, outcomes[i])
			case e.Key != "" && place < last[e.Key]:
				t.Errorf("seed %d: event %s of key %s before an older one", seed, e.ID, e.Key)
			}
			last[e.Key] = place
		}
	}
}
