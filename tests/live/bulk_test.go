package live

import (
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/installed"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// TestManyRowsAfterFew has sessions whose plans were made for single messages touch many at once. A plan that is quadratic
// in the rows of a statement takes half a minute here; what is right takes under a second, but for dead letters that are inserted as such, for each of which
// a trigger runs: three seconds, and several times that on a machine that does other things, too.
func TestManyRowsAfterFew(t *testing.T) {
	conn := installed.ShopDB(t).Connect(t)
	steps := []struct{ few, many string }{
		{"insert into pgtrickle.payments (event_id, event_type, payload, received_at) values ('a', 't', '{}', now() - interval '1 day')",
			"insert into pgtrickle.payments (event_id, event_type, payload, retry_count) select 'd' || i, 't', '{}', 3 from generate_series(1, 20000) i"},
		{"select pgtrickle.inbox_mark_failed('payments', 'a', 'x') from generate_series(1, 9)", ""},
		{"select pgtrickle.replay_inbox_messages('payments', array['a'])", "select pgtrickle.replay_inbox_messages('payments', p_event_type => 't')"},
		{"update pgtrickle.payments set retry_count = 3 where event_id = 'a'", "update pgtrickle.payments set retry_count = 3"},
		{"update pgtrickle.payments set retry_count = 0 where event_id = 'a'", "update pgtrickle.payments set retry_count = 0"},
		{"select pgtrickle.inbox_mark_processed('payments', event_id) from pgtrickle.inbox_claim('payments', 1)",
			"select count(pgtrickle.inbox_mark_processed('payments', event_id)) from pgtrickle.inbox_claim('payments', 2000)"},
		{"update pgtrickle.payments set processed_at = now() where event_id = 'a'", "update pgtrickle.payments set processed_at = now()"},
		{"delete from pgtrickle.payments where event_id = 'a'", "delete from pgtrickle.payments"},
	}
	for range 3 { // so that plans are made and kept
		for _, step := range steps {
			run(t, conn, step.few)
		}
	}
	run(t, conn, "set statement_timeout = '20s'")
	for _, step := range steps {
		began := time.Now()
		run(t, conn, step.many)
		t.Logf("%v: %.80s", time.Since(began).Round(time.Millisecond), step.many)
	}
}

// TestClaimReadsWhatItTakes: tables without statistics, all of whose messages are in the retry queue, tempt the planner to read all of the inbox for each claim.
func TestClaimReadsWhatItTakes(t *testing.T) {
	conn := installed.ShopDB(t).Connect(t)
	run(t, conn, "insert into pgtrickle.payments (event_id, event_type, payload) select 'm' || i, 't', '{}' from generate_series(1, 6000) i")
	run(t, conn, "insert into pgtrickle_internal.pgt_inbox_retry_queue (inbox_name, event_id, received_at, due_at) select 'payments', event_id, received_at, received_at from pgtrickle.payments on conflict do nothing")
	run(t, conn, "begin")
	if got := pgtest.One[int](t, conn, "select count(*) from pgtrickle.inbox_claim('payments', 100)"); got != 100 {
		t.Errorf("%d messages", got)
	}
	if read := pgtest.One[int](t, conn, "select idx_tup_fetch from pg_stat_xact_user_tables where relid = 'pgtrickle.payments'::regclass"); read > 500 {
		t.Errorf("%d messages read for 100", read)
	}
	run(t, conn, "rollback")
}
