package groups

import (
	"fmt"
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestThroughPgbouncer has publishers and consumers share sessions through a pooler in transaction mode.
func TestThroughPgbouncer(t *testing.T) {
	db := pgtest.DB(t)
	dsn := pgtest.Pgbouncer(t, db)
	extension := installed.Text(t, spec)
	first, second := pgtest.Connect(t, dsn), pgtest.Connect(t, dsn)
	exec := func(sql string) {
		t.Helper()
		if _, err := first.Exec(t.Context(), sql); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	ids := func(q pgtest.Querier, outbox, consumer string) string {
		t.Helper()
		return fmt.Sprint(pgtest.Column[int64](t, q, fmt.Sprintf("select id from pgtrickle.poll_outbox('%s', '%s', 2)", outbox, consumer)))
	}
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s instead of %s", what, got, want)
		}
	}
	exec(extension.Install(generator.Plain))
	for _, outbox := range []string{"feed", "keyed"} {
		exec(fmt.Sprintf("select pgtrickle.create_consumer_group('%s', '%[1]s', 'earliest')", outbox))
		exec(fmt.Sprintf("select pgtrickle.outbox_publish('%s', 't', '{}', 'k') from generate_series(1, 4)", outbox))
	}
	exec("begin; select pgtrickle.outbox_publish('feed', 'open', '{}')")
	pgtest.One[int64](t, second, "select pgtrickle.outbox_publish('feed', 'above', '{}')")
	expect("first poll", ids(second, "feed", "a"), "[1 2]")
	expect("second poll", ids(second, "feed", "b"), "[3 4]")
	expect("third poll", ids(second, "feed", "c"), "[6]")
	exec("commit")
	exec("begin")
	expect("commit", fmt.Sprint(pgtest.One[int64](t, first, "select pgtrickle.commit_offset('feed', 'a', 2)")), "2")
	expect("commit of another", fmt.Sprint(pgtest.One[int64](t, second, "select pgtrickle.commit_offset('feed', 'b', 4)")), "4")
	exec("commit")
	exec("update pgtrickle_internal.pgt_lease_log set until = '-infinity' where state = 'gap'")
	expect("what came late", ids(second, "feed", "a"), "[5]")
	for n := 0; ids(first, "keyed", "a") != "[1 2]"; n++ { // once nothing older runs
		if n == 1000 {
			t.Fatal("nothing comes")
		}
		exec("update pgtrickle_internal.pgt_lease_log set until = '-infinity' where state = 'gap'")
	}
	expect("a lane at work", ids(second, "keyed", "b"), "[]")
	exec("call pgtrickle.run('200 ms', '50 ms')")
	expect("failed tasks", fmt.Sprint(pgtest.One[int64](t, second, "select count(*) from pgtrickle_internal.pgt_tasks where last_error is not null")), "0")
	exec(extension.Uninstall())
}
