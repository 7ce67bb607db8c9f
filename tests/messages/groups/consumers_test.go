package groups

import (
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// poll polls in a transaction of its own, which may have written before, and may be rolled back; it returns how many rows came.
func (w *world) poll(g *group, consumer string, batch int, mayFail bool) int {
	wrote, back := w.rand.IntN(4) == 0, mayFail && w.rand.IntN(12) == 0
	if w.rand.IntN(3) == 0 { // time passes
		w.exec(w.admin, "update pgtrickle_internal.pgt_lease_log set until = '-infinity' where state = 'gap' and until > '-infinity' and until < 'infinity'")
	}
	w.exec(w.admin, "begin")
	if wrote {
		w.exec(w.admin, "insert into scratch values (2)")
	}
	var types []string
	if !w.keyed && mayFail && w.rand.IntN(3) == 0 {
		types = []string{"t0", "t1", "t2", "t", "other"}[w.rand.IntN(5):]
		types = types[:1+w.rand.IntN(len(types))]
	}
	passed := one[bool](w, w.admin, "select exists (select from pgtrickle_internal.pgt_passed_rows)")
	query := "select id, aggregate_id, attempts, lease_id from pgtrickle.poll_outbox($1, $2, $3, 3600, $4)"
	rows, err := w.admin.Query(w.ctx, query, g.name, consumer, batch, types)
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
	w.notef("%s %s: poll %d of types %q: %v (wrote before: %v, rolled back: %v)", g.name, consumer, batch, types, ids, wrote, back)
	if back {
		w.exec(w.admin, "rollback")
		return len(got)
	}
	w.exec(w.admin, "commit")
	if types != nil {
		g.sort(consumer)
	}
	w.bury(g, consumer)
	held, reach := len(g.held(consumer)) > 0 || len(got) == 1 && g.alone(got[0].ID), g.reach(w.cut)
	taken := slices.ContainsFunc(got, func(r granted) bool { return g.of(r.ID) != nil })
	if err := g.grant(w.events, consumer, batch, got); err != nil {
		w.failf("%s %s: %w", g.name, consumer, err)
	}
	if !held && len(got) < batch && (w.keyed || len(got) == 0 || types == nil && !taken && !passed) {
		w.complete(g, types, got, reach)
	}
	for _, r := range got {
		if types != nil && !slices.Contains(types, typeOf(*r.Key)) {
			w.failf("%s %s: id %d is of type %s", g.name, consumer, r.ID, typeOf(*r.Key))
		}
	}
	return len(got)
}

// complete checks that a poll that had room for more has left nothing behind that it may have, up to where it had to look.
func (w *world) complete(g *group, types []string, got []granted, reach int64) {
	lanes := map[int]bool{} // at work
	for _, l := range g.leases {
		lanes[l.lane] = lanes[l.lane] || l.lane > 0 && (!l.expired || g.commitsNow(l) || len(got) > 0 && g.alone(l.first()))
	}
	for _, e := range w.events {
		l := g.of(e.id)
		asked := types == nil || slices.Contains(types, typeOf(e.key))
		if asked && e.id <= reach && g.wants(e) && !lanes[e.lane] && (l == nil || l.expired && !g.commitsNow(l)) && !w.passes(e) {
			w.failf("%s: id %d is not delivered, but %v", g.name, e.id, got)
		}
	}
}

// passes reports that an event may have to wait for an open transaction that has published its key.
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
	may, sure := g.repeats(consumer, offset)
	if got != want || lost && (want != 0 || leaseID != nil || sure) || !lost && want == 0 && leaseID == nil && !may {
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

// mayLose runs a statement, and reports that it failed since a lease is lost.
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
	for _, call := range []string{
		"commit_offset($1, $2, 9223372036854775807, $3)", "ack_rows($1, $2, array[1], $3)", "reject_rows($1, $2, array[1], 'bad', $3)",
		"release_rows($1, $2, p_lease_id => $3)", "extract(epoch from pgtrickle.extend_lease($1, $2, 60, $3))::bigint",
	} {
		if !strings.Contains(call, "pgtrickle.") {
			call = "pgtrickle." + call
		}
		if got, lost := w.mayLose(w.admin, "select "+call, g.name, consumer, leaseID); !lost {
			w.failf("%s %s: %s of lost lease %d returned %d", g.name, consumer, call, leaseID, got)
		}
	}
}

// look compares what a group reports of itself with what is known, in one snapshot.
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
	b.group.committed(consumer, b.ids)
	b.group.end(b.ids, b.group.done)
}

// expire lets the visibility timeout of a consumer pass, or, without a name, the delay of rows that were given back.
func (w *world) expire(g *group, consumer string) {
	w.notef("%s %s: time runs out", g.name, consumer)
	w.exec(w.admin, `update pgtrickle_internal.pgt_lease_log l set until = '-infinity' from pgtrickle.pgt_consumer_groups g
where g.group_no = l.group_no and g.group_name = $1 and coalesce(l.consumer_id, '') = $2 and l.state = 'leased'`, g.name, consumer)
	for _, l := range g.leases {
		if l.owner == consumer {
			l.expired = true
		}
	}
}
