package groups

import (
	"maps"
	"slices"
)

const nobodys = 1 << 60 // an id that no event gets

// takeRows acknowledges, rejects or gives back some of the rows that a consumer holds, or leaves the group. It may ask for rows of others, too.
func (w *world) takeRows(g *group, consumer string) {
	ids := g.commits(consumer, 1<<62)
	verb := []string{"ack", "reject", "release", "leave"}[w.rand.IntN(4)]
	if verb == "leave" {
		w.notef("%s %s: leave", g.name, consumer)
		w.exec(w.admin, "select pgtrickle.leave_group($1, $2)", g.name, consumer)
		g.release(ids, ids, true, false)
		delete(g.repeat, consumer)
		return
	}
	ids = slices.DeleteFunc(ids, func(int64) bool { return w.rand.IntN(2) == 0 })
	asked, foreign := slices.Clone(ids), int64(0) // one that another consumer has, or nobody
	others := g.openBeside(consumer)
	switch n := w.rand.IntN(6); {
	case n == 0 && len(others) > 0:
		foreign = others[w.rand.IntN(len(others))]
	case n == 1:
		foreign = nobodys
	}
	if foreign != 0 {
		asked = append(asked, foreign)
	}
	failed, later := w.rand.IntN(2) == 0, w.rand.IntN(2) == 0
	taken := ids
	if verb == "release" {
		taken = g.behind(ids)
	}
	w.notef("%s %s: %s %v, which are %v, failed: %v, later: %v", g.name, consumer, verb, asked, taken, failed, later)
	call := map[string]string{
		"ack":     "select pgtrickle.ack_rows($1, $2, $3, $4)",
		"reject":  "select pgtrickle.reject_rows($1, $2, $3, 'bad', $4)",
		"release": "select pgtrickle.release_rows($1, $2, $3, p_lease_id => $4",
	}[verb]
	var leaseID *int64 // all leases of a poll have one
	if held := g.held(consumer); len(held) > 0 && held[0].id != 0 && w.rand.IntN(3) == 0 {
		leaseID = &held[0].id
	}
	if verb == "release" {
		call += map[bool]string{true: ", p_delay => '1 hour'"}[later] + map[bool]string{true: ", p_error => 'failed'"}[failed] + ")"
	}
	got, lost := w.mayLose(w.admin, call, g.name, consumer, asked, leaseID)
	switch {
	case lost != (foreign != 0 && (foreign != nobodys || leaseID == nil)):
		w.failf("%s %s: lease lost: %v, and %d is not its own", g.name, consumer, lost, foreign)
	case !lost && got != int64(len(taken)):
		w.failf("%s %s: %s %v returned %d", g.name, consumer, verb, taken, got)
	}
	switch {
	case lost:
		w.notef("lease lost")
	case verb == "ack":
		g.committed(consumer, ids)
		g.end(ids, g.done)
	case verb == "reject":
		g.committed(consumer, ids)
		g.end(ids, g.dead)
	default:
		g.release(taken, ids, !later, failed)
	}
}

// openBeside lists what is open and not held by a consumer.
func (g *group) openBeside(consumer string) (ids []int64) {
	for _, l := range g.leases {
		if l.owner != consumer {
			ids = slices.AppendSeq(ids, maps.Keys(l.ids))
		}
	}
	slices.Sort(ids)
	return ids
}

// behind adds to ids those that are behind them in the leases of their lanes.
func (g *group) behind(ids []int64) []int64 {
	all := map[int64]bool{}
	for _, id := range ids {
		l := g.of(id)
		for other := range l.ids {
			all[other] = all[other] || other == id || l.lane > 0 && other > id
		}
	}
	maps.DeleteFunc(all, func(_ int64, taken bool) bool { return !taken })
	return slices.Sorted(maps.Keys(all))
}

// release gives rows back: those that were asked for, due at once or later, and those behind them. Where they failed, it was an attempt of the former.
func (g *group) release(taken, asked []int64, due, failed bool) {
	from := map[*lease][]int64{}
	for _, id := range taken {
		from[g.of(id)] = append(from[g.of(id)], id)
	}
	for l, ids := range from {
		back, behind := &lease{lane: l.lane, ids: map[int64]bool{}, expired: due}, &lease{lane: l.lane, ids: map[int64]bool{}, expired: true}
		for _, id := range ids {
			delete(l.ids, id)
			isAsked := !failed || slices.Contains(asked, id)
			if !isAsked || !failed {
				g.tries[id]--
			}
			switch {
			case !isAsked:
				behind.ids[id] = true
			case failed && g.most > 0 && g.tries[id] >= g.most:
				g.dead[id] = true
			default:
				back.ids[id] = true
			}
		}
		if len(l.ids) == 0 {
			g.lose(l)
		}
		g.leases = append(g.leases, back, behind)
	}
	g.tidy()
}
