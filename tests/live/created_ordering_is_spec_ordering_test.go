package live

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestOrderedByCallAsBySpec does the same things to inboxes with ordering of a spec, and to like ones that functions created and ordered, some of which held
// messages by then: every answer, every error and all that is derived must agree.
func TestOrderedByCallAsBySpec(t *testing.T) {
	pgtest.Parallel(t)
	seeds, steps := pgtest.ShortOrLong([]uint64{2}, []uint64{2, uint64(time.Now().UnixNano())}), pgtest.ShortOrLong(100, 200)
	if n, err := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64); err == nil {
		seeds = []uint64{n}
	}
	if n, err := strconv.Atoi(os.Getenv("SLUICE_TEST_STEPS")); err == nil {
		steps = n
	}
	extension := installed.Over(t, orderedSpec, orderedDDL)
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			db := pgtest.DB(t)
			db.Exec(t, orderedDDL)
			db.Exec(t, extension.Install("plain"))
			for _, sql := range pgtest.Split(orderedByCall) {
				db.Exec(t, sql)
			}
			r := &orderedRun{t: t, rand: rand.New(rand.NewPCG(seed, 9)), owner: db.Connect(t)}
			run(t, r.owner, impatient)
			for range 2 { // the second only claims: what messages wait for that others processed unseen is a matter of time
				r.sessions = append(r.sessions, db.Connect(t))
			}
			r.sessions = append(r.sessions, pgtest.Connect(t, db.SuperDSN()))
			for _, conn := range r.sessions {
				run(t, conn, impatient)
			}
			run(t, r.sessions[2], "set session_replication_role = replica")
			for step := range steps {
				if step == steps/5 {
					r.enable()
				}
				r.step()
			}
			r.end()
		})
	}
}

const orderedSpec = `
version: 1
extension: {name: ordered, version: 1.0.0, imperative: true}
schema: [schema.sql]
inboxes:
  - {name: timed, ordering: {}}
  - {name: numbered, ordering: {sequence: "the %s number"}}
  - {name: own_timed, table: own_timed, ordering: {aggregate: "group", sequence: "at"}, columns: {id: no, received_at: got}}
  - {name: own_numbered, table: own_numbered, ordering: {aggregate: "group", sequence: "the %s number"}, columns: {id: no, received_at: got, available_at: available_at}}
  - {name: parted_timed, table: parted_timed, ordering: {aggregate: "group", sequence: "at"}, columns: {id: no, received_at: got}}
  - {name: parted_numbered, table: parted_numbered, ordering: {aggregate: "group", sequence: "the %s number"}, columns: {id: no, received_at: got, available_at: available_at}}
`

const orderedDDL = `
create table own_timed (no varchar(9) primary key, event_type text not null, "group" bigint, payload jsonb not null, got timestamptz not null default clock_timestamp(),
	processed_at timestamptz, error text, retry_count integer not null default 0, at timestamptz not null default '2026-03-01');
create table own_numbered (no varchar(9) primary key, event_type text not null, "group" text collate "C", payload jsonb not null, got timestamptz not null default clock_timestamp(),
	processed_at timestamptz, error text, retry_count integer not null default 0, available_at timestamptz, "the %s number" smallint);
create table c_own_timed (like own_timed including all);
create table c_own_numbered (like own_numbered including all);
create table parted_timed (like own_timed including all) partition by hash (no);
create table parted_timed_0 partition of parted_timed for values with (modulus 2, remainder 0);
create table parted_timed_1 partition of parted_timed for values with (modulus 2, remainder 1);
create table c_parted_timed (like own_timed including all) partition by hash (no);
create table c_parted_timed_0 partition of c_parted_timed for values with (modulus 2, remainder 0);
create table c_parted_timed_1 partition of c_parted_timed for values with (modulus 2, remainder 1);
create table parted_numbered (like own_numbered including all) partition by hash (no);
create table parted_numbered_0 partition of parted_numbered for values with (modulus 1, remainder 0);
create table c_parted_numbered (like own_numbered including all) partition by hash (no);
create table c_parted_numbered_0 partition of c_parted_numbered for values with (modulus 1, remainder 0);
`

const orderedByCall = `
select pgtrickle.create_inbox('c_timed');
select pgtrickle.create_inbox('c_numbered');
alter table pgtrickle.c_numbered add column "the %s number" bigint;
select pgtrickle.enable_inbox_tracking(i, i, 'no', p_received_at_column => 'got') from unnest(array['c_own_timed', 'c_own_numbered', 'c_parted_timed', 'c_parted_numbered']) i;
`

// orderings are the inboxes of the spec with the columns of their tables, and how the like ones get their order.
var orderings = []struct{ inbox, table, id, group, sequence, enable string }{
	{"timed", "pgtrickle.timed", "event_id", "aggregate_id", "received_at", ""},
	{"numbered", "pgtrickle.numbered", "event_id", "aggregate_id", `"the %s number"`, ", p_sequence_column => 'the %s number'"},
	{"own_timed", "own_timed", "no", `"group"`, "at", ", 'group', 'at'"},
	{"own_numbered", "own_numbered", "no", `"group"`, `"the %s number"`, ", 'group', 'the %s number'"},
	{"parted_timed", "parted_timed", "no", `"group"`, "at", ", 'group', 'at'"},
	{"parted_numbered", "parted_numbered", "no", `"group"`, `"the %s number"`, ", 'group', 'the %s number'"},
}

type orderedRun struct {
	t        *testing.T
	rand     *rand.Rand
	owner    *pgx.Conn
	sessions []*pgx.Conn // one that does everything, one that claims, one that writes as logical replication does
	ordered  bool
	log      []string
}

// enable orders the inboxes that functions created; until then only messages were sent and processed.
func (r *orderedRun) enable() {
	for _, conn := range r.sessions {
		run(r.t, conn, "rollback")
	}
	for n, o := range orderings {
		sql := fmt.Sprintf("select pgtrickle.enable_inbox_ordering('c_%s'%s)", o.inbox, o.enable)
		run(r.t, r.owner, sql)
		run(r.t, r.owner, sql)
		// What was processed before is only known as far as its messages are there.
		run(r.t, r.owner, fmt.Sprintf("delete from pgtrickle_internal.pgt_inbox_sequences where inbox_name = '%s'", o.inbox))
		run(r.t, r.owner, fmt.Sprintf("select pgtrickle_internal.pgt_inbox_rebuild('%s')", o.inbox))
		r.compare(n)
	}
	r.ordered = true
}

func (r *orderedRun) step() {
	n := r.rand.IntN(len(orderings))
	if r.rand.IntN(10) == 0 && r.sessions[0].PgConn().TxStatus() == 'I' {
		r.tick()
	}
	session, template := r.statement(n)
	r.both(n, session, template)
	if r.sessions[session].PgConn().TxStatus() == 'E' {
		r.both(n, session, "rollback")
	}
	r.compare(n)
}

// tick does background work; it gives up where a session holds what it would wait for. When to look again at what waits is a matter of time, which is not the same
// for two inboxes.
func (r *orderedRun) tick() {
	var pg *pgconn.PgError
	if _, err := r.owner.Exec(r.t.Context(), "call pgtrickle.tick()"); err != nil && !(errors.As(err, &pg) && pg.Code == "55P03") {
		r.t.Fatal(pgtest.ErrorText(err))
	}
	for n, o := range orderings {
		if r.ordered {
			run(r.t, r.owner, fmt.Sprintf(`update pgtrickle_internal.c_%[1]s_backlog%[2]s c set due_at = b.due_at from pgtrickle_internal.%[1]s_backlog%[2]s b
				where b.aggregate_key = c.aggregate_key and b.event_id = c.event_id and b.due_at <> c.due_at`, o.inbox, []string{"_by_time", ""}[n%2]))
		}
	}
}

// statement chooses a session and what it does.
func (r *orderedRun) statement(n int) (session int, template string) {
	pick := func(from ...string) string { return from[r.rand.IntN(len(from))] }
	id, group := func() string { return fmt.Sprintf("'e%d'", r.rand.IntN(24)) }, func() string { return pick("'1'", "'2'", "'3'", "'4'", "null") }
	sequence := func() string {
		if n%2 == 0 {
			return fmt.Sprintf("'2026-01-%02d'", 1+r.rand.IntN(28))
		}
		return fmt.Sprintf("'%d'", 1+r.rand.IntN(9))
	}
	open := r.sessions[0].PgConn().TxStatus() != 'I'
	plain := []string{
		fmt.Sprintf("insert into {table} ({id}, event_type, payload, {group}, {sequence}) values (%s, 't', '{}', %s, %s) on conflict do nothing", id(), group(), sequence()),
		fmt.Sprintf("update {table} set processed_at = clock_timestamp() where {id} in (%s, %s)", id(), id()),
		fmt.Sprintf("update {table} set processed_at = null where {id} = %s", id()),
		fmt.Sprintf("update {table} set {group} = %s where {id} in (%s, %s)", group(), id(), id()),
		fmt.Sprintf("update {table} set {sequence} = %s where {id} = %s", sequence(), id()),
		fmt.Sprintf("update {table} set retry_count = %d where {id} = %s", r.rand.IntN(5), id()),
		fmt.Sprintf("delete from {table} where {id} in (%s, %s)", id(), id()),
	}
	switch kind := r.rand.IntN(20); {
	case kind < 6:
		return 0, pick(plain...)
	case kind < 8 && !open:
		return 2, pick(plain...)
	case kind < 10:
		if !r.ordered {
			return 0, plain[0]
		}
		return 1, pick("begin", "select event_id, sequence is null from pgtrickle.inbox_claim('{inbox}', 100)", "commit", "rollback")
	case kind == 10:
		return 0, pick("begin", "savepoint s", "commit", "rollback", "rollback to savepoint s")
	case !r.ordered:
		return 0, plain[0]
	}
	return 0, pick(
		fmt.Sprintf("select pgtrickle.inbox_receive('{inbox}', %s, 't', '{}', p_aggregate_id => %s, p_sequence => %s)", id(), pick(group(), "null"), pick(sequence(), "'1'", "'x'", "null")),
		fmt.Sprintf(`select * from pgtrickle.inbox_receive_many('{inbox}', jsonb_build_array(jsonb_build_object('event_id', %s, 'event_type', 't', 'payload', 1, 'sequence', %s),
			jsonb_build_object('event_id', %s, 'event_type', 'u', 'payload', 1, 'aggregate_id', %s, 'sequence', %s)))`, id(), sequence(), id(), group(), pick(sequence(), "null")),
		"select event_id, event_type, aggregate_id, retry_count from pgtrickle.inbox_claim('{inbox}', 100)",
		"select pgtrickle.inbox_mark_processed('{inbox}', event_id) from pgtrickle.inbox_claim('{inbox}', 100)",
		"select pgtrickle.inbox_mark_processed('{inbox}', array_agg(event_id)) from pgtrickle.inbox_claim('{inbox}', 100, 1, 2)",
		"select event_id, retry_count from pgtrickle.inbox_claim_lease('{inbox}', 100, '1 hour')",
		"select pgtrickle.inbox_release('{inbox}', array_agg(u.event_id), max(l.lease_id)) from pgtrickle_internal.pgt_inbox_leases l, unnest(l.event_ids) u (event_id) where l.inbox_name = '{inbox}' group by l.lease_id",
		fmt.Sprintf("select pgtrickle.inbox_mark_processed('{inbox}', array[%s, %s])", id(), id()),
		fmt.Sprintf("select pgtrickle.inbox_mark_processed('{inbox}', %s)", id()),
		fmt.Sprintf("select pgtrickle.inbox_mark_failed('{inbox}', %s, 'no'); %s", id(), "{undelay}"),
		fmt.Sprintf("select pgtrickle.replay_inbox_messages('{inbox}', array[%s], p_include_processed => %s)", id(), pick("true", "false")),
		pick("select pgtrickle.pause_inbox('{inbox}')", "select pgtrickle.resume_inbox('{inbox}')", "select pgtrickle.resume_inbox('{inbox}')"),
	)
}

// both runs a statement on an inbox of the spec and on the like one, and compares what they answer.
func (r *orderedRun) both(n, session int, template string) {
	conn := r.sessions[session]
	single := slices.Contains([]string{"begin", "commit", "rollback", "savepoint s", "rollback to savepoint s"}, template)
	answer := func(which int) string {
		o, prefix := orderings[n], []string{"", "c_"}[which]
		table := strings.Replace(o.table, o.inbox, prefix+o.inbox, 1)
		sql := strings.NewReplacer("{inbox}", prefix+o.inbox, "{table}", table, "{id}", o.id, "{group}", o.group, "{sequence}", o.sequence,
			"{undelay}", map[bool]string{true: "select", false: fmt.Sprintf("update %s set available_at = null where available_at < now() + interval '10 minutes'", table)}[o.inbox == "own_timed" || o.inbox == "parted_timed"]).Replace(template)
		results, err := conn.PgConn().Exec(r.t.Context(), sql).ReadAll()
		said := func(text string) string { return strings.ReplaceAll(text, "c_", "") }
		var pg *pgconn.PgError
		if errors.As(err, &pg) {
			if !slices.Contains([]string{"22023", "22P02", "22007", "55000", "23505", "23502", "55006", "55P03", "P0002", "25P02", "25P01", "3B001", "40P01", "22003"}, pg.Code) {
				r.t.Fatalf("%s\nin %s", pgtest.ErrorText(err), sql)
			}
			return pg.Code + " " + said(pg.Message) + " " + said(pg.Detail)
		} else if err != nil {
			r.t.Fatal(err)
		}
		return answered(results, said)
	}
	want := answer(0)
	if single {
		r.log = append(r.log, fmt.Sprintf("%d: %s", session, template))
		return
	}
	failed := conn.PgConn().TxStatus() == 'E'
	if failed { // the other one would only say so
		r.log = append(r.log, fmt.Sprintf("%d, %s: %s\n    -- %s", session, orderings[n].inbox, template, want))
		return
	}
	got := answer(1)
	r.log = append(r.log, fmt.Sprintf("%d, %s: %s\n    -- %s", session, orderings[n].inbox, template, want))
	if got != want {
		r.t.Fatalf("the created inbox says\n%s\ninstead of\n%s\nafter\n%s", got, want, strings.Join(r.log[max(0, len(r.log)-80):], "\n"))
	}
}

// compare compares all that is known of an inbox and the like one.
func (r *orderedRun) compare(n int) {
	views := []string{
		"select {id}, event_type, processed_at is null, retry_count, error, {group} from {table}",
		"select concat_ws(' ', event_type, pending, processed, dead_letter) from pgtrickle.{inbox}_stats",
		"select {id} from pgtrickle.{inbox}_pending", "select {id} from pgtrickle.{inbox}_dlq",
		"select replace(t.tgname, 'c_', ''), tgenabled, tgtype from pg_trigger t where tgrelid = '{table}'::regclass",
	}
	if r.ordered {
		views = append(views, "select {id} from pgtrickle.next_{inbox}", "select event_id from pgtrickle.inbox_pending('{inbox}', 1000)",
			"select event_id, no from pgtrickle.inbox_pending('{inbox}', 1000) with ordinality p (event_id, et, s, a, p, r, c, t, q, prio, no)",
			"select aggregate_id, missing_from, missing_to from pgtrickle.inbox_ordering_gaps('{inbox}')",
			"select u.event_id, l.attempts from pgtrickle_internal.pgt_inbox_leases l, unnest(l.event_ids) u (event_id) where inbox_name = '{inbox}'",
			"select aggregate_key, is_expired, last_sequence from pgtrickle_internal.pgt_inbox_sequences where inbox_name = '{inbox}'",
			fmt.Sprintf("select aggregate_key, event_id%s from pgtrickle_internal.{inbox}_backlog%s", []string{"", ", sequence, gap_at is null"}[n%2], []string{"_by_time", ""}[n%2]))
	} else {
		views = views[:1]
	}
	for _, view := range views {
		r.both(n, 0, view)
		r.log = r.log[:len(r.log)-1]
	}
}

func (r *orderedRun) end() {
	for _, conn := range r.sessions {
		run(r.t, conn, "rollback")
	}
	for n, o := range orderings {
		for range 2 {
			run(r.t, r.owner, "call pgtrickle.tick()")
		}
		r.compare(n)
		failed := pgtest.Column[string](r.t, r.owner, "select task || ': ' || last_error from pgtrickle_internal.pgt_tasks where last_error is not null")
		if len(failed) > 0 {
			r.t.Errorf("tasks failed: %q", failed)
		}
		run(r.t, r.owner, fmt.Sprintf("select pgtrickle.disable_inbox_ordering('c_%s'), pgtrickle.drop_inbox('c_%[1]s')", o.inbox))
	}
}
