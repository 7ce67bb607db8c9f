package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestRandomStatements lets three sessions of an application do to two inboxes whatever SQL allows, their transactions
// interleaved, with background work in between, and compares after each step everything that is derived with a recount.
//
// SLUICE_TEST_SEED=n runs the one seed n, SLUICE_TEST_STEPS=n takes more steps than usual.
func TestRandomStatements(t *testing.T) {
	pgtest.Parallel(t)
	seeds, steps := pgtest.ShortOrLong([]uint64{1}, []uint64{1, 2, 3, 4}), pgtest.ShortOrLong(100, 220)
	if n, err := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64); err == nil {
		seeds = []uint64{n}
	}
	if n, err := strconv.Atoi(os.Getenv("SLUICE_TEST_STEPS")); err == nil {
		steps = n
	}
	extension := installed.Text(t, randomSpec)
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { newRandomRun(t, installed.DB(t, extension), seed).steps(steps) })
	}
}

// TestRandomFromSQL does so where functions created two of the inboxes, one of them over a table that was there, whose partitions some seeds write.
func TestRandomFromSQL(t *testing.T) {
	pgtest.Parallel(t)
	seeds, steps := pgtest.ShortOrLong([]uint64{2}, []uint64{1, 2, 3}), pgtest.ShortOrLong(60, 220)
	if n, err := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64); err == nil {
		seeds = []uint64{n}
	}
	if n, err := strconv.Atoi(os.Getenv("SLUICE_TEST_STEPS")); err == nil {
		steps = n
	}
	extension := installed.Text(t, "version: 1\nextension: {name: random, version: 1.0.0, imperative: true}\ninboxes: [{name: frail, retry: {backoff: constant, initial: 2h}, max_attempts: 3}]\n")
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			db := installed.DB(t, extension)
			partitions := ""
			if seed%2 == 0 {
				partitions = ` partition by hash (event_id); create table pgtrickle.soon_0 partition of pgtrickle.soon for values with (modulus 2, remainder 0);
					create table pgtrickle.soon_1 partition of pgtrickle.soon for values with (modulus 2, remainder 1)`
			}
			db.Exec(t, `create table pgtrickle.soon (event_id varchar primary key, event_type text not null, aggregate_id varchar(9), payload jsonb not null, received_at timestamptz not null default clock_timestamp(),
				processed_at timestamptz, error text, retry_count integer not null default 0, note text default 'n', trace_id varchar)`+partitions+`;
				select pgtrickle.enable_inbox_tracking('soon', 'pgtrickle.soon'), pgtrickle.create_inbox('later')`)
			newRandomRun(t, db, seed).steps(steps)
		})
	}
}

// In soon a failed message is due again at once, in the others not before the test is over; in frail few claims may come to nothing.
const randomSpec = `
version: 1
extension: {name: random, version: 1.0.0}
inboxes:
  - {name: soon, retry: none, max_attempts: 1000}
  - {name: later, retry: {backoff: constant, initial: 2h}, max_attempts: 1000}
  - {name: frail, retry: {backoff: constant, initial: 2h}, max_attempts: 3}
`

// randomRun is one seed at work.
type randomRun struct {
	t     *testing.T
	rand  *rand.Rand
	db    *pgtest.Database
	apps  []*app
	check *pgx.Conn
	log   []string // the steps so far
	seed  uint64
	attempts
}

// app is a session of the application. A statement that would wait for another session fails instead.
type app struct {
	name       string
	conn       *pgx.Conn
	savepoints int
}

const impatient = "set lock_timeout = '30ms'"

func newRandomRun(t *testing.T, db *pgtest.Database, seed uint64) *randomRun {
	r := &randomRun{t: t, rand: rand.New(rand.NewPCG(seed, seed)), db: db, seed: seed, check: db.Connect(t), attempts: newAttempts(t, db)}
	for n := range 4 { // the last one never opens a transaction: it ticks
		r.apps = append(r.apps, &app{name: fmt.Sprintf("session %d", n), conn: r.connect(t, db.DSN())})
	}
	replica := r.connect(t, db.SuperDSN()) // writes as logical replication does
	r.apps = append(r.apps, &app{name: "replica", conn: replica})
	run(t, replica, "set session_replication_role = replica")
	for _, app := range r.apps {
		run(t, app.conn, impatient)
	}
	return r
}

func (r *randomRun) steps(count int) {
	for range count {
		s := r.apps[r.rand.IntN(len(r.apps))]
		r.run(s, r.statement(s))
		r.compare()
	}
	for _, s := range r.apps {
		r.run(s, "rollback")
	}
	for range 3 {
		r.run(r.apps[3], "call pgtrickle.tick()")
		r.compare()
	}
}

// expected are the errors that random statements run into.
var expected = []string{
	"55P03", // would wait
	"23505", // an id that is taken
	"21000", // one statement meets a row twice
	"P0002", // a message that is not there
	"55000", // a lease that is lost
	"55006", // a failure of a message that another session holds, or that is processed; truncate beside a cursor
}

func (r *randomRun) run(s *app, sql string) {
	r.t.Helper()
	r.log = append(r.log, s.name+": "+sql)
	var err error
	if rows, isCopy := strings.CutPrefix(sql, "copy "); isCopy {
		into, data, _ := strings.Cut(rows, "\n")
		_, err = s.conn.PgConn().CopyFrom(r.t.Context(), strings.NewReader(data), "copy "+into)
	} else {
		_, err = s.conn.PgConn().Exec(r.t.Context(), sql).ReadAll()
	}
	var pg *pgconn.PgError
	if err == nil {
		return
	}
	if !errors.As(err, &pg) || !slices.Contains(expected, pg.Code) {
		r.fail(pgtest.ErrorText(err))
	}
	if pg.Code == "55P03" && strings.HasPrefix(sql, "select pgtrickle.inbox_mark_failed") {
		r.fail("a failure waits for another session")
	}
	r.log = append(r.log, "    -- "+pg.Code)
	if s.conn.PgConn().TxStatus() == 'E' {
		r.run(s, s.recover())
	}
}

// recover ends what an error has aborted.
func (s *app) recover() string {
	if s.savepoints > 0 {
		return fmt.Sprintf("rollback to s%d", s.savepoints)
	}
	return "rollback"
}

func (r *randomRun) fail(what string) {
	r.t.Helper()
	last := r.log[max(0, len(r.log)-400):]
	r.t.Fatalf("seed %d, after %d steps: %s\nthe steps:\n%s", r.seed, len(r.log), what, strings.Join(last, ";\n"))
}

// compare looks for differences, from a session that sees only what is committed.
func (r *randomRun) compare() {
	r.t.Helper()
	for _, inbox := range inboxes {
		due := "(available_at is null or available_at <= now())"
		if inbox == "soon" {
			due = "true"
		}
		sql := strings.NewReplacer("INBOX", inbox, "DUE", due).Replace(differences)
		if found := pgtest.Column[string](r.t, r.check, sql); len(found) > 0 {
			r.fail(inbox + ": " + strings.Join(found, "; "))
		}
		r.compareClaims(inbox, due)
	}
	r.compareDead()
}

// compareClaims claims until nothing is left, in a transaction that is rolled back, and compares with the pending
// messages that nobody has locked. What is behind the claim cursor may take a moment to be looked for again.
func (r *randomRun) compareClaims(inbox, due string) {
	r.t.Helper()
	limit, workers := 1+r.rand.IntN(5), r.rand.IntN(3)
	if r.keepsWritersOut(inbox) {
		return
	}
	var want, got []string
	if !pgtest.Becomes(func() bool {
		want, got = r.claimAll(inbox, due, limit, workers)
		return slices.Equal(r.claimable(inbox, want, got), got)
	}) {
		r.fail(fmt.Sprintf("claims of %s, limit %d, workers %d\nwant %q\ngot  %q", inbox, limit, workers, want, got))
	}
}

func (r *randomRun) claimAll(inbox, due string, limit, workers int) (want, got []string) {
	r.t.Helper()
	defer r.uncounted(r.check)()
	tx, err := r.check.Begin(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	free := fmt.Sprintf("select event_id from pgtrickle.%s where processed_at is null and retry_count < 3 and %s for update skip locked", inbox, due)
	if r.rand.IntN(2) == 0 { // half of the claims are made in a transaction that has written, half in a fresh one
		want = pgtest.Column[string](r.t, tx, free)
		tx.Rollback(r.t.Context())
		if tx, err = r.check.Begin(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
		defer tx.Rollback(context.Background())
	} else {
		tx.Exec(r.t.Context(), "savepoint s")
		want = pgtest.Column[string](r.t, tx, free)
		tx.Exec(r.t.Context(), "rollback to s")
	}
	partition := "null, null"
	for n := 0; n < max(1, workers); n++ {
		if workers > 0 {
			partition = fmt.Sprintf("%d, %d", n, workers)
		}
		claim := fmt.Sprintf("select event_id from pgtrickle.inbox_claim('%s', %d, %s)", inbox, limit, partition)
		for more := pgtest.Column[string](r.t, tx, claim); len(more) > 0; more = pgtest.Column[string](r.t, tx, claim) {
			got = append(got, more...)
			if len(got) > 1000 {
				r.fail(fmt.Sprintf("claims of %s never end: %q", inbox, got[:100]))
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	return want, got
}

// differences is one snapshot's comparison of everything derived with a recount of the table.
const differences = `
with t as (
    select *, processed_at is null and retry_count < 3 as pending, processed_at is null and retry_count >= 3 as dead,
           greatest(extract(epoch from processed_at - received_at), 0) as took
    from pgtrickle.INBOX
), recount as (
    select event_type, sum(pending) as pending, sum(processed) as processed, sum(dead) as dead, sum(took) as took
    from (
        select event_type, count(*) filter (where pending) as pending, count(processed_at) as processed,
               count(*) filter (where dead) as dead, coalesce(sum(took), 0) as took
        from t group by 1
        union all select event_type, 0, processed, 0, processing_us / 1e6 from pgtrickle_internal.pgt_inbox_deltas where inbox_name = 'INBOX' and is_expired
    ) u group by 1
), stats as (
    select event_type, r.pending as pending, s.pending as s_pending, r.processed, s.processed as s_processed, r.dead, s.dead_letter,
           abs(coalesce(r.took / nullif(r.processed, 0), 0) - coalesce(s.avg_processing_time_sec, 0)) as off
    from recount r full join pgtrickle.INBOX_stats s using (event_type)
    where coalesce(r.pending, 0) <> coalesce(s.pending, 0) or coalesce(r.processed, 0) <> coalesce(s.processed, 0)
       or coalesce(r.dead, 0) <> coalesce(s.dead_letter, 0)
       or abs(coalesce(r.took / nullif(r.processed, 0), 0) - coalesce(s.avg_processing_time_sec, 0)) > 1e-5 * (1 + coalesce(r.took, 0))
)
select 'not in _pending: ' || event_id from (select event_id from t where pending and DUE except all select event_id from pgtrickle.INBOX_pending) x
union all
select 'wrongly in _pending: ' || event_id from (select event_id from pgtrickle.INBOX_pending except all select event_id from t where pending and DUE) x
union all
select 'not in _dlq: ' || event_id from (select event_id from t where dead except all select event_id from pgtrickle.INBOX_dlq) x
union all
select 'wrongly in _dlq: ' || event_id from (select event_id from pgtrickle.INBOX_dlq except all select event_id from t where dead) x
union all
select 'stats: ' || to_jsonb(stats)::text from stats
union all
select 'inbox_pending: ' || got || ' rather than ' || want
from (select coalesce((select string_agg(event_id, ' ') from pgtrickle.inbox_pending('INBOX', 100000)), '') as got,
             coalesce((select string_agg(event_id, ' ' order by received_at, event_id collate "C") from t where pending and DUE), '') as want) p
where got <> want
union all
select 'health: ' || h::text
from pgtrickle.inbox_health('INBOX') h
where (h ->> 'pending_count')::bigint <> (select count(*) from t where pending) or (h ->> 'dlq_count')::bigint <> (select count(*) from t where dead)
union all
select 'status: ' || to_jsonb(s)::text
from pgtrickle.inbox_status() s
where inbox_name = 'INBOX'
  and (pending_count <> (select count(*) from t where pending) or dlq_count <> (select count(*) from t where dead)
       or processed_count <> (select coalesce(sum(processed), 0) from recount))
union all
select 'alone: ' || what from (
    select 'retry queue lacks ' || event_id as what from t
    where pending and received_at < coalesce((select low_watermark from pgtrickle_internal.pgt_inbox_progress where inbox_name = 'INBOX' order by no desc limit 1), '-infinity')
      and not exists (select from pgtrickle_internal.pgt_inbox_retry_queue q where q.inbox_name = 'INBOX' and q.event_id = t.event_id)
) a`
