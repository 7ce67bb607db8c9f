package upgrade

import (
	"fmt"
	"testing"

	"github.com/pgsluice/sluice/cmd/live"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// TestDataSurvives goes through the whole history with data in everything, and traffic before each step: messages and their counts are kept,
// events that a group has not consumed are there, and each stream table equals its query right after the upgrade.
func TestDataSurvives(t *testing.T) {
	versions := history(t)
	released := manifests(versions)
	db := pgtest.DB(t)
	sources(t, db)
	apply(t, db, versions[0], live.Options{})
	received, published := 0, 0
	for n, e := range versions {
		if n > 0 {
			apply(t, db, e, live.Options{Released: released, Loss: true})
			equalQueries(t, db, e.Version)
		}
		for range 10 {
			received++
			db.Exec(t, "insert into pgtrickle.payments (event_id, event_type, payload) values ($1, 't', '{}')", fmt.Sprint(received))
		}
		db.Exec(t, "update pgtrickle.payments set processed_at = now() where event_id = $1", fmt.Sprint(received))
		db.Exec(t, "insert into public.orders values ($1, 1, 5, 'paid')", 1000+n)
		db.Exec(t, "call pgtrickle.tick()")
		refreshAll(t, db) // whatever their schedules
		if got := pgtest.One[int64](t, db, "select processed from pgtrickle.payments_stats"); got != int64(n+1) {
			t.Errorf("%s: %d messages count as processed, want %d", e.Version, got, n+1)
		}
		if got := pgtest.One[int64](t, db, "select pending from pgtrickle.payments_stats"); got != int64(received-n-1) {
			t.Errorf("%s: %d messages are pending, want %d", e.Version, got, received-n-1)
		}
		if pgtest.One[bool](t, db, "select to_regclass('pgtrickle.outbox_shop_events') is null") {
			published = 0 // its outbox is gone
			continue
		}
		db.Exec(t, "insert into pgtrickle.outbox_shop_events (event_type, payload) values ('t', '{}')")
		published++
		if got := pgtest.One[int64](t, db, "select count(*) from pgtrickle.outbox_shop_events"); got != int64(published) {
			t.Errorf("%s: %d events, want %d", e.Version, got, published)
		}
		if pgtest.One[bool](t, db, "select exists (select from pgtrickle.pgt_consumer_groups where group_name = 'shipping')") {
			if got := pgtest.One[int64](t, db, "select lag_rows from pgtrickle.consumer_lag('shipping')"); got != int64(published) {
				t.Errorf("%s: the group is %d behind, want %d", e.Version, got, published)
			}
		}
	}
}

func refreshAll(t *testing.T, db *pgtest.Database) {
	t.Helper()
	if pgtest.One[bool](t, db, "select to_regclass('pgtrickle.pgt_stream_tables') is null") {
		return
	}
	for _, name := range pgtest.Column[string](t, db, "select stream_table from pgtrickle.pgt_stream_table_config order by refresh_order") {
		db.Exec(t, "select pgtrickle.refresh_stream_table($1)", name)
	}
}

// equalQueries compares all stream tables with their queries.
func equalQueries(t *testing.T, db *pgtest.Database, version string) {
	t.Helper()
	if pgtest.One[bool](t, db, "select to_regclass('pgtrickle.pgt_stream_tables') is null") {
		return
	}
	for _, row := range pgtest.Rows(t, db, "select format('%I.%I', pgt_schema, pgt_name), query from pgtrickle.pgt_stream_tables") {
		conn := db.Connect(t)
		if _, err := conn.Exec(t.Context(), "set search_path = public, pgtrickle"); err != nil {
			t.Fatal(err)
		}
		differ := pgtest.One[int64](t, conn, fmt.Sprintf("select count(*) from ((table %[1]s except all (%[2]s)) union all ((%[2]s) except all table %[1]s)) d", row[0], row[1]))
		if differ != 0 {
			t.Errorf("%s: %d rows of %s differ from its query", version, differ, row[0])
		}
	}
}
