package groups

import (
	"fmt"
	"maps"
	"slices"
)

// event is a row of an outbox, in whatever state its transaction is.
type event struct {
	id      int64
	key     string
	lane    int
	visible bool // committed
	deleted bool // by retention, or rolled back
}

// lease is what one row of the lease log holds.
type lease struct {
	lane    int
	ids     map[int64]bool
	owner   string // "" if it is nobody's
	expired bool
	pending bool // a transaction that commits some of it is open
}

// group is what is known of a consumer group.
type group struct {
	name   string
	most   int            // max_attempts; 0: no limit
	done   map[int64]bool // committed, or skipped by where the group began
	upto   int64          // ids up to there were skipped, whenever they commit
	dead   map[int64]bool
	tries  map[int64]int
	leases []*lease
}

// start lets a group begin anew: behind an id, or, if it is negative, with what commits from now on.
func (g *group) start(events map[int64]*event, offset int64) {
	g.leases, g.done, g.upto, g.tries = nil, map[int64]bool{}, offset, map[int64]int{}
	for id, e := range events {
		if offset < 0 && e.visible {
			g.done[id] = true
		}
	}
	for id := range g.dead {
		if offset >= 0 && id > offset {
			delete(g.dead, id)
		} else {
			g.done[id] = true
		}
	}
}

// wants tells that an event has still to be handled.
func (g *group) wants(e *event) bool {
	_, again := g.tries[e.id]
	return e.visible && !e.deleted && (e.id > g.upto || again) && !g.done[e.id] && !g.dead[e.id]
}

// of is the lease that an id is in.
func (g *group) of(id int64) *lease {
	for _, l := range g.leases {
		if l.ids[id] {
			return l
		}
	}
	return nil
}

// held is the highest id that a consumer holds; -1 if none.
func (g *group) held(consumer string) int64 {
	held := int64(-1)
	for _, l := range g.leases {
		if l.owner == consumer && !l.expired {
			held = max(held, slices.Max(slices.Collect(maps.Keys(l.ids))))
		}
	}
	return held
}

// disown takes from a consumer that polls again what has run out.
func (g *group) disown(consumer string) {
	for _, l := range g.leases {
		if l.owner == consumer && l.expired && !l.pending {
			l.owner = ""
		}
	}
}

// granted is a row that a poll returned.
type granted struct {
	ID       int64
	Key      *string
	Attempts int
}

// takeOver takes all leases from a consumer that has lost one.
func (g *group) takeOver(consumer string) {
	for _, l := range g.leases {
		if l.owner == consumer {
			l.owner = ""
		}
	}
}

// commitsNow tells that the consumer of a lease commits something in an open transaction; it may be one of several.
func (g *group) commitsNow(of *lease) bool {
	return of.pending || of.owner != "" && slices.ContainsFunc(g.leases, func(l *lease) bool { return l.owner == of.owner && l.pending })
}

// grant checks what a poll returned, and notes it.
func (g *group) grant(events map[int64]*event, consumer string, batch int, rows []granted) error {
	if len(rows) > batch {
		return fmt.Errorf("%d rows instead of %d", len(rows), batch)
	}
	held, before := g.held(consumer), int64(0)
	byLane := map[int]map[int64]bool{}
	for _, r := range rows {
		e := events[r.ID]
		switch {
		case e == nil || !e.visible:
			return fmt.Errorf("id %d is of no committed event", r.ID)
		case r.ID <= before:
			return fmt.Errorf("id %d comes after %d", r.ID, before)
		case !g.wants(e):
			return fmt.Errorf("id %d was committed, skipped or given up", r.ID)
		case r.ID <= held:
			return fmt.Errorf("id %d is below %d, which the consumer holds", r.ID, held)
		case r.Attempts != g.tries[r.ID]+1:
			return fmt.Errorf("id %d: attempt %d after %d", r.ID, r.Attempts, g.tries[r.ID])
		case g.most > 0 && r.Attempts > g.most:
			return fmt.Errorf("id %d: attempt %d of %d", r.ID, r.Attempts, g.most)
		}
		if l := g.of(r.ID); l != nil && (!l.expired || g.commitsNow(l)) {
			return fmt.Errorf("id %d is leased to %q", r.ID, l.owner)
		}
		if byLane[e.lane] == nil {
			byLane[e.lane] = map[int64]bool{}
		}
		byLane[e.lane][r.ID] = true
		before = r.ID
	}
	for lane, ids := range byLane {
		if lane > 0 {
			if err := g.inOrder(events, lane, ids); err != nil {
				return err
			}
		}
		if err := g.take(consumer, lane, ids); err != nil {
			return err
		}
	}
	for _, r := range rows {
		g.tries[r.ID] = r.Attempts
	}
	return nil
}

// inOrder checks that no event of the same keys is passed over, and that nobody else is at one.
func (g *group) inOrder(events map[int64]*event, lane int, ids map[int64]bool) error {
	keys := map[string]int64{}
	for id := range ids {
		keys[events[id].key] = max(keys[events[id].key], id)
	}
	for _, e := range events {
		if last := keys[e.key]; e.id < last && g.wants(e) && !ids[e.id] {
			return fmt.Errorf("id %d was granted, and %d of the same key %q not", last, e.id, e.key)
		}
	}
	for _, l := range g.leases {
		if l.lane == lane && (!l.expired || g.commitsNow(l)) {
			return fmt.Errorf("lane %d is at work with %q: granted %v beside %v", lane, l.owner, ids, l.ids)
		}
	}
	return nil
}

// take moves ids from the lease they were in, if any, to a new one.
func (g *group) take(consumer string, lane int, ids map[int64]bool) error {
	var from *lease
	for id := range ids {
		l := g.of(id)
		if l == nil {
			continue
		}
		if from != nil && l != from {
			return fmt.Errorf("ids %v come from two leases", ids)
		}
		from = l
	}
	if from != nil {
		g.takeOver(from.owner)
		maps.DeleteFunc(from.ids, func(id int64, _ bool) bool { return ids[id] })
	}
	g.leases = append(g.leases, &lease{lane: lane, ids: ids, owner: consumer})
	g.tidy()
	return nil
}

func (g *group) tidy() {
	g.leases = slices.DeleteFunc(g.leases, func(l *lease) bool { return len(l.ids) == 0 })
}

// commits lists the ids that a commit of an offset ends.
func (g *group) commits(consumer string, offset int64) (ids []int64) {
	for _, l := range g.leases {
		for id := range l.ids {
			if l.owner == consumer && id <= offset {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// end takes ids out of their leases.
func (g *group) end(ids []int64, into map[int64]bool) {
	for _, id := range ids {
		if l := g.of(id); l != nil {
			delete(l.ids, id)
		}
		into[id] = true
	}
	g.tidy()
}
