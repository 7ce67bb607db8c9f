package live

import (
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestCreatedStreamTablesUnderTraffic upgrades an extension, and has its spec take stream tables over, while applications write what they read and read them, ticks run,
// and others are created and dropped: readers never find one empty, and all are right in the end.
func TestCreatedStreamTablesUnderTraffic(t *testing.T) {
	versions, released := tablesVersions(t)
	db := pgtest.DB(t)
	db.SuperExec(t, pgtest.MakeRoles("created_reader"))
	defer db.SuperExec(t, "drop owned by created_reader; drop role created_reader")
	db.Exec(t, createdTablesDDL)
	conn := db.Connect(t)
	apply := func(n int) {
		began := time.Now()
		if _, err := commandtest.Apply(t.Context(), conn, versions[n], commandtest.ApplyOptions{Flavour: generator.Plain, Released: released, Retry: time.Minute}); err != nil {
			t.Errorf("to %s: %s", versions[n].Version, pgtest.ErrorText(err))
		}
		t.Logf("to %s: %s", versions[n].Version, time.Since(began))
	}
	apply(0)
	fillCreatedTables(t, conn)
	stop := make(chan struct{})
	var all sync.WaitGroup
	session := func(work func(n int, conn *pgx.Conn) error) {
		conn := db.Connect(t)
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := work(n, conn); err != nil {
					if text := pgtest.ErrorText(err); !regexp.MustCompile(`\((40P01|40001|42P01|42703|42883|XX000|0A000|42704|55P03|2BP01)\)`).MatchString(text) {
						t.Error(text)
					}
				}
			}
		})
	}
	for writer := range 2 {
		session(func(n int, conn *pgx.Conn) error {
			time.Sleep(3 * time.Millisecond)
			_, err := conn.Exec(t.Context(), "insert into app.orders values ($1::int, 'r' || $1::int % 3, $1::int % 50)", 1000+2*n+writer)
			return err
		})
	}
	session(func(n int, conn *pgx.Conn) error {
		var revenue, odd, days int
		err := conn.QueryRow(t.Context(), `select (select count(*) from app.revenue), (select count(*) from app."odd ""t.able's"), (select count(*) from app.by_day)`).Scan(&revenue, &odd, &days)
		if err == nil && (revenue != 3 || odd < 17 || days != 1) {
			t.Errorf("a reader finds %d, %d and %d rows", revenue, odd, days)
		}
		return err
	})
	session(func(n int, conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), "call box.tick()")
		return err
	})
	session(func(n int, conn *pgx.Conn) error {
		time.Sleep(20 * time.Millisecond)
		_, err := conn.Exec(t.Context(), []string{
			"select box.create_stream_table('coming', 'select count(*) as n from app.revenue', '100ms', p_if_not_exists => true)", "select box.refresh_stream_table('total')",
			"select box.drop_stream_table('coming', true)",
		}[n%3])
		return err
	})
	traffic := func() {
		orders := pgtest.One[int](t, db, "select count(*) from app.orders")
		pgtest.UntilTrue(t, db, fmt.Sprintf("select count(*) > %d from app.orders", orders+pgtest.ShortOrLong(60, 600)))
	}
	for n := 1; n < 3; n++ {
		traffic()
		apply(n)
	}
	traffic()
	close(stop)
	all.Wait()
	db.Exec(t, "select box.drop_stream_table('coming', true)")
	db.Exec(t, "update box_internal.pgt_stream_table_state set checked_at = '-infinity', suspended_at = null")
	db.Exec(t, "call box.tick()")
	agree(t, conn, "after all")
	if left := pgtest.Column[string](t, conn, "select relname from pg_class where relname ~ '_(shape|rows_old)$' union all select proname from pg_proc where proname ~ 'coming'"); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
}
