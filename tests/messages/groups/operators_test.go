package groups

import (
	"fmt"
	"maps"
	"slices"
)

func (w *world) replay(g *group) {
	ids := slices.Sorted(maps.Keys(g.dead))
	if w.rand.IntN(2) == 0 {
		ids = ids[:len(ids)/2]
	}
	w.notef("%s: replay %v", g.name, ids)
	if got := one[int64](w, w.admin, "select pgtrickle.replay_dead_letters($1, $2)", g.name, ids); got != int64(len(ids)) {
		w.failf("%s: replay %v returned %d", g.name, ids, got)
	}
	byLane := map[int]*lease{}
	for _, id := range ids {
		delete(g.dead, id)
		delete(g.done, id)
		g.tries[id] = 0
		lane := w.events[id].lane
		if byLane[lane] == nil {
			byLane[lane] = &lease{lane: lane, ids: map[int64]bool{}, expired: true}
			g.leases = append(g.leases, byLane[lane])
		}
		byLane[lane].ids[id] = true
	}
}

func (w *world) seek(g *group, consumer string) {
	var to *int64
	all := slices.Sorted(maps.Keys(w.events))
	switch n := w.rand.IntN(4); {
	case n == 0:
		to = new(int64)
	case n < 3 && len(all) > 0:
		id := all[w.rand.IntN(len(all))] + int64(w.rand.IntN(2))
		to = &id
	}
	got := one[int64](w, w.admin, "select pgtrickle.seek_offset($1, $2, $3)", g.name, consumer, to)
	w.notef("%s %s: seek %d", g.name, consumer, got)
	offset := int64(-1)
	if to != nil {
		offset = got
	}
	g.start(w.events, offset)
}

// jump goes on shortly before the next segment, or the one after it.
func (w *world) jump() {
	at := one[int64](w, w.admin, fmt.Sprintf("select setval('pgtrickle.outbox_%s_ids', greatest(last_value, (last_value / 1000 + $1) * 1000 - $2)) from pgtrickle.outbox_%[1]s_ids", w.outbox), 1+w.rand.IntN(2), w.rand.IntN(9))
	w.notef("ids go on after %d", at)
}

// tick does background work; at times all events are old by then.
func (w *world) tick() {
	old := w.rand.IntN(2) == 0
	w.notef("tick, events old: %v", old)
	if old {
		w.exec(w.admin, fmt.Sprintf("update pgtrickle.outbox_%s set created_at = '2000-01-01' where created_at > '2000-01-01'", w.outbox))
	}
	w.exec(w.admin, "update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'")
	w.exec(w.admin, "call pgtrickle.tick()")
	there := map[int64]bool{}
	for _, id := range list[int64](w, w.admin, fmt.Sprintf("select id from pgtrickle.outbox_%s", w.outbox)) {
		there[id] = true
	}
	for _, e := range w.events {
		if !e.visible || e.deleted || there[e.id] {
			continue
		}
		for _, g := range w.groups {
			if g.wants(e) || g.dead[e.id] {
				w.failf("id %d is deleted, and %s has not handled it", e.id, g.name)
			}
		}
		e.deleted = true
	}
	if failed := list[string](w, w.admin, "select last_error from pgtrickle_internal.pgt_tasks where last_error is not null"); len(failed) > 0 {
		w.failf("tasks failed: %q", failed)
	}
}

// many polls and commits so often, one row at a time, that older leases fall far behind the head of the log.
func (w *world) many(g *group) {
	w.notef("%s z: many polls", g.name)
	for range 80 {
		if w.poll(g, "z", 1, false) == 0 {
			ids := list[int64](w, w.admin, fmt.Sprintf("insert into pgtrickle.outbox_%s (event_type, aggregate_id, payload) values ('t', 'z', '{}') returning id", w.outbox))
			w.events[ids[0]] = &event{id: ids[0], key: "z", lane: w.lane("z"), visible: true}
			continue
		}
		ids := g.commits("z", 1<<62)
		w.exec(w.admin, "select pgtrickle.commit_offset($1, 'z', $2)", g.name, ids[0])
		g.end(ids[:1], g.done)
	}
}
