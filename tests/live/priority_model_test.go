package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const prioritySpec = `
version: 1
extension: {name: urgent, version: 1.0.0, imperative: true}
inboxes:
  - {name: mapped, priority: {map: {refund: 1, captured: 2}}, retry: {backoff: constant, initial: 2h}, max_attempts: 1000}
  - {name: tiered, priority: {tiers: default}, retry: none, max_attempts: 1000}
  - name: own_mapped
    table: pgtrickle.own_mapped
    priority: {column: Kind, map: {refund: 1, captured: 2}}
    columns: {available_at: available_at}
    retry: {backoff: constant, initial: 2h}
    max_attempts: 1000
  - {name: own_tiered, table: pgtrickle.own_tiered, priority: {tiers: default, column: "How urgent"}, retry: none, max_attempts: 1000}
schema: [schema.sql]
`

const priorityDDL = `create schema if not exists pgtrickle;
create table pgtrickle.own_mapped (
    event_id varchar primary key, event_type text not null default 't', payload jsonb not null, received_at timestamptz not null default clock_timestamp(),
    processed_at timestamptz, error text, retry_count integer not null default 0, available_at timestamptz, "Kind" varchar(20)
);
create table pgtrickle.own_tiered (
    event_id varchar primary key, event_type text not null, payload jsonb not null, received_at timestamptz not null default clock_timestamp(),
    processed_at timestamptz, error text, retry_count integer not null default 0, "How urgent" smallint
) partition by hash (event_id);
create table pgtrickle.own_tiered_0 partition of pgtrickle.own_tiered for values with (modulus 2, remainder 0);
create table pgtrickle.own_tiered_1 partition of pgtrickle.own_tiered for values with (modulus 2, remainder 1);
create table pgtrickle.tracked_mapped (like pgtrickle.own_mapped including all);
create table pgtrickle.tracked_tiered (like pgtrickle.own_tiered including all) partition by hash (event_id);
create table pgtrickle.tracked_tiered_0 partition of pgtrickle.tracked_tiered for values with (modulus 2, remainder 0);
create table pgtrickle.tracked_tiered_1 partition of pgtrickle.tracked_tiered for values with (modulus 2, remainder 1);
`

// createdSQL makes inboxes with priority by functions: a table of their own has its columns from the beginning.
const createdSQL = `
select pgtrickle.create_inbox(i) from unnest(array['created_mapped', 'created_tiered']) i;
alter table pgtrickle.created_tiered add priority integer;
select pgtrickle.enable_inbox_tracking(i, 'pgtrickle.' || i) from unnest(array['tracked_mapped', 'tracked_tiered']) i;
`

// enabledBy are the calls that give them their priority.
var enabledBy = map[string]string{
	"created_mapped": `select pgtrickle.enable_inbox_priority('created_mapped', 'event_type', '{"captured": 2, "refund": 1}')`,
	"tracked_mapped": `select pgtrickle.enable_inbox_priority('tracked_mapped', 'Kind', '{"captured": 2, "refund": 1}')`,
	"created_tiered": "select pgtrickle.enable_inbox_priority('created_tiered', 'priority')",
	"tracked_tiered": "select pgtrickle.enable_inbox_priority('tracked_tiered', 'How urgent')",
}

// priorityDB is a database with inboxes of all kinds that have a priority.
func priorityDB(t *testing.T) *pgtest.Database {
	install := priorityDDL + installed.Over(t, prioritySpec, priorityDDL).Install(generator.Plain) + createdSQL
	db := pgtest.DB(t, pgtest.Template(t, "priority", func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, install+strings.Join(slices.Sorted(maps.Values(enabledBy)), ";\n"))
		return err
	}))
	db.Exec(t, "call pgtrickle.tick()") // the first one in a copied database fills the backlogs anew
	return db
}

// TestPriorityModel lets workers claim, mark, fail, lease, give back and roll back while an application changes messages by plain statements, and compares
// each claim and each list of pending messages with a model: by level, then by when a message became due.
func TestPriorityModel(t *testing.T) {
	pgtest.Parallel(t)
	all := []string{"mapped", "tiered", "own_mapped", "own_tiered", "created_mapped", "created_tiered", "tracked_mapped", "tracked_tiered"}
	for _, inbox := range pgtest.ShortOrLong([]string{"mapped", "tracked_tiered"}, all) {
		for seed := range pgtest.ShortOrLong(uint64(1), 10) {
			t.Run(fmt.Sprint(inbox, seed), func(t *testing.T) {
				m := &priorityModel{t: t, db: priorityDB(t), inbox: inbox, rand: rand.New(rand.NewPCG(seed, 3)), due: map[string]entry{}}
				m.main = m.db.Connect(t)
				run(t, m.main, longAgoSQL)
				m.began = pgtest.One[time.Time](t, m.main, "select clock_timestamp()")
				for range 3 {
					m.workers = append(m.workers, &claimer{conn: m.db.Connect(t)})
				}
				m.run(pgtest.ShortOrLong(50, 200))
			})
		}
	}
}

// longAgoSQL has ticks leave what claims passed half a minute ago where it is, for an hour: on a slow machine, the model would have to know of it.
const longAgoSQL = `do $$
declare
    v_is constant text := pg_get_functiondef('pgtrickle_internal.pgt_inbox_level_watermarks'::regproc);
    v_new constant text := replace(v_is, '30 seconds', '1 hour');
begin
    assert v_new <> v_is;
    execute v_new;
end $$`

// entry is what the model knows of a pending message.
type entry struct {
	level int
	due   time.Time
}

// claimer is a worker and the messages that its transaction holds.
type claimer struct {
	conn *pgx.Conn
	held []string
}

type priorityModel struct {
	t       *testing.T
	db      *pgtest.Database
	inbox   string
	rand    *rand.Rand
	main    *pgx.Conn
	workers []*claimer
	due     map[string]entry
	began   time.Time
	before  time.Time // the last step
	number  int
	filled  bool // the backlog was filled just now
	log     []string
}

func (m *priorityModel) run(steps int) {
	for n := 0; n < steps && !m.t.Failed(); n++ {
		m.before = pgtest.One[time.Time](m.t, m.main, "select clock_timestamp()")
		m.step()
		m.learn()
		m.compare()
	}
	if m.t.Failed() {
		m.t.Logf("steps:\n%s", strings.Join(m.log, "\n"))
	}
}

func (m *priorityModel) step() {
	w := m.workers[m.rand.IntN(len(m.workers))]
	switch m.rand.IntN(15) {
	case 0, 1, 2:
		m.number++
		m.exec("insert into pgtrickle.%s (event_id, %s, payload, received_at) values ('m%d', %s, '{}', '%s')", m.inbox, m.column(), m.number, m.value(),
			m.began.Add(-time.Duration(m.rand.IntN(5_000_000))*time.Microsecond).Format(time.RFC3339Nano))
	case 3:
		m.one("update pgtrickle.%s set %s = %s where event_id = '%s'", m.inbox, m.column0(), m.value0())
	case 4:
		m.one("update pgtrickle.%s set payload = payload || '{\"a\": 1}' where event_id = '%s'", m.inbox)
	case 5:
		m.one("delete from pgtrickle.%s where event_id = '%s'", m.inbox)
	case 6:
		m.one("select pgtrickle.replay_inbox_messages('%s', array['%s'], p_include_processed => true)", m.inbox)
	case 7:
		m.exec("call pgtrickle.tick()")
	case 8:
		m.one("select pgtrickle.inbox_mark_failed('%s', '%s', 'x')", m.inbox)
		if m.delays() {
			m.exec("update pgtrickle.%s set available_at = now() + interval '2 h' where available_at < now() + interval '1 h' and available_at > now()", m.inbox)
		}
	case 9:
		if m.isMapped() {
			m.release(1 + m.rand.IntN(2))
		}
	case 10, 11, 12:
		m.claim(w)
	case 13:
		m.end(w)
	case 14:
		m.again()
	}
}

// again has a created inbox hand out its messages without priority, and with it again. Then each is due since it came.
func (m *priorityModel) again() {
	enable := enabledBy[m.inbox]
	if enable == "" {
		return
	}
	for _, w := range m.workers {
		m.end(w)
		run(m.t, w.conn, "rollback") // one that found nothing
	}
	m.exec("select pgtrickle.disable_inbox_priority('%s')", m.inbox)
	if m.rand.IntN(2) == 0 {
		m.exec("insert into pgtrickle.%s (event_id, %s, payload) values ('between%d', %s, '{}')", m.inbox, m.column(), m.number, m.value())
		m.number++
	}
	m.exec("%s", enable)
	m.filled, m.due = true, map[string]entry{}
	m.learn()
	m.filled = false
}

// release leases messages and gives them back: they are due anew.
func (m *priorityModel) release(limit int) {
	leased := m.free()
	m.exec("select pgtrickle.inbox_release('%s', array_agg(c.event_id), min(c.lease_id)) from pgtrickle.inbox_claim_lease('%[1]s', %d) c having count(*) > 0", m.inbox, limit)
	for _, id := range leased[:min(limit, len(leased))] {
		delete(m.due, id)
	}
}

func (m *priorityModel) isMapped() bool { return strings.HasSuffix(m.inbox, "mapped") }

// delays reports whether a failure delays a message by seconds, which is too short for the model.
func (m *priorityModel) delays() bool {
	return strings.HasPrefix(m.inbox, "created") || m.inbox == "tracked_mapped"
}

func (m *priorityModel) column() string {
	if m.isMapped() {
		return m.column0()
	}
	return "event_type, " + m.column0()
}

// column0 is the column that decides.
func (m *priorityModel) column0() string {
	return map[string]string{
		"mapped": "event_type", "tiered": "priority", "own_mapped": `"Kind"`, "own_tiered": `"How urgent"`,
		"created_mapped": "event_type", "created_tiered": "priority", "tracked_mapped": `"Kind"`, "tracked_tiered": `"How urgent"`,
	}[m.inbox]
}

func (m *priorityModel) value0() string {
	if m.isMapped() {
		return []string{"'refund'", "'captured'", "'other'", "''"}[m.rand.IntN(4)]
	}
	return []string{"null", "-1", "1", "2", "3", "6", "7", "9", "10", "5000"}[m.rand.IntN(10)]
}

func (m *priorityModel) value() string {
	if m.isMapped() {
		return m.value0()
	}
	return "'t', " + m.value0()
}

func (m *priorityModel) exec(format string, args ...any) {
	sql := fmt.Sprintf(format, args...)
	m.log = append(m.log, sql)
	run(m.t, m.main, sql)
}

// one does something to a message that nobody holds; its id is the last argument.
func (m *priorityModel) one(format string, args ...any) {
	ids := pgtest.Column[string](m.t, m.main, "select event_id from pgtrickle."+m.inbox+" where processed_at is null or event_id < 'm3' order by event_id")
	ids = slices.DeleteFunc(ids, m.isHeld)
	if strings.Contains(format, "inbox_mark_failed") {
		ids = slices.DeleteFunc(ids, func(id string) bool { _, pending := m.due[id]; return !pending })
	}
	if len(ids) > 0 {
		m.exec(format, append(args, ids[m.rand.IntN(len(ids))])...)
	}
}

func (m *priorityModel) isHeld(id string) bool {
	return slices.ContainsFunc(m.workers, func(w *claimer) bool { return slices.Contains(w.held, id) })
}

// claim has a worker claim a few messages, and compares them with those that the model expects.
func (m *priorityModel) claim(w *claimer) {
	if len(w.held) > 0 {
		m.end(w)
		m.learn()
	}
	limit := 1 + m.rand.IntN(2)
	want := m.free()
	want = want[:min(limit, len(want))]
	run(m.t, w.conn, "begin")
	w.held = pgtest.Column[string](m.t, w.conn, "select event_id from pgtrickle.inbox_claim($1, $2)", m.inbox, limit)
	m.log = append(m.log, fmt.Sprint("claim ", limit, ": ", w.held))
	if !slices.Equal(w.held, want) {
		m.t.Errorf("claimed %v, not %v", w.held, want)
	}
}

// end has a worker mark what it holds, or give it back.
func (m *priorityModel) end(w *claimer) {
	if len(w.held) == 0 {
		return
	}
	end := "rollback"
	if m.rand.IntN(3) > 0 {
		end = "commit"
		run(m.t, w.conn, "select pgtrickle.inbox_mark_processed('"+m.inbox+"', array['"+strings.Join(w.held, "','")+"'])")
	}
	m.log = append(m.log, fmt.Sprint(end, " ", w.held))
	run(m.t, w.conn, end)
	w.held = nil
}

// free lists the messages that can be claimed, in the order in which they are.
func (m *priorityModel) free() []string {
	var ids []string
	for id, e := range m.due {
		if !m.isHeld(id) && e.due.Before(m.began.Add(time.Hour)) {
			ids = append(ids, id)
		}
	}
	return m.sorted(ids)
}

func (m *priorityModel) sorted(ids []string) []string {
	slices.SortFunc(ids, func(a, b string) int {
		x, y := m.due[a], m.due[b]
		return cmp.Or(cmp.Compare(x.level, y.level), x.due.Compare(y.due), strings.Compare(a, b))
	})
	return ids
}

// learn brings the model up to date with the table. A message keeps its place unless its level changes or it was or is delayed.
func (m *priorityModel) learn() {
	high := pgtest.One[time.Time](m.t, m.main, "select coalesce(to_timestamp(pg_sequence_last_value(('pgtrickle_internal.' || $1 || '_high_watermark')::regclass)), 'epoch')", m.inbox)
	now := pgtest.One[time.Time](m.t, m.main, "select clock_timestamp()")
	level, available := "case %s when 'refund' then 1 when 'captured' then 2 else 999 end", "coalesce(available_at, received_at)"
	if !m.isMapped() {
		level, available = "case when %s in (1, 2) then 1 when %[1]s between 3 and 6 then 3 when %[1]s between 7 and 9 then 7 else 1000 end", "received_at"
	}
	if m.inbox == "created_tiered" {
		available = "coalesce(available_at, received_at)"
	}
	rows, err := m.main.Query(m.t.Context(), fmt.Sprintf("select event_id, "+level+", %s from pgtrickle.%s where processed_at is null and retry_count < 3", m.column0(), available, m.inbox))
	if err != nil {
		m.t.Fatal(err)
	}
	pending, moved := map[string]entry{}, []string{}
	var id string
	var e entry
	if _, err := pgx.ForEachRow(rows, []any{&id, &e.level, &e.due}, func() error {
		was, known := m.due[id]
		if e.due.Before(high) && !m.filled {
			e.due = high
		}
		switch {
		case known && was.level != e.level && e.due.Before(now):
			moved = append(moved, id)
		case known && was.level == e.level && !was.due.After(now) && !e.due.After(now):
			e = was
		}
		pending[id] = e
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
	for _, id := range moved { // at some moment of the last step
		due := pgtest.One[time.Time](m.t, m.main, "select due_at from pgtrickle_internal."+m.inbox+"_by_priority where event_id::text = $1", id)
		if due.Before(m.before) || due.After(now) {
			m.t.Errorf("%s is due at %v, not since the last step, from %v to %v", id, due, m.before, now)
		}
		pending[id] = entry{pending[id].level, due}
	}
	m.due = pending
}

// compare compares the list of pending messages with the model, and the backlog with the table.
func (m *priorityModel) compare() {
	var want []string
	for id, e := range m.due {
		if e.due.Before(m.began.Add(time.Hour)) {
			want = append(want, id)
		}
	}
	want = m.sorted(want)
	if got := pgtest.Column[string](m.t, m.main, "select event_id from pgtrickle.inbox_pending($1, 1000)", m.inbox); !slices.Equal(got, want) {
		m.t.Errorf("pending are %v, not %v", got, want)
	}
	if n := pgtest.One[int](m.t, m.main, "select count(*) from pgtrickle_internal."+m.inbox+"_by_priority"); n != len(m.due) {
		m.t.Errorf("the backlog has %d messages, not %d", n, len(m.due))
	}
}

// TestPriorityReadsWhatItTakes: what a claim reads grows neither with the messages of other levels nor with those that were processed while an old transaction
// keeps their entries.
func TestPriorityReadsWhatItTakes(t *testing.T) {
	db := priorityDB(t)
	background, urgent := pgtest.ShortOrLong(3000, 30_000), pgtest.ShortOrLong(1000, 10_000)
	old := db.Connect(t)
	run(t, old, "begin isolation level repeatable read")
	run(t, old, "select 1")
	insert := func(prefix, kind string, count int) {
		db.Exec(t, "insert into pgtrickle.mapped (event_id, event_type, payload) select $1 || i, $2, '{}' from generate_series(1, $3) i", prefix, kind, count)
	}
	insert("m", "other", background)
	reads := func(what, sql string, want, most int) {
		t.Helper()
		conn := db.Connect(t) // another session, for what it reads
		run(t, conn, "begin")
		if got := pgtest.One[int](t, conn, sql); got != want {
			t.Errorf("%s: %d messages, not %d", what, got, want)
		}
		read := pgtest.One[int](t, conn, `select (sum(idx_tup_fetch) + sum(pg_stat_get_xact_blocks_fetched(relid)))::int
from pg_stat_xact_user_tables where relname in ('mapped', 'mapped_by_priority', 'pgt_inbox_progress')`)
		t.Logf("%s: %d rows and pages", what, read)
		if read > most {
			t.Errorf("%s: %d rows and pages were read", what, read)
		}
		run(t, conn, "commit")
	}
	settle := func() {
		t.Helper()
		for range 3 { // marks are settled once a tick finds that all who read its high watermark have ended
			db.Exec(t, "call pgtrickle.tick()")
			db.Exec(t, "update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'")
		}
		db.Exec(t, "call pgtrickle.tick()")
	}
	const claims = "select count(*) from pgtrickle.inbox_claim('mapped', %d)"
	const marks = "select count(pgtrickle.inbox_mark_processed('mapped', event_id)) from pgtrickle.inbox_claim('mapped', %d)"
	settle()
	reads("one of many background messages", fmt.Sprintf(claims, 1), 1, 60)
	reads("a hundred of them", fmt.Sprintf(claims, 100), 100, 1000)
	db.Exec(t, "insert into pgtrickle.mapped (event_id, event_type, payload) values ('urgent', 'refund', '{}')")
	reads("an urgent one among them", fmt.Sprintf(claims, 1), 1, 60)
	insert("u", "refund", urgent)
	db.Exec(t, fmt.Sprintf(marks, urgent+1))
	db.Exec(t, fmt.Sprintf(marks, urgent))
	settle()
	reads("a background one behind processed ones of both levels", fmt.Sprintf(claims, 1), 1, 60)
	db.Exec(t, "insert into pgtrickle.mapped (event_id, event_type, payload) values ('urgent 2', 'refund', '{}')")
	reads("an urgent one behind processed ones", fmt.Sprintf(claims, 1), 1, 60)
	db.Exec(t, "select pgtrickle.inbox_mark_failed('mapped', i.event_id, 'x') from pgtrickle.mapped i where i.processed_at is null")
	settle()
	reads("none of many that are delayed", fmt.Sprintf(claims, 1), 0, 60)
	run(t, old, "rollback")
}
