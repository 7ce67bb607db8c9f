package groups

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
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
		ids = list[int64](w, p.conn, "select pgtrickle.outbox_publish($1, $3, '{}', $2)", w.outbox, key, typeOf(key))
	} else {
		ids = list[int64](w, p.conn, fmt.Sprintf("insert into pgtrickle.outbox_%s (event_type, aggregate_id, payload) select $3::text, $1::text, '{}' from generate_series(1, $2::int) returning id", w.outbox), key, n, typeOf(key))
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

// typeOf is the event type that events of a key have.
func typeOf(key string) string {
	if n, err := strconv.Atoi(key[1:]); err == nil {
		return fmt.Sprint("t", n%3)
	}
	return "t"
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
		w.notef("publisher %d: killed", p.conn.PgConn().PID())
		w.kill(t, &p.conn)
		w.hide(tx)
	}
}

// kill ends a session, as its client's death does, and opens another.
func (w *world) kill(t testing.TB, conn **pgx.Conn) {
	pid := int32((*conn).PgConn().PID())
	w.exec(w.admin, "select pg_terminate_backend($1)", pid)
	for one[int](w, w.admin, "select count(*) from pg_stat_activity where pid = $1", pid) > 0 {
		time.Sleep(time.Millisecond) // a time that pg_terminate_backend is given would be waited for in steps of 100 ms
	}
	*conn = w.db.Connect(t)
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
