package live

import (
	"slices"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestPartBehindSlowWorkers: a worker for a part of the aggregates reads past what others have left once in a while only. What it gives back by a rollback it
// gets at once, and what it leaves otherwise a little later, or in another session.
func TestPartBehindSlowWorkers(t *testing.T) {
	db := installed.DB(t, installed.Text(t, "version: 1\nextension: {name: parts, version: 1.0.0}\ninboxes: [{name: jobs}]\n"))
	db.Exec(t, `insert into pgtrickle.jobs (event_id, event_type, payload, aggregate_id, received_at)
select 'slow' || i, 't', '{}', a.id, now() - interval '1 hour' from generate_series(1, 30000) i,
    (select 'a' || n as id from generate_series(1, 50) n where pgtrickle.inbox_is_my_partition('a' || n, 1, 2) order by n limit 1) a;
insert into pgtrickle.jobs (event_id, event_type, payload, received_at) select 'm' || lpad(i::text, 3, '0'), 't', '{}', now() - (60 - i) * interval '1 s' from generate_series(1, 50) i`)
	worker := db.Connect(t)
	claim := func(limit int) []string {
		return pgtest.Column[string](t, worker, "select event_id from pgtrickle.inbox_claim('jobs', $1, 0, 2)", limit)
	}
	const reads = "select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int from pg_stat_xact_user_tables where relid = 'pgtrickle.jobs'::regclass"
	expect := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", what, got, want)
		}
	}
	reading := func(most int, want ...string) {
		t.Helper()
		run(t, worker, "begin")
		before := pgtest.One[int](t, worker, reads)
		expect("claimed", claim(2), want...)
		if read := pgtest.One[int](t, worker, reads) - before; read > most {
			t.Errorf("%v: %d rows were read", want, read)
		}
	}
	marked := func(most int, want ...string) {
		t.Helper()
		reading(most, want...)
		run(t, worker, "select pgtrickle.inbox_mark_processed('jobs', array['"+want[0]+"', '"+want[1]+"'])")
		run(t, worker, "commit")
	}
	marked(60_000, "m001", "m002") // it has to look where the others are
	marked(100, "m003", "m004")
	run(t, worker, "begin")
	expect("in a transaction", claim(2), "m005", "m006")
	run(t, worker, "rollback")
	marked(100, "m005", "m006")
	expect("left", claim(2), "m007", "m008")
	marked(100, "m008", "m009") // it starts where it ended
	other := pgtest.Column[string](t, db.Connect(t), "select event_id from pgtrickle.inbox_claim('jobs', 2, 0, 2)")
	expect("what another session finds", other, "m007", "m010")
	run(t, worker, "select pg_sleep(greatest(extract(epoch from (current_setting('pg_trickle.claimed')::jsonb ->> 'look_at')::timestamptz - clock_timestamp()), 0) + 0.01)")
	marked(60_000, "m007", "m010")
	expect("the rest", claim(100), pgtest.Column[string](t, worker, "select 'm' || lpad(i::text, 3, '0') from generate_series(11, 50) i")...)
	run(t, worker, "select pgtrickle.inbox_mark_processed('jobs', array(select 'm' || lpad(i::text, 3, '0') from generate_series(11, 50) i))")
	expect("nothing", claim(1))
	reading(100)
	run(t, worker, "commit")
	db.Exec(t, "insert into pgtrickle.jobs (event_id, event_type, payload) values ('new', 't', '{}')")
	expect("what has come", claim(1), "new")
	// Where looking is cheap, it is done each time.
	db.Exec(t, "delete from pgtrickle.jobs where event_id like 'slow%'")
	db.Exec(t, "vacuum pgtrickle.jobs")
	time.Sleep(10 * time.Millisecond)
	run(t, worker, "reset pg_trickle.claimed")
	for range 3 {
		expect("again and again", claim(1), "new")
	}
}
