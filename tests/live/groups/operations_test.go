package groups

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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
	lane := w.lane(key)
	for _, id := range ids {
		e := &event{id: id, key: key, lane: lane}
		w.events[id] = e
		p.open.events = append(p.open.events, e)
	}
}

// key is any: others may be publishing it. Applications hold the lock of what it stands for, but they need not.
func (w *world) key(open *transaction) string {
	key := fmt.Sprint("k", w.rand.IntN(12))
	open.keys[key] = true
	return key
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

// override inserts an event far ahead of those that were drawn, as nobody should: later ones are delivered all the same.
func (w *world) override() {
	id := one[int64](w, w.admin, fmt.Sprintf(`insert into pgtrickle.outbox_%[1]s (id, event_type, aggregate_id, payload) overriding system value
select last_value + $1, 't', 'far', '{}' from pgtrickle.outbox_%[1]s_ids returning id`, w.outbox), 1_000_000+w.rand.IntN(1_000_000))
	w.notef("event %d, which was not drawn", id)
	w.overridden = true
	w.events[id] = &event{id: id, key: "far", lane: w.lane("far"), visible: true}
}

// toggleIdle begins a transaction that holds the lock of an insert and has no number, or ends it. It may publish at last.
func (w *world) toggleIdle() {
	w.notef("idle transaction open: %v", !w.idleOpen)
	if !w.idleOpen {
		w.exec(w.idle, "begin")
		w.exec(w.idle, fmt.Sprintf("insert into pgtrickle.outbox_%s (event_type, payload) select 't', '{}' where false", w.outbox))
	} else {
		if w.rand.IntN(2) == 0 {
			id := one[int64](w, w.idle, fmt.Sprintf("insert into pgtrickle.outbox_%s (event_type, aggregate_id, payload) values ('t', 'idle', '{}') returning id", w.outbox))
			w.notef("it publishes %d", id)
			w.events[id] = &event{id: id, key: "idle", lane: w.lane("idle"), visible: true}
		}
		w.exec(w.idle, "commit")
	}
	w.idleOpen = !w.idleOpen
}

// lane is that of a key, 0 if the outbox keeps no order.
func (w *world) lane(key string) int {
	if !w.keyed {
		return 0
	}
	return one[int](w, w.admin, "select 1 + (hashtextextended($1, 0) & 15)", key)
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
		w.exec(w.admin, "update pgtrickle.pgt_lease_log set until = '-infinity' where state = 'gap' and until > '-infinity' and until < 'infinity'")
	}
	w.exec(w.admin, "begin")
	if wrote {
		w.exec(w.admin, "insert into scratch values (2)")
	}
	query := "select id, aggregate_id, attempts, lease_id from pgtrickle.poll_outbox($1, $2, $3, 3600)"
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
	w.bury(g, consumer)
	held, reach := len(g.held(consumer)) > 0, g.reach(w.cut)
	taken := slices.ContainsFunc(got, func(r granted) bool { return g.of(r.ID) != nil })
	if err := g.grant(w.events, consumer, batch, got); err != nil {
		w.failf("%s %s: %w", g.name, consumer, err)
	}
	if !held && len(got) < batch && (w.keyed || !taken) {
		w.complete(g, got, reach)
	}
	return len(got)
}

// complete checks that a poll that had room for more has left nothing behind that anybody may have, up to where it had to look.
func (w *world) complete(g *group, got []granted, reach int64) {
	lanes := map[int]bool{} // at work
	for _, l := range g.leases {
		lanes[l.lane] = lanes[l.lane] || l.lane > 0 && (!l.expired || g.commitsNow(l))
	}
	for _, e := range w.events {
		l := g.of(e.id)
		if e.id <= reach && g.wants(e) && !lanes[e.lane] && (l == nil || l.expired && !g.commitsNow(l)) && !w.passes(e) {
			w.failf("%s: id %d is not delivered, but %v", g.name, e.id, got)
		}
	}
}

// passes tells that an event may have to wait for an open transaction that has published its key.
func (w *world) passes(e *event) bool {
	if !w.keyed {
		return false
	}
	return slices.ContainsFunc(w.open(), func(tx *transaction) bool { return tx.keys[e.key] })
}

// bury notes what a poll has put into the dead letters after too many attempts.
func (w *world) bury(g *group, consumer string) {
	for _, id := range list[int64](w, w.admin, "select id from pgtrickle.pgt_consumer_dead_letters where group_name = $1", g.name) {
		if g.dead[id] {
			continue
		}
		l := g.of(id)
		if g.most == 0 || g.tries[id] < g.most || l == nil || !l.expired && l.owner != consumer || g.commitsNow(l) {
			w.failf("%s: id %d is a dead letter after %d attempts of %d, %+v", g.name, id, g.tries[id], g.most, l)
		}
		if l.owner == consumer {
			g.lose(l)
			l.owner = consumer
		} else {
			g.takeOver(l.owner)
		}
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
	var leaseID *int64
	if held := g.held(consumer); len(held) > 0 && held[0].id != 0 && w.rand.IntN(3) == 0 {
		leaseID = &held[0].id
	}
	got, lost := w.mayLose(conn, "select pgtrickle.commit_offset($1, $2, $3, $4)", g.name, consumer, offset, leaseID)
	if got != want || lost && (want != 0 || leaseID != nil) {
		w.failf("%s %s: commit %d of lease %v returned %d (lost: %v) instead of %d", g.name, consumer, offset, leaseID, got, lost, want)
	}
	if lost {
		w.notef("%s %s: commit %d: lease lost", g.name, consumer, offset)
		w.exec(conn, "rollback")
		return
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

// mayLose runs a statement, and tells that it failed since a lease is lost.
func (w *world) mayLose(conn *pgx.Conn, sql string, args ...any) (got int64, lost bool) {
	err := conn.QueryRow(w.ctx, sql, args...).Scan(&got)
	if leaseLost(err) {
		return 0, true
	}
	if err != nil {
		w.failf("%s\nin: %s %v", pgtest.ErrorText(err), sql, args)
	}
	return got, false
}

// stale lets an older process of a name go on, which knows a lease that the name has no more.
func (w *world) stale(g *group, consumer string) {
	if len(g.lost[consumer]) == 0 {
		return
	}
	leaseID := g.lost[consumer][w.rand.IntN(len(g.lost[consumer]))]
	w.notef("%s %s: goes on with lease %d", g.name, consumer, leaseID)
	for _, call := range []string{"commit_offset($1, $2, 9223372036854775807, $3)", "reject_rows($1, $2, array[1], 'bad', $3)", "extract(epoch from pgtrickle.extend_lease($1, $2, 60, $3))::bigint"} {
		if !strings.Contains(call, "pgtrickle.") {
			call = "pgtrickle." + call
		}
		if got, lost := w.mayLose(w.admin, "select "+call, g.name, consumer, leaseID); !lost {
			w.failf("%s %s: %s of lost lease %d returned %d", g.name, consumer, call, leaseID, got)
		}
	}
}

// look compares what a group tells of itself with what is known, in one snapshot.
func (w *world) look(g *group) {
	type state struct{ Lag, Committed int64 }
	rows, err := w.admin.Query(w.ctx, "select lag_rows, committed_offset from pgtrickle.pgt_consumer_group_lag where group_name = $1", g.name)
	if err != nil {
		w.failf("%v", err)
	}
	s, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[state])
	if err != nil {
		w.failf("%v", err)
	}
	lag := int64(0)
	for _, e := range w.events {
		if g.wants(e) {
			lag++
		}
		if open := !e.visible && !e.deleted && e.id > g.upto; (open || g.wants(e)) && e.id <= s.Committed {
			w.failf("%s has committed up to %d, and %d is open", g.name, s.Committed, e.id)
		}
	}
	if s.Lag != lag {
		w.failf("%s has a lag of %d, and %d are committed and not handled", g.name, s.Lag, lag)
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
			w.events[ids[0]] = &event{id: ids[0], key: "z", lane: w.lane("z"), visible: true}
			continue
		}
		ids := g.commits("z", 1<<62)
		w.exec(w.admin, "select pgtrickle.commit_offset($1, 'z', $2)", g.name, ids[0])
		g.end(ids[:1], g.done)
	}
}
