package upgrade

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestRenamedEqualsFresh goes between versions of a history in which much is renamed, forth and back: every third pair of neighbours and one other, or all.
func TestRenamedEqualsFresh(t *testing.T) {
	versions := generated(t, "renames/*.yaml", 5)
	released := manifests(versions)
	var pairs [][2]int
	for _, pair := range later(len(versions)) {
		pairs = append(pairs, pair, [2]int{pair[1], pair[0]})
	}
	for _, pair := range somePairs(t, pairs, 3, 1) {
		from, to := versions[pair[0]], versions[pair[1]]
		t.Run(fmt.Sprintf("%s to %s", from.Version, to.Version), func(t *testing.T) {
			t.Parallel() // all on one server, where each version is installed once
			db := at(t, from)
			apply(t, db, to, commandtest.ApplyOptions{Released: released, Loss: true})
			same(t, fresh(t, to), snapshot(t, db))
		})
	}
}

// called is what things are called in a version; empty if it has none.
type called struct {
	payments, letters    string // inboxes
	totals, named, paid  string // stream tables
	totalsOutbox, events string // tables of outboxes
	shipping, warehouse  string // consumer groups
}

var names = []called{
	{"payments", "letters", "public.order_totals", "pgtrickle.named_totals", "pgtrickle.paid", "outbox_order_totals", "outbox_shop_events", "shipping", "warehouse"},
	{"bills", `It's "mail"`, "public.totals", "pgtrickle.Named Totals", "pgtrickle.settled", "outbox_totals", "outbox_events", "dispatch", "store"},
	{`It's "mail"`, "bills", "reporting.totals", "pgtrickle.Named Totals", "pgtrickle.settled_totals", "outbox_totals", "outbox_Account", "store", "books"},
	{
		"payments_payments_payments_payments_payments_payments_payments_", "letters_letters_letters_letters_letters_letters_letters_letters",
		"reporting.totals_totals_totals_totals_totals_totals_totals_totals_totals_", "pgtrickle.named_totals", "pgtrickle.paid",
		spec.DerivedName("outbox_totals_totals_totals_totals_totals_totals_totals_totals_totals_"), spec.DerivedName("outbox_shop_events_shop_events_shop_events_shop_events_shop_event"), "store", "books",
	},
	{"letters_letters_letters_letters_letters_letters_letters_letters", "", "reporting.order_totals", "", "pgtrickle.paid", "outbox_order_totals", "outbox_events", "store", ""},
}

// state is what is kept across a rename, without names.
func state(t *testing.T, db *pgx.Conn, n called) []string {
	t.Helper()
	var lines []string
	add := func(what, name, query string) {
		if name != "" {
			for _, line := range pgtest.Column[string](t, db, query, name) {
				lines = append(lines, what+": "+line)
			}
		}
	}
	for what, name := range map[string]string{"payments": n.payments, "letters": n.letters} {
		add(what, name, "select (pgtrickle.inbox_health($1) - '{inbox,oldest_pending_age_seconds,oldest_pending_age_sec,throughput_per_minute,throughput_per_sec,status,health_status,degraded_dlq,max_retries,dlq_count,dead_letter_count}'::text[])::text")
		add(what, name, "select format('progress %s, paused %s, since %s', (select max(no) from pgtrickle_internal.pgt_inbox_progress p where p.inbox_name = c.inbox_name), (select paused_at from pgtrickle_internal.pgt_inbox_claims p where p.inbox_name = c.inbox_name and p.no = 0), c.created_at) from pgtrickle.pgt_inbox_config c where inbox_name = $1")
		add(what, name, "select format('task %s %s', runs, last_run_at) from pgtrickle_internal.pgt_tasks where task like '%inbox ' || $1 order by 1")
	}
	for what, name := range map[string]string{"totals": n.totals, "named": n.named, "paid": n.paid} {
		add(what, name, "select format('state %s %s %s', seen, own_no, last_refresh_at) from pgtrickle_internal.pgt_stream_table_state where stream_table = $1")
		add(what, name, "select format('history %s', count(*)) from pgtrickle.pgt_refresh_history where stream_table = $1")
	}
	for what, name := range map[string]string{"totals' outbox": n.totalsOutbox, "events": n.events} {
		add(what, name, "select format('id %s, lines %s', max(e.id), count(*)) from (select (xpath('//id/text()', table_to_xml(format('pgtrickle.%I', $1::text)::regclass, true, false, '')))::text[]) x (ids), unnest(x.ids) e (id)")
	}
	for what, name := range map[string]string{"shipping": n.shipping, "warehouse": n.warehouse} {
		add(what, name, "select format('group %s %s, lag %s, last %s of %s', g.group_id, g.group_no, l.lag_rows, l.last_offset, l.consumer_id) from pgtrickle.pgt_consumer_groups g, pgtrickle.consumer_lag($1) l where g.group_name = $1")
		add(what, name, "select format('lease %s %s', l.ids, l.until) from pgtrickle_internal.pgt_lease_log l join pgtrickle.pgt_consumer_groups g using (group_no) where g.group_name = $1 order by l.no")
	}
	slices.Sort(lines)
	return lines
}

// TestRenamesKeepData goes through that history with data in everything: what stands in it, and how far everything has come, stays.
func TestRenamesKeepData(t *testing.T) {
	pgtest.Parallel(t)
	versions := generated(t, "renames/*.yaml", 5)
	released := manifests(versions)
	db := at(t, versions[0])
	conn := db.Connect(t)
	useEverything(t, conn, names[0], 0)
	round := 0
	short := [][2]int{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {3, 4}}
	for _, step := range pgtest.ShortOrLong(short, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 2}, {2, 0}, {0, 3}, {3, 1}, {1, 3}, {3, 4}}) {
		before, after, e := names[step[0]], names[step[1]], versions[step[1]]
		if step[1] == len(versions)-1 { // more has changed there
			before = called{payments: before.payments, events: before.events, shipping: before.shipping}
			after = called{payments: after.payments, events: after.events, shipping: after.shipping}
		}
		kept := state(t, conn, before)
		apply(t, db, e, commandtest.ApplyOptions{Released: released, Loss: true})
		same(t, kept, state(t, conn, after))
		equalQueries(t, conn, e.Version)
		round++
		useEverything(t, conn, names[step[1]], round)
		equalQueries(t, conn, e.Version)
	}
}

// useEverything writes and reads all that has one of the names.
func useEverything(t *testing.T, db *pgx.Conn, n called, round int) {
	t.Helper()
	for _, inbox := range []string{n.payments, n.letters} {
		if inbox == "" {
			continue
		}
		for k := range 4 {
			exec(t, db, "select pgtrickle.inbox_receive($1, $2, 't', '{}')", inbox, fmt.Sprintf("%d-%d", round, k))
		}
		exec(t, db, "select pgtrickle.inbox_mark_processed($1, $2), pgtrickle.inbox_mark_failed($1, $3, 'no')", inbox, fmt.Sprintf("%d-0", round), fmt.Sprintf("%d-1", round))
		exec(t, db, "select pgtrickle.pause_inbox($1)", inbox)
	}
	exec(t, db, "insert into public.orders values ($1, 1, 5, 'paid')", 2000+round)
	exec(t, db, "call pgtrickle.tick()")
	refreshAll(t, db)
	exec(t, db, fmt.Sprintf("insert into pgtrickle.%q (event_type, payload) select 't', '{}' from generate_series(1, 3)", n.events))
	for _, group := range []string{n.shipping, n.warehouse} {
		if group == "" {
			continue
		}
		first := pgtest.One[int64](t, db, "select coalesce(min(id), 0) from pgtrickle.poll_outbox($1, 'worker', 2, 1000)", group)
		exec(t, db, "select pgtrickle.commit_offset($1, 'worker', $2)", group, first)
		exec(t, db, "select pgtrickle.extend_lease($1, 'worker', 2000)", group)
	}
	exec(t, db, "call pgtrickle.tick()")
}
