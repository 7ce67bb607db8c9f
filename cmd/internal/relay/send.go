package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/ivm/diag"
)

// patience is what a source allows with events that the sink does not take. inOrder: those of a key wait for one before them that was not delivered.
type patience struct {
	mode    mode
	inOrder bool
}

// mode is how events are tried again.
type mode int

const (
	giveBack mode = iota // here while the sink takes others; then the source has them again, with those that came since
	hold                 // here, until they are delivered: all others wait
	postpone             // by the source, after a time: others come meanwhile
)

// patienceWith returns what a source allows.
func patienceWith(source wire.Source) patience {
	s, ok := source.(wire.Postponing)
	if !ok {
		return patience{giveBack, true}
	}
	if can, inOrder := s.Postpones(); can {
		return patience{postpone, inOrder}
	}
	return patience{hold, true}
}

// send sends the pending documents until each has an outcome that lasts, is the source's again, or the relay stops. One that failed as often as
// retry.attempts says is rejected.
func (d *delivery) send(ctx, work context.Context, events []*wire.Event, documents []*wire.Document, pending []int, outcomes []error) {
	pause := backoff{c: d.p.c.Retry}
	for len(pending) > 0 {
		delivered := d.pass(work, d.sink, documents, pending, outcomes, d.inOrder)
		left, problem := undelivered(pending, outcomes)
		if ctx.Err() != nil {
			return
		}
		own := d.p.circuit.record(delivered, problem, slices.ContainsFunc(pending, func(i int) bool { return events[i].Attempt <= 1 }))
		if problem == nil {
			return
		}
		counted := map[int]bool{}
		if d.mode != hold {
			counted = d.count(work, events, left, outcomes, own)
			if left, _ = undelivered(left, outcomes); len(left) == 0 {
				return
			}
		}
		pending = left
		if d.mode == giveBack && !own {
			return
		}
		next := max(pause.next(), latest(pending, outcomes))
		if d.mode == postpone {
			next = d.postpone(events, pending, outcomes, own, counted)
		}
		d.p.stats.retrying(len(pending))
		d.p.log.Warn("not delivered; trying again", "events", len(pending), "after", next.String(), "error", problem)
		if d.mode == postpone {
			return
		}
		d.p.stats.down(d.worker, problem)
		sleep(ctx, next)
	}
}

// insist sends dead letters until each is stored or rejected, or the relay stops.
func (d *delivery) insist(ctx, work context.Context, sink wire.Sink, letters []*wire.Document, pending []int, outcomes []error) {
	pause := backoff{c: d.p.c.Retry}
	for {
		d.pass(work, sink, letters, pending, outcomes, true)
		var problem error
		if pending, problem = undelivered(pending, outcomes); problem == nil || ctx.Err() != nil {
			return
		}
		next := max(pause.next(), latest(pending, outcomes))
		d.p.log.Warn("dead letters not stored; trying again", "events", len(pending), "after", next.String(), "error", problem)
		d.p.stats.down(d.worker, problem)
		sleep(ctx, next)
	}
}

// count counts an attempt of each event whose failure is its own, and rejects those that had all of theirs. A sink that takes nothing, and yet can be reached,
// may be offered nothing but what it refuses, as where one event is first in a key that all have: then one attempt counts in a long time. It returns which
// events' attempts counted.
func (d *delivery) count(ctx context.Context, events []*wire.Event, failed []int, outcomes []error, own bool) map[int]bool {
	counted := map[int]bool{}
	isReachable := sync.OnceValue(func() bool {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		return d.sink.Check(ctx) == nil
	})
	for _, i := range failed {
		switch e := events[i]; {
		case errors.Is(outcomes[i], wire.ErrBehind), !own && !(d.p.tries.isOld(e, d.p.circuit.longest()) && isReachable()):
		default:
			counted[i] = true
			d.p.tries.add(e)
			if attempt := d.p.tries.of(e); attempt >= d.p.c.Retry.Attempts {
				outcomes[i] = wire.Rejected{Err: fmt.Errorf("not delivered in %s: %w", diag.Count(attempt, "attempt"), outcomes[i])}
			}
		}
	}
	return counted
}

// postpone makes outcomes of events that the source is to have again after a time, and returns the longest of these.
func (d *delivery) postpone(events []*wire.Event, failed []int, outcomes []error, own bool, counted map[int]bool) (longest time.Duration) {
	for _, i := range failed {
		if errors.Is(outcomes[i], wire.ErrBehind) {
			continue
		}
		after := d.p.circuit.away()
		if own {
			after = pauseAfter(d.p.c.Retry, d.p.tries.of(events[i]))
		}
		after = max(after, latest([]int{i}, outcomes))
		longest = max(longest, after)
		outcomes[i] = wire.Postponed{Later: wire.Later{Err: outcomes[i], After: after}, Counts: counted[i]}
	}
	return longest
}

// undelivered returns those of the pending events that failed, or were not sent behind one that did, and what the first failed for.
func undelivered(pending []int, outcomes []error) (left []int, problem error) {
	for _, i := range pending {
		err := outcomes[i]
		if err == nil || wire.IsRejected(err) {
			continue
		}
		if problem == nil || errors.Is(problem, wire.ErrBehind) {
			problem = err
		}
		left = append(left, i)
	}
	return left, problem
}

// latest is the longest time that a sink asked for, an hour at most.
func latest(failed []int, outcomes []error) (after time.Duration) {
	for _, i := range failed {
		var later wire.Later
		if errors.As(outcomes[i], &later) {
			after = max(after, min(later.After, time.Hour))
		}
	}
	return after
}

// pass sends documents once, those of one key after each other; in order, none after one of its key that failed. It returns how many were delivered.
func (d *delivery) pass(ctx context.Context, sink wire.Sink, documents []*wire.Document, pending []int, outcomes []error, inOrder bool) (delivered int) {
	_, together := sink.(wire.InOrder)
	failed := map[string]bool{}
	for rest := pending; len(rest) > 0; {
		var round, next []int
		used := map[string]bool{}
		for _, i := range rest {
			key := documents[i].Key
			switch {
			case inOrder && key != "" && failed[key]:
				outcomes[i] = wire.ErrBehind
			case together || key == "" || !used[key]:
				used[key] = true
				round = append(round, i)
			default:
				next = append(next, i)
			}
		}
		call(ctx, sink, documents, round, outcomes)
		stored, settled := tally(round, outcomes)
		delivered += stored
		for _, i := range round {
			switch err := outcomes[i]; {
			case err == nil, wire.IsRejected(err):
			case errors.Is(err, wire.ErrBehind) && settled > 0: // behind one of another key
				next = append(next, i)
			default:
				failed[documents[i].Key] = true
			}
		}
		slices.Sort(next)
		rest = next
	}
	return delivered
}

// tally counts the events that were delivered, and those that were delivered or rejected.
func tally(round []int, outcomes []error) (delivered, settled int) {
	for _, i := range round {
		switch {
		case outcomes[i] == nil:
			delivered++
			settled++
		case wire.IsRejected(outcomes[i]):
			settled++
		}
	}
	return delivered, settled
}

// call is one call of the sink.
func call(ctx context.Context, sink wire.Sink, documents []*wire.Document, round []int, outcomes []error) {
	if len(round) == 0 {
		return
	}
	documentsOf := make([]*wire.Document, len(round))
	for n, i := range round {
		documentsOf[n] = documents[i]
	}
	errs := sink.Send(ctx, documentsOf)
	for n, i := range round {
		outcomes[i] = nil
		if errs != nil {
			outcomes[i] = errs[n]
		}
		if ctx.Err() != nil && outcomes[i] != nil && !wire.IsRejected(outcomes[i]) {
			outcomes[i] = errStopped
		}
	}
}
