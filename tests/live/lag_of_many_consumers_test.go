package live

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestManyConsumers asks for the lag of hundreds of consumers, with statistics from when there was one: neither the group nor the log of leases may be
// looked at once for each of them. Upgrades under traffic waited a minute for such a query.
func TestManyConsumers(t *testing.T) {
	db := installed.DB(t, installed.Text(t, `
version: 1
extension: {name: events, version: 1.0.0}
outboxes:
  - {name: feed, ordering_key: aggregate_id}
consumer_groups:
  - {name: readers, outbox: feed}
  - {name: others, outbox: feed}
`))
	const consumers = 300
	db.Exec(t, "insert into pgtrickle.outbox_feed (event_type, payload) values ('a', '{}')")
	db.Exec(t, "select pgtrickle.poll_outbox('readers', 'consumer 1')")
	db.Exec(t, "select pgtrickle.commit_offset('readers', 'consumer 1', 1)")
	db.Exec(t, "vacuum analyze pgtrickle_internal.pgt_consumers, pgtrickle_internal.pgt_lease_log, pgtrickle.pgt_consumer_groups")
	db.Exec(t, "alter table pgtrickle_internal.pgt_consumers set (autovacuum_enabled = off); alter table pgtrickle_internal.pgt_lease_log set (autovacuum_enabled = off)")
	db.Exec(t, `insert into pgtrickle_internal.pgt_consumers (group_no, consumer_id)
		select g.group_no, 'consumer ' || i from pgtrickle.pgt_consumer_groups g, generate_series(2, $1) i`, consumers)
	db.Exec(t, `insert into pgtrickle_internal.pgt_lease_log (group_no, lane, no, cur, floor_no, state, ids, consumer_id, committed_at, committed_id)
		select g.group_no, 1, 1000 + i, 0, 1001 + i, 'done', '{}', 'consumer ' || 1 + i % $1, now(), i
		from pgtrickle.pgt_consumer_groups g, generate_series(1, 5 * $1) i`, consumers)
	super := pgtest.Connect(t, db.SuperDSN("track_functions=pl"))
	tx, err := super.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	const calls, groups = 10, 2 // after five calls PostgreSQL may choose a plan for all arguments
	for range calls {
		if got := pgtest.One[int](t, tx, "select count(*) from pgtrickle.consumer_lag() where group_name = 'readers'"); got != consumers {
			t.Errorf("%d consumers have a lag, want %d", got, consumers)
		}
	}
	if got := pgtest.One[int](t, tx, "select calls from pg_stat_xact_user_functions where funcname = 'pgt_group_state'"); got != calls*groups {
		t.Errorf("%d calls of consumer_lag look at %d groups %d times", calls, groups, got)
	}
	for _, line := range pgtest.Column[string](t, tx, "explain (analyze, costs off, timing off) select * from pgtrickle.pgt_consumer_offsets") {
		found := regexp.MustCompile(`loops=(\d+)`).FindStringSubmatch(line)
		if found == nil {
			continue
		}
		if loops, _ := strconv.Atoi(found[1]); loops >= consumers {
			t.Errorf("pgt_consumer_offsets does this %d times: %s", loops, line)
		}
	}
}
