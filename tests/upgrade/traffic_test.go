package upgrade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// traffic is sessions that go on through all upgrades of a history, and never connect again.
type traffic struct {
	t       *testing.T
	db      *pgtest.Database
	world   *world
	seed    uint64
	stop    chan struct{}
	workers sync.WaitGroup

	// Sessions hold it to read while they are in a transaction, and use only what is there before and after the upgrade.
	holding sync.RWMutex
	has     reach
	called  callings

	at                  string // the version that is installed
	released            []upgrade.Manifest
	apply               func(t *testing.T, e *generator.Extension, options commandtest.ApplyOptions)
	received, published atomic.Int64
	done                atomic.Int64 // transactions
	calm                atomic.Bool  // sessions pause between transactions for longer

	mu     sync.Mutex
	errors map[string]int // that a retry cured, by what they say
	works  map[string]int // transactions that were done, by kind of work
}

// reach is what two versions have both, by its first names.
type reach struct{ outboxes, groups, tables []string }

// callings are what things are called in each version, if any of them renames something.
type callings map[string]upgrade.Manifest

// in is what a thing that has a first name is called in a version.
func (c callings) in(version, kind, first string) string {
	for _, n := range c[version].Named {
		if n.Kind == kind && n.First() == first {
			return n.Name
		}
	}
	return first
}

// firsts are the first names of things of a version.
func (c callings) firsts(version, kind string, names []string) []string {
	var all []string
	for _, name := range names {
		if n, ok := c[version].Find(kind, name); ok {
			name = n.First()
		}
		all = append(all, name)
	}
	return all
}

// session is what work runs its statements on: a connection, or a transaction of it.
type session interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

var errRenamed = errors.New("renamed meanwhile")

// named does work by what things are called now. Where versions rename, that is one transaction, which is rolled back if another version came between
// asking and doing: names may have something else behind them then.
func (r *traffic) named(ctx context.Context, conn *pgx.Conn, work func(on session, call func(kind, first string) string) error) error {
	if len(r.called) == 0 {
		return work(conn, func(_, first string) string { return first })
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		version, err := versionNow(ctx, tx)
		if err != nil {
			return err
		}
		if err := work(tx, func(kind, first string) string { return r.called.in(version, kind, first) }); err != nil {
			return err
		}
		after, err := versionNow(ctx, tx)
		if err == nil && after != version {
			err = errRenamed
		}
		return err
	})
}

func versionNow(ctx context.Context, on session) (version string, err error) {
	err = on.QueryRow(ctx, "select version from current_version").Scan(&version)
	return version, err
}

const trafficTables = `
create table effects (event_id text primary key);
create table published (outbox text, n bigint, primary key (outbox, n));
create table consumed (group_name text, id bigint, times int not null default 1, primary key (group_name, id));
create view current_version as select version from pgtrickle.pgt_extension`

// inboxRole is the consumer of the inbox payments alone, in all versions that rename it. Policies give it its rows, by what the inbox is called.
const inboxRole = "mail_app"

// TestTraffic goes through a stretch of the history, or the whole, while sessions receive, claim, publish, consume, write sources, refresh, tick and read. They meet
// no error but those that the same transaction does not meet again, and in the end nothing is lost, nothing was done twice and every count and
// stream table is right. SLUICE_TEST_SEED=n does other work.
func TestTraffic(t *testing.T) {
	pgtest.Parallel(t)
	versions := stretch(t, history(t), 6, 3)
	r := startTraffic(t, versions, nil)
	for n, e := range versions[1:] {
		r.upgrade(t, changedBetween(versions[n], e), e)
	}
	r.mayMeet(t, inFunctions...)
}

// TestTrafficOfRenames goes forth and back through versions that rename everything, with the same sessions. Each asks what things are called in each
// transaction, so it meets a name that is gone where an upgrade comes between the two, and not the next time. Claims are those of a role of one inbox.
func TestTrafficOfRenames(t *testing.T) {
	pgtest.Parallel(t)
	versions := generated(t, "renames/*.yaml", 5)
	called := callings{}
	for _, m := range manifests(versions) {
		called[m.Version] = m
	}
	r := startTraffic(t, versions, called)
	for _, to := range pgtest.ShortOrLong([]int{1, 2}, []int{1, 2, 0, 3, 1}) { // the last version has other things than the first
		r.upgrade(t, changes{}, versions[to])
	}
	r.mayMeet(t, append([]string{"42704", "renamed"}, inFunctions...)...)
}

// startTraffic installs the first version, and starts all sessions.
func startTraffic(t *testing.T, versions []*generator.Extension, called callings) *traffic {
	t.Helper()
	r := &traffic{
		t: t, db: at(t, versions[0]), seed: seed(t), stop: make(chan struct{}), errors: map[string]int{}, works: map[string]int{},
		released: manifests(versions), called: called, at: versions[0].Version,
	}
	r.apply = func(t *testing.T, e *generator.Extension, options commandtest.ApplyOptions) {
		apply(t, r.db, e, options)
	}
	r.db.Exec(t, trafficTables)
	if r.called != nil {
		r.db.Exec(t, "grant insert on effects to "+inboxRole+"; grant select on current_version to "+inboxRole)
	}
	r.world = &world{db: r.db.Connect(t)}
	r.has = r.reach(t, versions[0].Version)
	r.start()
	t.Cleanup(func() { close(r.stop); r.workers.Wait() })
	return r
}

// upgrade goes to a version while sessions go on, and looks whether everything is right.
func (r *traffic) upgrade(t *testing.T, changed changes, e *generator.Extension) {
	t.Helper()
	r.holding.Lock()
	r.has = r.has.without(changed.removed, r.called.firsts(e.Version, "stream table", tablesOf(t, e)))
	r.holding.Unlock()
	r.calm.Store(!slices.Equal(r.policies(r.at), r.policies(e.Version))) // it locks all that inboxes or outboxes share: docs/limits.md
	r.goesOn(t)
	options := commandtest.ApplyOptions{Released: r.released, Loss: true, LockTimeout: 2 * time.Second, Retry: 2 * time.Minute, Progress: &commandtest.Progress{DSN: r.db.DSN(), Log: t.Logf}}
	r.apply(t, e, options)
	r.calm.Store(false)
	r.at = e.Version
	r.goesOn(t)
	r.holding.Lock()
	r.reckon(e.Version, changed)
	r.has = r.reach(t, e.Version)
	r.holding.Unlock()
}

// policies lists the tables that have some in a version.
func (r *traffic) policies(version string) (tables []string) {
	for _, m := range r.released {
		for _, o := range m.Objects {
			if m.Version == version && o.Kind == upgrade.Policy {
				tables = append(tables, o.Signature)
			}
		}
	}
	return tables
}

// mayMeet fails for errors that sessions met and that have none of these codes.
func (r *traffic) mayMeet(t *testing.T, codes ...string) {
	t.Helper()
	t.Logf("%d transactions %v; errors that a retry cured: %v", r.done.Load(), r.works, r.errors)
	for text := range r.errors {
		kind, code, _ := strings.Cut(text, ": ")
		may := append(slices.Clone(anybody), codes...)
		if kind == "write" {
			may = anybody // who writes tables of his own does not know of us
		} else if kind == "consume" || kind == "commit" {
			may = append(may, "55000", "55P03") // groups of an outbox that is ordered otherwise start again; another poll waits for the upgrade
		} else if kind == "read" {
			may = append(may, "55000") // a stream table that is new is filled after the upgrade
		}
		if !slices.Contains(may, strings.Fields(code)[0]) {
			t.Errorf("an error that the documents do not speak of: %s", text)
		}
	}
}

// Errors that docs/migrations.md speaks of: those that any transaction may meet, and those of functions in the midst of which the version changed,
// which are met once.
var anybody, inFunctions = []string{"40P01", "40001"}, []string{"42P01", "42703", "42883", "20000", "42501", "XX000"}

// reach is what a version has.
func (r *traffic) reach(t *testing.T, version string) reach {
	t.Helper()
	w := r.world
	has := reach{outboxes: r.called.firsts(version, "outbox", w.outboxes(t)), groups: r.called.firsts(version, "consumer group", w.groups(t))}
	if w.has(t, "pgtrickle_internal.pgt_stream_table_config") {
		has.tables = r.called.firsts(version, "stream table", pgtest.Column[string](t, w.db, "select stream_table from pgtrickle_internal.pgt_stream_table_config order by 1"))
	}
	return has
}

func (r reach) without(removed, tables []string) reach {
	gone := func(name string) bool { return slices.Contains(removed, name) }
	return reach{
		slices.DeleteFunc(slices.Clone(r.outboxes), gone), slices.DeleteFunc(slices.Clone(r.groups), gone),
		slices.DeleteFunc(slices.Clone(r.tables), func(name string) bool { return !slices.Contains(tables, name) }),
	}
}

// goesOn waits until each kind of work has done some transactions more.
func (r *traffic) goesOn(t *testing.T) {
	t.Helper()
	counts := func() map[string]int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return maps.Clone(r.works)
	}
	before := counts()
	pgtest.Until(t, "each kind of work goes on", func() bool {
		now := counts()
		return len(now) == kinds && !slices.ContainsFunc(slices.Collect(maps.Keys(now)), func(kind string) bool {
			return now[kind] < before[kind]+pgtest.ShortOrLong(4, 20)
		})
	})
}

const kinds = 8 // of work

func (r *traffic) start() {
	for n, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol} {
		for kind, work := range map[string]func(context.Context, *pgx.Conn, *rand.Rand) error{
			"receive": r.receive, "claim": r.claim, "publish": r.publish, "consume": r.consume, "write": r.write, "read": r.read, "refresh": r.refresh, "tick": r.tick,
		} {
			r.workers.Go(func() { r.repeat(kind, n, mode, work) })
		}
	}
}

// repeat repeats a kind of work. A transaction that fails is tried again, in the same session.
func (r *traffic) repeat(kind string, n int, mode pgx.QueryExecMode, work func(context.Context, *pgx.Conn, *rand.Rand) error) {
	ctx := context.Background()
	dsn, role := r.db.DSN, ""
	if kind == "claim" && r.called != nil {
		dsn, role = r.db.SuperDSN, inboxRole
	}
	config, err := pgx.ParseConfig(dsn("application_name=" + kind))
	if err != nil {
		r.t.Error(err)
		return
	}
	config.DefaultQueryExecMode = mode
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		r.t.Error(err)
		return
	}
	defer conn.Close(ctx)
	if role != "" {
		if _, err := conn.Exec(ctx, "set role "+role); err != nil {
			r.t.Error(err)
			return
		}
	}
	random := rand.New(rand.NewPCG(r.seed, uint64(100*n+len(kind))))
	for failures := 0; ; {
		select {
		case <-r.stop:
			return
		default:
		}
		r.holding.RLock()
		err := work(ctx, conn, random)
		r.holding.RUnlock()
		if err == nil {
			failures = 0
			r.note(r.works, kind)
			r.done.Add(1)
			pause := pgtest.ShortOrLong(300*time.Millisecond, 3*time.Millisecond)
			if r.calm.Load() {
				pause = max(pause, 90*time.Millisecond)
			}
			time.Sleep(time.Duration(random.Int64N(int64(pause))))
			continue
		}
		r.note(r.errors, kind+": "+plain(err))
		if !slices.Contains(anybody, strings.Fields(plain(err))[0]) {
			failures++
		}
		if failures == 3 || conn.IsClosed() {
			r.t.Errorf("%s goes on failing: %s", kind, pgtest.ErrorText(err))
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (r *traffic) note(in map[string]int, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in[what]++
}

// plain is an error without what differs from one time to the next.
func plain(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code + " " + strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' {
				return '#'
			}
			return c
		}, pg.Message)
	}
	return err.Error()
}

// reckon compares what was acknowledged with what is there. All sessions are between two transactions.
func (r *traffic) reckon(version string, changed changes) {
	t, w := r.t, r.world
	call := func(kind, first string) string { return r.called.in(version, kind, first) }
	inbox := call("inbox", "payments")
	messages := pgx.Identifier{"pgtrickle", inbox}.Sanitize()
	exec(t, w.db, "call pgtrickle.tick()")
	zero := func(what, sql string, args ...any) {
		if got := pgtest.One[int64](t, w.db, sql, args...); got != 0 {
			t.Errorf("%s: %s: %d", version, what, got)
		}
	}
	zero("messages that are missing", "select $1 - count(*) from "+messages+" where event_id like 'm%'", r.received.Load())
	zero("messages processed without an effect, or the other way round", "select count(*) from (select event_id from "+messages+" where processed_at is not null) p full join effects e using (event_id) where p is null or e is null")
	zero("difference of counts", "select s.pending_count + s.dlq_count + s.processed_count - (select count(*) from "+messages+") from pgtrickle.inbox_status() s where s.inbox_name = $1", inbox)
	for _, outbox := range r.has.outboxes {
		table := pgx.Identifier{"pgtrickle", spec.DerivedName("outbox_" + call("outbox", outbox))}.Sanitize()
		zero("events that are missing in "+outbox, "select count(*) from published p where p.outbox = $1 and not exists (select from "+table+" e where (e.payload ->> 'n')::bigint = p.n)", outbox)
	}
	for _, group := range r.has.groups {
		name := call("consumer group", group)
		for _, id := range w.rest(t, name) {
			exec(t, w.db, "insert into consumed as c (group_name, id) values ($1, $2) on conflict (group_name, id) do update set times = c.times + 1", group, id)
		}
		zero("lag of "+group, "select lag_rows from pgtrickle.pgt_consumer_group_lag where group_name = $1", name)
		if !slices.Contains(changed.reordered, group) {
			zero("rows consumed twice by "+group, "select count(*) from consumed where group_name = $1 and times > 1", group)
		}
		table := pgtest.One[string](t, w.db, "select format('%I.%I', o.outbox_schema, o.outbox_table_name) from pgtrickle_internal.pgt_outboxes o join pgtrickle.pgt_consumer_groups g using (outbox_name) where g.group_name = $1", name)
		zero("rows not consumed by "+group, "select count(*) from "+table+" e join pgtrickle.pgt_consumer_groups g on g.group_name = $1 where e.id > g.start_id and not exists (select from consumed c where c.group_name = $2 and c.id = e.id)", name, group)
		exec(t, w.db, "update consumed set times = 1")
	}
	for _, outbox := range changed.removed {
		exec(t, w.db, "delete from published where outbox = $1", outbox)
		exec(t, w.db, "delete from consumed where group_name = $1", outbox)
	}
	refreshAll(t, w.db)
	equalQueries(t, w.db, version)
	if failed := pgtest.Column[string](t, w.db, "select task || ': ' || last_error from pgtrickle_internal.pgt_tasks where last_error is not null"); len(failed) > 0 {
		t.Errorf("%s: tasks failed: %q", version, failed)
	}
	if w.has(t, "pgtrickle.pgt_stream_tables") {
		if failed := pgtest.Column[string](t, w.db, "select concat_ws(': ', pgt_name, status, last_error) from pgtrickle.pgt_status() where status <> 'active'"); len(failed) > 0 {
			t.Errorf("%s: stream tables failed: %q", version, failed)
		}
	}
	t.Logf("%s: %d transactions, %v", version, r.done.Load(), slices.Sorted(maps.Keys(r.errors)))
}

// rest consumes what a group has not, and returns its ids.
func (w *world) rest(t *testing.T, group string) []int64 {
	t.Helper()
	var all []int64
	for n := 0; ; n++ {
		ids := pgtest.Column[int64](t, w.db, "select id from pgtrickle.poll_outbox($1, $2, 1000)", group, fmt.Sprint("rest ", n))
		if len(ids) == 0 {
			return all
		}
		exec(t, w.db, "select pgtrickle.commit_offset($1, $2, $3)", group, fmt.Sprint("rest ", n), slices.Max(ids))
		all = append(all, ids...)
	}
}
