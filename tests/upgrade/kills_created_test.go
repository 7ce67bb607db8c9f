package upgrade

import (
	"os"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestKilledCreated is TestKilled for upgrades beside stream tables and inboxes that functions created: with tables of their own, and over tables that were there. A later version
// takes one of each over.
func TestKilledCreated(t *testing.T) {
	pgtest.Parallel(t)
	k := startKilling(t, "created", generated(t, "created/*.yaml", 3))
	k.often(t, 1, k.killCreated, func() (from, to int) {
		from = k.rand.IntN(2)
		return from, from + 1 + k.rand.IntN(2-from)
	})
}

// createdStates are the same at each version.
var createdStates = []string{
	"select concat_ws(' ', inbox_name, inbox_table, is_managed, max_retries, pending_count, dlq_count, processed_count) from pgtrickle.inbox_status()",
	"select concat_ws(' ', i.name, p.event_id, p.event_type) from unnest(array['letters', 'parcels', 'stays']) i (name), pgtrickle.inbox_pending(i.name, 100) p",
	"select concat_ws(' ', tgrelid::regclass, tgname, tgenabled) from pg_trigger where tgrelid in ('parcels'::regclass, 'stays'::regclass, 'pgtrickle.letters'::regclass)",
	"select pg_get_indexdef(indexrelid) from pg_index where indrelid in ('parcels'::regclass, 'stays'::regclass, 'pgtrickle.letters'::regclass)",
	"select concat_ws(' ', b.aggregate_key, b.sequence, b.event_id) from pgtrickle_internal.stays_backlog_by_time b", "select n::text from pgtrickle.next_stays n",
	"select d::text from pgtrickle.parcels_dlq d", "select s.event_type || s.processed from pgtrickle.stays_stats s", "select p::text from parcels p", "select s::text from sums s", "select o::text from pgtrickle.over o",
	"select l::text from pgtrickle.letters l",
}

// killCreated kills one upgrade.
func (k *killing) killCreated(t *testing.T, from, to int, how string) {
	name, conn := k.create(t)
	ddl, err := os.ReadFile("created/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	exec(t, conn, string(ddl))
	if _, err := commandtest.Apply(t.Context(), conn, k.versions[from], commandtest.ApplyOptions{}); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	for _, sql := range []string{
		"insert into parcels (no, event_type, payload) select n, 't' || n % 3, '{}' from generate_series(1, 30) n",
		"select pgtrickle.create_inbox('letters'), pgtrickle.enable_inbox_tracking('parcels', 'parcels', 'no'), pgtrickle.enable_inbox_tracking('stays', 'stays', 'no')",
		"select pgtrickle.enable_inbox_ordering('stays', 'no')",
		"select pgtrickle.inbox_receive(i, n, 't', '{}') from unnest(array['letters', 'stays']) i, generate_series(1, 20) n",
		"select pgtrickle.inbox_mark_processed(i, array[1, 2, 3]::text[]) from unnest(array['letters', 'parcels', 'stays']) i",
		"update parcels set retry_count = 9 where no = 4", "call pgtrickle.tick()",
		"insert into lists select n, 'k' || n % 3 from generate_series(1, 10) n",
		"select pgtrickle.create_stream_table('public.sums', 'SELECT kind, count(*) AS n FROM lists GROUP BY kind'), pgtrickle.create_stream_table('over', 'select sum(n) as n from sums')",
	} {
		exec(t, conn, sql)
	}
	states := func() (all []string) {
		for _, sql := range createdStates {
			all = append(all, strings.Join(pgtest.Column[string](t, conn, "select x from ("+sql+") q (x) order by x collate \"C\""), "\n"))
		}
		return all
	}
	before := states()
	sameStates := func(when string) {
		for n, now := range states() {
			if now != before[n] {
				t.Errorf("%s: %s\nbefore:\n%s\nnow:\n%s", when, createdStates[n], before[n], now)
			}
		}
	}
	conn, version := k.interrupt(t, name, to, how)
	sameStates("after the kill, at " + version)
	if out, err := k.apply(name, to).CombinedOutput(); err != nil {
		t.Fatalf("apply again: %v\n%s", err, out)
	}
	sameStates("at " + k.versions[to].Version)
	// Not after the kill: one that the spec has taken over by then may not have been filled, and shows its rows of before.
	if found := pgtest.Column[string](t, conn, "select d::text from (values ('public.sums'), ('over')) t (name), pgtrickle.check_stream_table(t.name) d"); strings.Join(found, " ") != "(0,0) (0,0)" {
		t.Errorf("stream tables differ from their queries: %v", found)
	}
	exec(t, conn, "insert into parcels (no, event_type, payload) values (99, 't', '{}'); insert into stays (no, event_type, payload) values (99, 't', '{}')")
	exec(t, conn, "call pgtrickle.tick()")
	exec(t, conn, "select pgtrickle.inbox_mark_processed(i, event_id) from unnest(array['letters', 'parcels', 'stays']) i, pgtrickle.inbox_claim(i, 100)")
	for _, row := range pgtest.Column[string](t, conn, "select concat_ws(' ', inbox_name, pending_count, dlq_count, processed_count) from pgtrickle.inbox_status() where inbox_name <> 'payments' order by 1") {
		if want := map[string]string{"l": "letters 0 0 20", "p": "parcels 0 1 30", "s": "stays 0 0 21"}[row[:1]]; row != want {
			t.Errorf("%s, want %s", row, want)
		}
	}
}
