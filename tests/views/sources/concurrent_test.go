package sources

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// concurrentWrites go on whatever happens to the tables; none of them may fail for what was altered.
var concurrentWrites = []string{
	"insert into orders (id, customer_id, amount) select nextval('ids'), i % 9, i from generate_series(1, 5) i",
	"update orders set amount = amount + 1 where id % 7 = 3",
	"delete from orders where id % 5 = 2",
	"insert into sales (id, region, n) values (nextval('ids'), 'eu', 1), (nextval('ids'), 'us', 2)",
	"insert into sales_eu (id, region, n) values (nextval('ids'), 'eu', 3)",
	"update sales set n = n + 1 where id % 3 = 0",
	"begin; insert into orders (id, customer_id, amount) values (nextval('ids'), 1, 1); select pg_sleep(0.01); insert into sales_eu (id, region, n) values (nextval('ids'), 'eu', 1); commit",
}

// concurrentAlterations are what happens meanwhile.
var concurrentAlterations = []string{
	`begin; create table orders_tmp (like orders including all); lock table orders in exclusive mode; insert into orders_tmp select * from orders;
alter table orders rename to orders_old; alter table orders_tmp rename to orders; drop table orders_old; commit`,
	"begin; lock table sales; alter table sales detach partition sales_us; update sales_us set n = n + 2; alter table sales attach partition sales_us for values in ('us'); commit",
	"begin; alter table orders disable trigger user; update orders set amount = -amount where id % 2 = 0; alter table orders enable trigger user; commit",
	"alter table orders alter amount type numeric using amount + 2",
	"truncate sales_eu",
	"begin; lock table sales; drop table sales_us; create table sales_us partition of sales for values in ('us'); insert into sales_us values (nextval('ids'), 'us', 7); commit",
	"alter table orders add if not exists extra int",
	"alter table orders drop column if exists extra",
	"drop trigger if exists shop_log_update on orders",
	"begin; lock table orders; alter table orders rename amount to price; alter table orders rename price to amount; commit",
	"alter table orders alter customer_id type bigint",
	"alter table orders alter customer_id type int",
}

// TestAlteredMeanwhile alters sources under writers and ticks of several sessions. When all is quiet, everything is exact.
func TestAlteredMeanwhile(t *testing.T) { alteredMeanwhile(t, replicatedSpec) }

// TestAlteredImmediate does it where writers maintain stream tables.
func TestAlteredImmediate(t *testing.T) {
	alteredMeanwhile(t, strings.ReplaceAll(replicatedSpec, "    query", "    refresh_mode: immediate\n    query"))
}

// TestAlteredAtCommit does it where commits do.
func TestAlteredAtCommit(t *testing.T) {
	alteredMeanwhile(t, strings.ReplaceAll(replicatedSpec, "    query", "    refresh_mode: at_commit\n    query"))
}

func alteredMeanwhile(t *testing.T, spec string) {
	t.Helper()
	db := pgtest.DB(t)
	conn := db.Connect(t)
	extension := follows(t, replicated, spec)
	exec(t, conn, replicated, "create sequence ids start 100000; insert into customers select i, 'c' || i from generate_series(0, 8) i", replicatedTraffic)
	exec(t, conn, extension.Install(generator.Plain), extension.Fill())
	ctx, stop := context.WithTimeout(t.Context(), pgtest.ShortOrLong(2*time.Second, 6*time.Second))
	defer stop()
	var crew sync.WaitGroup
	work := func(seed uint64, pause time.Duration, statements ...string) {
		session := db.Connect(t)
		crew.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			for ctx.Err() == nil {
				sql := statements[r.IntN(len(statements))]
				if _, err := session.Exec(t.Context(), sql); err != nil && !mayFail(err) {
					t.Errorf("%s\nin: %s", pgtest.ErrorText(err), sql)
				}
				session.Exec(t.Context(), "rollback")
				time.Sleep(time.Duration(r.Int64N(int64(pause))))
			}
		})
	}
	for seed := range uint64(3) {
		work(seed, 10*time.Millisecond, concurrentWrites...)
	}
	work(10, 150*time.Millisecond, concurrentAlterations...)
	for seed := range uint64(2) {
		work(20+seed, 60*time.Millisecond, "update pgtrickle_internal.pgt_stream_table_state set checked_at = '-infinity'", "call pgtrickle.tick()", "select pgtrickle.refresh_stream_table('regions')")
	}
	crew.Wait()
	exec(t, conn, "select pgtrickle.resume_stream_table(pgt_schema || '.' || pgt_name) from pgtrickle.pgt_stream_tables")
	refresh(t, conn)
	compare(t, conn, "at last")
	t.Log(pgtest.Column[string](t, conn, "select concat_ws(' ', mode, reason, left(error, 150), count(*)) from pgtrickle.pgt_refresh_history group by mode, reason, left(error, 150)"))
	exec(t, conn, concurrentWrites[0], concurrentWrites[4], concurrentWrites[1], concurrentWrites[5])
	refresh(t, conn)
	compare(t, conn, "and after")
}

// mayFail describes what happens to anybody's statement when tables are locked and replaced under it.
func mayFail(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	switch pg.Code {
	case "40P01", "55P03", "40001", "42710", "XX000": // deadlock, lock timeout, serialization, trigger made twice, tuple concurrently updated
		return true
	case "42P01", "42704": // a table that was replaced after its name was looked up
		return true
	case "42703": // a column that had another name, in immediate mode and at commit
		return strings.Contains(pg.Detail, "would leave the stream table")
	case "55000": // a writer whose table was altered since the last tick, in immediate mode and at commit
		return strings.Contains(pg.Detail, "no statement may leave them behind")
	}
	return false
}
