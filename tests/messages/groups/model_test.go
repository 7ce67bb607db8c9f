package groups

import (
	"cmp"
	"fmt"
	"maps"
	"math"
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
	id      int64 // that the poll returned
	lane    int
	ids     map[int64]bool
	owner   string // "" if it is nobody's
	expired bool
	pending bool // a transaction that commits some of it is open
	touched bool // some of it was committed or rejected
	sorted  bool // by event type
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
	lost   map[string][]int64 // ids of leases that a consumer has no more, and of which it has ended nothing
	ended  map[string]int64   // the highest id that a consumer has committed
	repeat map[string]int64   // the highest id of its last commit, if it was granted nothing since
}

// committed notes that a consumer has committed ids.
func (g *group) committed(consumer string, ids []int64) {
	if len(ids) > 0 {
		g.repeat[consumer] = slices.Max(ids)
		g.ended[consumer] = max(g.ended[consumer], slices.Max(ids))
	}
}

// repeats says whether a commit that ends nothing may be one that was made before, and whether it is one for sure.
func (g *group) repeats(consumer string, offset int64) (may, sure bool) {
	newer := len(g.held(consumer)) > 0 && g.repeat[consumer] == 0
	may = offset <= g.ended[consumer] && !newer && g.of(offset) == nil
	return may, may && offset == g.repeat[consumer]
}

// sort notes that a poll with event types has sorted what its consumer had, and what was due.
func (g *group) sort(consumer string) {
	for _, l := range g.leases {
		if (l.expired || l.owner == consumer) && !l.pending {
			g.lose(l)
			l.expired, l.sorted = true, true
		}
	}
}

// start lets a group begin again: behind an id, or, if it is negative, with what commits from now on.
func (g *group) start(events map[int64]*event, offset int64) {
	for _, l := range g.leases {
		g.lose(l)
	}
	g.leases, g.done, g.upto, g.tries = nil, map[int64]bool{}, offset, map[int64]int{}
	clear(g.repeat)
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

// wants reports that an event has still to be handled.
func (g *group) wants(e *event) bool {
	_, again := g.tries[e.id]
	return e.visible && !e.deleted && (e.id > g.upto || again) && !g.done[e.id] && !g.dead[e.id]
}

// alone reports that an id had half of its attempts, so that it is granted by itself.
func (g *group) alone(id int64) bool { return g.most > 0 && g.tries[id] >= (g.most+1)/2 }

// of is the lease that an id is in.
func (g *group) of(id int64) *lease {
	for _, l := range g.leases {
		if l.ids[id] {
			return l
		}
	}
	return nil
}

// lose notes that a lease is its consumer's no more.
func (g *group) lose(l *lease) {
	if l.owner != "" && l.id != 0 && !l.touched {
		g.lost[l.owner] = append(g.lost[l.owner], l.id)
	}
	l.owner, l.id, l.touched = "", 0, false
}

// held lists what a consumer holds, the lowest first.
func (g *group) held(consumer string) (held []*lease) {
	for _, l := range g.leases {
		if l.owner == consumer {
			held = append(held, l)
		}
	}
	slices.SortFunc(held, func(a, b *lease) int { return cmp.Compare(a.first(), b.first()) })
	return held
}

func (l *lease) first() int64 { return slices.Min(slices.Collect(maps.Keys(l.ids))) }

// granted is a row that a poll returned.
type granted struct {
	ID       int64
	Key      *string
	Attempts int
	Lease    int64
}

// takeOver takes all leases from a consumer that has lost one.
func (g *group) takeOver(consumer string) {
	for _, l := range g.leases {
		if l.owner == consumer {
			g.lose(l)
		}
	}
}

// commitsNow reports that the consumer of a lease commits something in an open transaction; it may be one of several.
func (g *group) commitsNow(of *lease) bool {
	return of.pending || of.owner != "" && slices.ContainsFunc(g.leases, func(l *lease) bool { return l.owner == of.owner && l.pending })
}

// grant checks what a poll returned, and notes it.
func (g *group) grant(events map[int64]*event, consumer string, batch int, rows []granted) error {
	if len(rows) > batch {
		return fmt.Errorf("%d rows instead of %d", len(rows), batch)
	}
	if len(rows) > 0 {
		delete(g.repeat, consumer)
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
		case r.Attempts != g.tries[r.ID]+1:
			return fmt.Errorf("id %d: attempt %d after %d", r.ID, r.Attempts, g.tries[r.ID])
		case g.most > 0 && r.Attempts > g.most:
			return fmt.Errorf("id %d: attempt %d of %d", r.ID, r.Attempts, g.most)
		case len(rows) > 1 && g.alone(r.ID):
			return fmt.Errorf("id %d: attempt %d of %d is not alone, but %v", r.ID, r.Attempts, g.most, rows)
		case r.Lease == 0 || r.Lease != rows[0].Lease:
			return fmt.Errorf("id %d: lease %d beside %d", r.ID, r.Lease, rows[0].Lease)
		}
		if l := g.of(r.ID); l != nil && (l.owner != consumer && !l.expired || g.commitsNow(l)) {
			return fmt.Errorf("id %d is leased to %q", r.ID, l.owner)
		}
		if byLane[e.lane] == nil {
			byLane[e.lane] = map[int64]bool{}
		}
		byLane[e.lane][r.ID] = true
		before = r.ID
	}
	if len(held) > 0 {
		return g.again(consumer, batch, rows, held)
	}
	for lane, ids := range byLane {
		if lane > 0 {
			if err := g.inOrder(events, lane, ids); err != nil {
				return err
			}
		}
		if err := g.take(consumer, lane, ids, rows[0].Lease); err != nil {
			return err
		}
	}
	for _, r := range rows {
		g.tries[r.ID] = r.Attempts
	}
	return nil
}

// again checks that a consumer was granted what it held, the lowest first, and notes that the rest of it is due.
func (g *group) again(consumer string, batch int, rows []granted, held []*lease) error {
	if slices.ContainsFunc(held, func(l *lease) bool { return l.pending }) {
		if len(rows) > 0 {
			return fmt.Errorf("it was granted %v while it commits", rows)
		}
		return nil
	}
	alone := map[*lease]bool{}
	for _, l := range held {
		alone[l] = g.alone(l.first())
	}
	got := map[int64]bool{}
	for _, r := range rows {
		got[r.ID] = true
		g.tries[r.ID] = r.Attempts
	}
	left := batch
	for _, l := range held {
		first := slices.Sorted(maps.Keys(l.ids))
		switch {
		case alone[l] && left < batch:
			first = nil
		case alone[l]:
			first, left = first[:1], 0
		default:
			first = first[:min(left, len(first))]
			left -= len(first)
		}
		rest := &lease{lane: l.lane, ids: maps.Clone(l.ids), expired: true}
		for _, id := range first {
			if !got[id] {
				return fmt.Errorf("it held %d, and was granted %v", id, rows)
			}
			delete(got, id)
			delete(rest.ids, id)
		}
		g.lose(l)
		maps.DeleteFunc(l.ids, func(id int64, _ bool) bool { return rest.ids[id] })
		g.leases = append(g.leases, rest)
		if len(first) > 0 {
			l.owner, l.id, l.expired = consumer, rows[0].Lease, false
		}
	}
	if len(got) > 0 {
		return fmt.Errorf("it held %d rows, and was granted %v, too", len(rows)-len(got), got)
	}
	g.tidy()
	return nil
}

// inOrder checks that no event of the same keys is passed over, whether it is to be seen or not, and that nobody else is at one.
func (g *group) inOrder(events map[int64]*event, lane int, ids map[int64]bool) error {
	keys := map[string]int64{}
	for id := range ids {
		keys[events[id].key] = max(keys[events[id].key], id)
	}
	for _, e := range events {
		last := keys[e.key]
		if e.id < last && g.wants(e) && !ids[e.id] {
			return fmt.Errorf("id %d was granted, and %d of the same key %q not", last, e.id, e.key)
		}
		if e.id < last && !e.visible && !e.deleted && e.id > g.upto {
			return fmt.Errorf("id %d was granted, and %d of the same key %q is still to come", last, e.id, e.key)
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
func (g *group) take(consumer string, lane int, ids map[int64]bool, leaseID int64) error {
	from := map[*lease]bool{}
	for id := range ids {
		from[g.of(id)] = true
	}
	for each := range from {
		if len(from) > 1 && each != nil && !each.sorted {
			return fmt.Errorf("ids %v come from %d leases", ids, len(from))
		}
	}
	for from := range from {
		if from == nil {
			continue
		}
		g.takeOver(from.owner)
		maps.DeleteFunc(from.ids, func(id int64, _ bool) bool { return ids[id] })
	}
	g.leases = append(g.leases, &lease{id: leaseID, lane: lane, ids: ids, owner: consumer})
	g.tidy()
	return nil
}

func (g *group) tidy() {
	g.leases = slices.DeleteFunc(g.leases, func(l *lease) bool { return len(l.ids) == 0 })
}

// reach is how far a poll looks at least: all the way, or in segments as many ids as these have.
func (g *group) reach(cut bool) int64 {
	if !cut {
		return math.MaxInt64
	}
	reach := max(g.upto, 0)
	for id := range g.tries {
		reach = max(reach, id)
	}
	return reach + 1000
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
			l.touched = true
		}
		into[id] = true
	}
	g.tidy()
}
