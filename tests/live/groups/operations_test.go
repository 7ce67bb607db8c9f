package groups

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/pgtest"
)

// publisherStep begins, publishes, or ends.
func (w *world) publisherStep(t testing.TB, p *publisher) {
	switch {
	case p.open == nil:
		w.exec(p.conn, "begin isolation level "+[]string{"read committed", "read committed", "repeatable read", "serializable"}[w.rand.IntN(4)])
		p.open = &transaction{keys: map[string]bool{}}
		w.publish(p)
	case w.rand.IntN(2) == 0:
		w.publish(p)
	default:
		w.endPublisher(t, p)
	}
}

// publish publishes a few events, at times within a savepoint that is rolled back.
func (w *world) publish(p *publisher) {
	key := w.key(p.open)
	back := w.rand.IntN(5) == 0
	if back || w.rand.IntN(3) == 0 {
		w.exec(p.conn, "savepoint s")
	}
	var ids []int64
	if n := w.rand.IntN(4); n == 0 {
		ids = list[int64](w, p.conn, "select pgtrickle.outbox_publish($1, 't', '{}', $2)", w.outbox, key)
	} else {
		ids = list[int64](w, p.conn, fmt.Sprintf("insert into pgtrickle.outbox_%s (event_type, aggregate_id, payload) select 't', $1::text, '{}' from generate_series(1, $2::int) returning id", w.outbox), key, n)
	}
	w.notef("publisher %d: %v of key %s, savepoint rolled back: %v", p.conn.PgConn().PID(), ids, key, back)
	if back {
		w.exec(p.conn, "rollback to s")
		return
	}
	lane := 0
	if w.keyed {
		lane = one[int](w, w.admin, "select 1 + (hashtextextended($1, 0) & 15)", key)
	}
	for _, id := range ids {
		e := &event{id: id, key: key, lane: lane}
		w.events[id] = e
		p.open.events = append(p.open.events, e)
	}
}

// key is one that no other open transaction publishes: applications hold the lock of the row that it stands for.
func (w *world) key(open *transaction) string {
	for range 20 {
		key := fmt.Sprint("k", w.rand.IntN(6))
		if !w.keyed || !slices.ContainsFunc(w.open(), func(o *transaction) bool { return o != open && o.keys[key] }) {
			open.keys[key] = true
			return key
		}
	}
	return fmt.Sprint("new", len(w.events)) // the others are taken
}

func (w *world) endPublisher(t testing.TB, p *publisher) {
	tx := p.open
	p.open = nil
	switch n := w.rand.IntN(10); {
	case n < 5:
		w.notef("publisher %d: commit", p.conn.PgConn().PID())
		w.exec(p.conn, "commit")
		w.show(tx)
	case n < 7:
		w.notef("publisher %d: rollback", p.conn.PgConn().PID())
		w.exec(p.conn, "rollback")
		w.hide(tx)
	case n < 9:
		tx.name = fmt.Sprint(w.db.Name, " ", w.rand.Int64())
		w.notef("publisher %d: prepare %s", p.conn.PgConn().PID(), tx.name)
		w.exec(p.conn, "prepare transaction '"+tx.name+"'")
		w.prepared = append(w.prepared, tx)
	default:
		pid := p.conn.PgConn().PID()
		w.notef("publisher %d: killed", pid)
		w.exec(w.admin, "select pg_terminate_backend($1)", int32(pid))
		for one[int](w, w.admin, "select count(*) from pg_stat_activity where pid = $1", int32(pid)) > 0 {
			time.Sleep(time.Millisecond)
		}
		p.conn = w.db.Connect(t)
		w.hide(tx)
	}
}

func (w *world) finishPrepared() {
	if len(w.prepared) == 0 {
		return
	}
	n := w.rand.IntN(len(w.prepared))
	tx := w.prepared[n]
	w.prepared = slices.Delete(w.prepared, n, n+1)
	if w.rand.IntN(3) > 0 {
		w.notef("commit prepared %s", tx.name)
		w.exec(w.admin, "commit prepared '"+tx.name+"'")
		w.show(tx)
	} else {
		w.notef("rollback prepared %s", tx.name)
		w.exec(w.admin, "rollback prepared '"+tx.name+"'")
		w.hide(tx)
	}
}

func (w *world) show(tx *transaction) {
	for _, e := range tx.events {
		e.visible = true
	}
}

func (w *world) hide(tx *transaction) {
	for _, e := range tx.events {
		e.deleted = true
	}
}

// toggleOther begins or ends a transaction that has a number and writes elsewhere.
func (w *world) toggleOther() {
	w.notef("other transaction open: %v", !w.otherOpen)
	if w.otherOpen {
		w.exec(w.other, "commit")
	} else {
		w.exec(w.other, "begin")
		w.exec(w.other, "insert into scratch values (1)")
	}
	w.otherOpen = !w.otherOpen
}

// poll polls in a transaction of its own, which may have written before, and may be rolled back; it returns how many rows came.
func (w *world) poll(g *group, consumer string, batch int, mayFail bool) int {
	wrote, back := w.rand.IntN(4) == 0, mayFail && w.rand.IntN(12) == 0
	if w.rand.IntN(3) == 0 { // time passes
		w.exec(w.admin, "update pgtrickle.pgt_lease_log set until = '-infinity' where state = 'gap' and until > '-infinity'")
	}
	w.exec(w.admin, "begin")
	if wrote {
		w.exec(w.admin, "insert into scratch values (2)")
	}
	query := "select id, aggregate_id, attempts from pgtrickle.poll_outbox($1, $2, $3, 3600)"
	rows, err := w.admin.Query(w.ctx, query, g.name, consumer, batch)
	if err != nil {
		w.failf("%v", err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[granted])
	if err != nil {
		w.failf("poll: %s", pgtest.ErrorText(err))
	}
	ids := make([]int64, len(got))
	for n, r := range got {
		ids[n] = r.ID
	}
	w.notef("%s %s: poll %d: %v (wrote before: %v, rolled back: %v)", g.name, consumer, batch, ids, wrote, back)
	if back {
		w.exec(w.admin, "rollback")
		return len(got)
	}
	w.exec(w.admin, "commit")
	g.disown(consumer)
	w.bury(g)
	if err := g.grant(w.events, consumer, batch, got); err != nil {
		w.failf("%s %s: %w", g.name, consumer, err)
	}
	return len(got)
}

// bury notes what a poll has put into the dead letters after too many attempts.
func (w *world) bury(g *group) {
	for _, id := range list[int64](w, w.admin, "select id from pgtrickle.pgt_consumer_dead_letters where group_name = $1", g.name) {
		if g.dead[id] {
			continue
		}
		l := g.of(id)
		if g.most == 0 || g.tries[id] < g.most || l == nil || !l.expired || g.commitsNow(l) {
			w.failf("%s: id %d is a dead letter after %d attempts of %d, %+v", g.name, id, g.tries[id], g.most, l)
		}
		g.takeOver(l.owner)
		g.end([]int64{id}, g.dead)
	}
}

// commit commits an offset: of the consumer, of another, any; at once, never, or in a transaction that stays open.
func (w *world) commit(g *group, consumer string) {
	offset := int64(1<<63 - 1)
	if mine := g.commits(consumer, offset); len(mine) > 0 && w.rand.IntN(5) > 0 {
		offset = mine[len(mine)-1]
		if w.rand.IntN(3) == 0 {
			offset = mine[w.rand.IntN(len(mine))]
		}
	} else if all := slices.Sorted(maps.Keys(w.events)); len(all) > 0 && w.rand.IntN(5) > 0 {
		offset = all[w.rand.IntN(len(all))]
	}
	ids := g.commits(consumer, offset)
	want := int64(0)
	if len(ids) > 0 {
		want = ids[len(ids)-1]
	}
	conn := w.consumers[consumer]
	w.exec(conn, "begin isolation level "+[]string{"read committed", "repeatable read"}[w.rand.IntN(2)])
	if got := one[int64](w, conn, "select pgtrickle.commit_offset($1, $2, $3)", g.name, consumer, offset); got != want {
		w.failf("%s %s: commit %d returned %d instead of %d", g.name, consumer, offset, got, want)
	}
	b := &business{group: g, ids: ids}
	for _, l := range g.leases {
		if slices.ContainsFunc(ids, func(id int64) bool { return l.ids[id] }) {
			l.pending = true
			b.leases = append(b.leases, l)
		}
	}
	w.pending[consumer] = b
	w.notef("%s %s: commit %d ends %v", g.name, consumer, offset, ids)
	if w.rand.IntN(4) > 0 {
		w.finish(consumer)
	}
}

// finish ends the open transaction of a consumer.
func (w *world) finish(consumer string) {
	b := w.pending[consumer]
	delete(w.pending, consumer)
	for _, l := range b.leases {
		l.pending = false
	}
	if w.rand.IntN(4) == 0 {
		w.notef("%s %s: rollback", b.group.name, consumer)
		w.exec(w.consumers[consumer], "rollback")
		return
	}
	w.notef("%s %s: commit", b.group.name, consumer)
	w.exec(w.consumers[consumer], "commit")
	b.group.end(b.ids, b.group.done)
}

// expire lets the visibility timeout of a consumer pass.
func (w *world) expire(g *group, consumer string) {
	w.notef("%s %s: time runs out", g.name, consumer)
	w.exec(w.admin, `update pgtrickle.pgt_lease_log l set until = '-infinity' from pgtrickle.pgt_consumer_groups g
where g.group_no = l.group_no and g.group_name = $1 and l.consumer_id = $2 and l.state = 'leased'`, g.name, consumer)
	for _, l := range g.leases {
		if l.owner == consumer {
			l.expired = true
		}
	}
}

func (w *world) reject(g *group, consumer string) {
	var ids []int64
	for _, id := range g.commits(consumer, 1<<62) {
		if w.rand.IntN(2) == 0 {
			ids = append(ids, id)
		}
	}
	asked := append([]int64{1 << 60, 7}, ids...)
	if held := g.of(7); held != nil && held.owner == consumer && !slices.Contains(ids, 7) {
		ids = append(ids, 7)
	}
	w.notef("%s %s: reject %v", g.name, consumer, ids)
	if got := one[int64](w, w.admin, "select pgtrickle.reject_rows($1, $2, $3, 'bad')", g.name, consumer, asked); got != int64(len(ids)) {
		w.failf("%s %s: reject %v returned %d", g.name, consumer, ids, got)
	}
	g.end(ids, g.dead)
}

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
	w.exec(w.admin, "update pgtrickle.pgt_tasks set last_run_at = '-infinity'")
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
	if failed := list[string](w, w.admin, "select last_error from pgtrickle.pgt_tasks where last_error is not null"); len(failed) > 0 {
		w.failf("tasks failed: %q", failed)
	}
}

// many polls and commits so often, one row at a time, that older leases fall far behind the head of the log.
func (w *world) many(g *group) {
	w.notef("%s z: many polls", g.name)
	for range 80 {
		if w.poll(g, "z", 1, false) == 0 {
			ids := list[int64](w, w.admin, fmt.Sprintf("insert into pgtrickle.outbox_%s (event_type, aggregate_id, payload) values ('t', 'z', '{}') returning id", w.outbox))
			lane := 0
			if w.keyed {
				lane = one[int](w, w.admin, "select 1 + (hashtextextended('z', 0) & 15)")
			}
			w.events[ids[0]] = &event{id: ids[0], key: "z", lane: lane, visible: true}
			continue
		}
		ids := g.commits("z", 1<<62)
		w.exec(w.admin, "select pgtrickle.commit_offset($1, 'z', $2)", g.name, ids[0])
		g.end(ids[:1], g.done)
	}
}
