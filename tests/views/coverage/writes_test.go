package coverage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestWrites has all examples follow the same five tables in mode differential: a statement writes a log row for each row that comes or goes into one log, that
// of its table, and nothing else, however many stream tables there are.
func TestWrites(t *testing.T) {
	f, db := constructs(t), pgtest.DB(t)
	db.Exec(t, f.schema+fill(40))
	views := f.install(t, db, spec.RefreshDifferential, every)
	conn := db.Connect(t)
	written := func() map[string]string {
		all := map[string]string{}
		for _, row := range pgtest.Rows(t, conn, "select relname, n_tup_ins + n_tup_upd + n_tup_del from pg_stat_xact_user_tables where schemaname = 'differential__internal'") {
			all[row[0]] = row[1]
		}
		return all
	}
	for source, column := range map[string]string{"customers": "region", "orders": "amount", "lines": "quantity", "parts": "price", "events": "n"} {
		// One for each event, and one for what a logical replica writes.
		if triggers := pgtest.Column[string](t, conn, "select tgname::text from pg_trigger where not tgisinternal and tgrelid = $1::text::regclass order by 1", source); len(triggers) != 5 {
			t.Errorf("%s has the triggers %q", source, triggers)
		}
		for sql, logs := range map[string]int{
			"update $t set $c = 1 where false": 0, "update $t set $c = $c": 80, "update $t set $c = $c + 100": 80, "delete from $t": 40, "truncate $t": 1,
		} {
			sql = strings.NewReplacer("$t", source, "$c", column).Replace(sql)
			exec(t, conn, "begin")
			before := written()
			exec(t, conn, sql)
			for table, n := range written() {
				want := "0"
				if before[table] != "" {
					want = before[table]
				}
				if table == "changes_public_"+source {
					was := 0
					fmt.Sscan(want, &was)
					want = fmt.Sprint(was + logs)
				}
				if n != want {
					t.Errorf("%s, followed by %d stream tables: %s rows of %s, expected %s", sql, len(views), n, table, want)
				}
			}
			exec(t, conn, "rollback")
		}
	}
}
