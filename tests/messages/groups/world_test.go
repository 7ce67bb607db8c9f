package groups

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// world is one run of random operations on one outbox: the database, what is known of it, and what was done.
type world struct {
	ctx    context.Context
	db     *pgtest.Database
	rand   *rand.Rand
	outbox string
	keyed  bool
	cut    bool // into segments
	trace  strings.Builder

	admin      *pgx.Conn
	other      *pgx.Conn // an old transaction that publishes nothing
	otherOpen  bool
	idle       *pgx.Conn // a transaction that has not published, but could
	idleOpen   bool
	overridden bool // there is an event whose id was not drawn
	publishers []*publisher
	prepared   []*transaction
	consumers  map[string]*pgx.Conn
	pending    map[string]*business // by consumer

	events map[int64]*event
	groups []*group
}

// transaction is what a publisher has written and not committed.
type transaction struct {
	name   string // of a prepared one
	events []*event
	keys   map[string]bool
}

type publisher struct {
	conn *pgx.Conn
	open *transaction
}

// business is an open transaction of a consumer that commits an offset.
type business struct {
	group  *group
	ids    []int64
	leases []*lease
}

// broken ends a run.
type broken struct{ error }

func (w *world) failf(format string, args ...any) { panic(broken{fmt.Errorf(format, args...)}) }

func (w *world) notef(format string, args ...any) { fmt.Fprintf(&w.trace, format+"\n", args...) }

func (w *world) exec(conn *pgx.Conn, sql string, args ...any) {
	if _, err := conn.Exec(w.ctx, sql, args...); err != nil {
		w.failf("%s\nin: %s %v", pgtest.ErrorText(err), sql, args)
	}
}

func one[T any](w *world, conn *pgx.Conn, sql string, args ...any) T {
	return only(w, list[T](w, conn, sql, args...))
}

func only[T any](w *world, rows []T) T {
	if len(rows) != 1 {
		w.failf("%d rows instead of one", len(rows))
	}
	return rows[0]
}

func list[T any](w *world, conn *pgx.Conn, sql string, args ...any) []T {
	rows, err := conn.Query(w.ctx, sql, args...)
	var all []T
	if err == nil {
		all, err = pgx.CollectRows(rows, pgx.RowTo[T])
	}
	if err != nil {
		w.failf("%s\nin: %s %v", pgtest.ErrorText(err), sql, args)
	}
	return all
}

// newWorld connects the sessions of many runs.
func newWorld(t testing.TB, db *pgtest.Database, outbox string) *world {
	w := &world{ctx: t.Context(), db: db, outbox: outbox, keyed: strings.HasSuffix(outbox, "keyed"), cut: strings.HasPrefix(outbox, "cut"), consumers: map[string]*pgx.Conn{}}
	w.admin, w.other, w.idle = db.Connect(t), db.Connect(t), db.Connect(t)
	w.exec(w.admin, "set lock_timeout = '20s'") // nothing that is done here has to wait
	for range 4 {
		w.publishers = append(w.publishers, &publisher{conn: db.Connect(t)})
	}
	for _, name := range []string{"a", "b", "c", "z"} {
		w.consumers[name] = db.Connect(t)
	}
	return w
}

// run does random operations from a seed; an error reports the seed and all that was done.
func (w *world) run(t testing.TB, seed uint64, steps int) (err error) {
	w.rand = rand.New(rand.NewPCG(seed, 11))
	w.trace.Reset()
	w.overridden = false
	w.events, w.pending, w.prepared, w.groups = map[int64]*event{}, map[string]*business{}, nil, nil
	defer func() {
		if p := recover(); p != nil {
			b, ok := p.(broken)
			if !ok {
				panic(p)
			}
			err = fmt.Errorf("seed %d: %w\nafter:\n%s", seed, b.error, w.trace.String())
		}
	}()
	w.exec(w.admin, "select pgtrickle.drop_consumer_group(group_name) from pgtrickle.pgt_consumer_groups")
	w.exec(w.admin, fmt.Sprintf("truncate pgtrickle.outbox_%s", w.outbox))
	w.create("early", "earliest")
	for range steps {
		w.step(t)
		for _, g := range w.groups {
			w.look(g)
		}
	}
	if len(w.groups) < 2 {
		w.create("late", "latest")
	}
	w.endAll(t)
	for _, g := range w.groups {
		w.catchUp(g, true)
	}
	return nil
}

// create makes a group while publishers are in flight.
func (w *world) create(name, reset string) {
	g := &group{name: name, dead: map[int64]bool{}, lost: map[string][]int64{}, ended: map[string]int64{}, repeat: map[string]int64{}}
	var most *int
	if w.rand.IntN(3) == 0 {
		g.most = 1 + w.rand.IntN(3)
		most = &g.most
	}
	w.notef("create group %s, %s, max_attempts %d", name, reset, g.most)
	w.exec(w.admin, "select pgtrickle.create_consumer_group($1, $2, $3, $4)", name, w.outbox, reset, most)
	offset := int64(0)
	if reset == "latest" {
		offset = -1
	}
	g.start(w.events, offset)
	w.groups = append(w.groups, g)
}

// step does one operation.
func (w *world) step(t testing.TB) {
	g := w.groups[w.rand.IntN(len(w.groups))]
	consumer := []string{"a", "b", "c"}[w.rand.IntN(3)]
	busy := w.pending[consumer] != nil && w.pending[consumer].group == g
	switch n := w.rand.IntN(100); {
	case n < 26:
		w.publisherStep(t, w.publishers[w.rand.IntN(len(w.publishers))])
	case n < 29:
		w.finishPrepared()
	case n < 31:
		w.toggleOther()
	case n < 32:
		w.toggleIdle()
	case n < 54:
		w.poll(g, consumer, 1+w.rand.IntN(8), true)
	case n < 69:
		if w.pending[consumer] != nil {
			w.finish(consumer)
		} else {
			w.commit(g, consumer)
		}
	case n < 75 && !busy:
		w.expire(g, []string{consumer, consumer, ""}[w.rand.IntN(3)])
	case n < 77 && !busy:
		w.notef("%s %s: extend", g.name, consumer)
		w.exec(w.admin, "select pgtrickle.extend_lease($1, $2, 4000)", g.name, consumer)
	case n < 91 && !busy:
		w.takeRows(g, consumer)
	case n < 92:
		w.replay(g)
	case n < 93 && !w.isPending(g):
		w.seek(g, consumer)
	case n < 94:
		w.stale(g, consumer)
	case n < 96:
		w.tick()
	case n < 97:
		w.catchUp(g, false)
	case n < 98:
		w.many(g)
	case n < 99 && len(w.groups) < 2:
		w.create("late", "latest")
	case w.cut && n >= 98:
		w.jump()
	default:
		w.override()
	}
}

func (w *world) isPending(g *group) bool {
	for _, p := range w.pending {
		if p.group == g {
			return true
		}
	}
	return false
}

// endAll ends every transaction.
func (w *world) endAll(t testing.TB) {
	for len(w.prepared) > 0 {
		w.finishPrepared()
	}
	for _, p := range w.publishers {
		if p.open != nil {
			w.endPublisher(t, p)
		}
	}
	for len(w.prepared) > 0 {
		w.finishPrepared()
	}
	if w.otherOpen {
		w.toggleOther()
	}
	if w.idleOpen {
		w.toggleIdle()
	}
	for _, consumer := range []string{"a", "b", "c"} {
		if w.pending[consumer] != nil {
			w.finish(consumer)
		}
	}
	for _, g := range w.groups {
		for _, consumer := range []string{"a", "b", "c", ""} {
			w.expire(g, consumer)
		}
	}
}

// reset ends what a broken run has left open.
func (w *world) reset(t testing.TB) {
	conns := []*pgx.Conn{w.admin, w.other, w.idle}
	for _, p := range w.publishers {
		p.open = nil
		conns = append(conns, p.conn)
	}
	for _, c := range w.consumers {
		conns = append(conns, c)
	}
	for _, conn := range conns {
		conn.Exec(w.ctx, "rollback")
	}
	w.otherOpen, w.idleOpen = false, false
	for _, name := range list[string](w, w.admin, "select gid from pg_prepared_xacts where database = current_database()") {
		w.exec(w.admin, "rollback prepared '"+name+"'")
	}
}

// catchUp lets a consumer of its own handle all there is, and checks that nothing is left.
func (w *world) catchUp(g *group, last bool) {
	w.notef("%s z: catch up", g.name)
	for empty := 0; empty < 3; {
		w.exec(w.admin, "update pgtrickle_internal.pgt_lease_log set until = '-infinity' where state = 'gap' and until > '-infinity' and until < 'infinity'")
		if w.poll(g, "z", 50, false) == 0 {
			empty++
			continue
		}
		empty = 0
		ids := g.commits("z", 1<<62)
		if got := one[int64](w, w.admin, "select pgtrickle.commit_offset($1, 'z', $2)", g.name, ids[len(ids)-1]); got != ids[len(ids)-1] {
			w.failf("commit of %v returned %d", ids, got)
		}
		g.end(ids, g.done)
	}
	if len(w.open()) > 0 || w.isPending(g) {
		return
	}
	for _, e := range w.events {
		l := g.of(e.id)
		if g.wants(e) && (l == nil || l.expired) && !w.laneBusy(g, e.lane) {
			w.failf("%s: id %d is not delivered", g.name, e.id)
		}
	}
	if last {
		type state struct{ Lag, Behind int64 }
		rows, err := w.admin.Query(w.ctx, "select lag_rows, greatest(max_id - committed_offset, 0) from pgtrickle.pgt_consumer_group_lag where group_name = $1", g.name)
		if err != nil {
			w.failf("%v", err)
		}
		s, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[state])
		if w.overridden {
			s.Behind = 0 // ids below that have still to be drawn
		}
		if err != nil || s != (state{}) {
			w.failf("%s is through, and has %+v (%v)", g.name, s, err)
		}
	}
}

func (w *world) laneBusy(g *group, lane int) bool {
	return lane > 0 && slices.ContainsFunc(g.leases, func(l *lease) bool { return l.lane == lane && !l.expired })
}

// open lists the transactions that may publish.
func (w *world) open() []*transaction {
	open := slices.Clone(w.prepared)
	for _, p := range w.publishers {
		if p.open != nil {
			open = append(open, p.open)
		}
	}
	return open
}
