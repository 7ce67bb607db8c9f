package live

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestManyRowsAfterFew has sessions whose plans were made for single messages touch many at once. A plan that is quadratic in the rows of a statement takes half
// a minute of processor time; what is right takes under a second, but for dead letters that are inserted as such, for each of which a trigger runs: three.
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
	for _, step := range steps {
		began := processorTime(t, conn)
		run(t, conn, step.many)
		if took := processorTime(t, conn) - began; took > 15*time.Second {
			t.Errorf("%v of processor time: %s", took, step.many)
		}
	}
}

// processorTime is what the server has used for a session: unlike the time that passes, it does not depend on what else the machine does.
func processorTime(t *testing.T, conn *pgx.Conn) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", conn.PgConn().PID()))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ") // the name may have blanks
	fields := strings.Fields(after)
	var ticks int64
	for _, field := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// TestClaimReadsWhatItTakes: tables without statistics, or of which VACUUM says that they have pages but no rows, tempt the planner to read all of the inbox
// for each claim if all its messages are in the retry queue.
func TestClaimReadsWhatItTakes(t *testing.T) {
	db := installed.ShopDB(t)
	fill := []string{
		"insert into pgtrickle.payments (event_id, event_type, payload) select 'm' || i, 't', '{}' from generate_series(1, 6000) i",
		"insert into pgtrickle_internal.pgt_inbox_retry_queue (inbox_name, event_id, received_at, due_at) select 'payments', event_id, received_at, received_at from pgtrickle.payments on conflict do nothing",
	}
	for _, before := range [][]string{{}, {
		"delete from pgtrickle.payments", "delete from pgtrickle_internal.pgt_inbox_retry_queue",
		"vacuum (truncate false) pgtrickle.payments, pgtrickle_internal.pgt_inbox_retry_queue",
	}} {
		for _, sql := range append(before, fill...) {
			db.Exec(t, sql)
		}
		conn := db.Connect(t) // another session, for what it reads
		run(t, conn, "begin")
		if got := pgtest.One[int](t, conn, "select count(*) from pgtrickle.inbox_claim('payments', 100)"); got != 100 {
			t.Errorf("%d messages", got)
		}
		if read := pgtest.One[int](t, conn, "select sum(idx_tup_fetch)::int from pg_stat_xact_user_tables where relname in ('payments', 'pgt_inbox_retry_queue')"); read > 1000 {
			t.Errorf("%d rows read for 100 messages", read)
		}
		run(t, conn, "rollback")
	}
}

// TestOrderedClaimReadsWhatItTakes: a backlog of pages without rows, as VACUUM leaves it where others use it, tempts the planner to read all of it for each
// message that comes afterwards.
func TestOrderedClaimReadsWhatItTakes(t *testing.T) {
	db := installed.DB(t, installed.Text(t, `
version: 1
extension: {name: ordered, version: 1.0.0}
inboxes:
  - {name: orders, ordering: {sequence: number}}
  - {name: visits, ordering: {}}
`))
	for inbox, backlog := range map[string]string{"orders": "orders_backlog", "visits": "visits_backlog_by_time"} {
		fill := "insert into pgtrickle." + inbox + " (event_id, event_type, payload, aggregate_id%s) select 'm' || i, 't', '{}', 'a' || i %% 500%s from generate_series(0, 4999) i"
		if inbox == "orders" {
			fill = fmt.Sprintf(fill, ", number", ", 1 + i / 500")
		} else {
			fill = fmt.Sprintf(fill, "", "")
		}
		for _, sql := range []string{fill, "delete from pgtrickle." + inbox, "vacuum (truncate false) pgtrickle_internal." + backlog, fill} {
			db.Exec(t, sql)
		}
		conn := db.Connect(t) // another session, for what it reads
		run(t, conn, "begin")
		if got := pgtest.One[int](t, conn, "select count(*) from pgtrickle.inbox_claim($1, 100)", inbox); got != 100 {
			t.Errorf("%s: %d messages", inbox, got)
		}
		if read := pgtest.One[int](t, conn, "select sum(idx_tup_fetch)::int from pg_stat_xact_user_tables where relid in (('pgtrickle.' || $1)::regclass, ('pgtrickle_internal.' || $2)::regclass)", inbox, backlog); read > 1000 {
			t.Errorf("%s: %d rows read for 100 messages", inbox, read)
		}
		run(t, conn, "rollback")
	}
}

// TestStatusReadsTheSameAfterALoad: what ticks have counted of a bulk load of processed messages, the first of an inbox or another, is not read again until VACUUM.
func TestStatusReadsTheSameAfterALoad(t *testing.T) {
	conn := installed.ShopDB(t).Connect(t)
	const status = "select pgtrickle.inbox_status('payments'), * from pgtrickle.inbox_status()"
	for _, load := range []string{"first", "second"} {
		run(t, conn, fmt.Sprintf("insert into pgtrickle.payments (event_id, event_type, payload, processed_at) select '%s ' || i, 't', '{}', now() from generate_series(1, 5000) i", load))
		run(t, conn, "select pg_sleep(1.1)") // counts are of whole seconds
		for range 3 {
			run(t, conn, "call pgtrickle.tick()")
		}
		before := blocksOf(t, conn, status)
		run(t, conn, "vacuum")
		if after := blocksOf(t, conn, status); before > after+200 {
			t.Errorf("%s load: %d blocks before VACUUM, %d after it", load, before, after)
		}
	}
}
