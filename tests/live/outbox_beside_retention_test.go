package live

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const trafficSchema = "create table orders (id int primary key, customer int, amount int);"

const trafficSpec = `
version: 1
extension: {name: traffic, version: 1.0.0}
schema: [schema.sql]
stream_tables:
  - name: app.later
    refresh_mode: differential
    outbox: {inline_threshold_rows: 0}
    query: |
      select customer, count(*) as orders, sum(amount) as amount from public.orders group by customer
  - name: app.now
    refresh_mode: immediate
    outbox: {inline_threshold_rows: 4, immediate: true}
    query: |
      select id, customer, amount from public.orders where amount > 10
`

// TestOutboxBesideRetention has two groups copy each of two stream tables, one at once and one slowly, while writers write and retention deletes row by
// row what both have consumed and acknowledged, as every row is old when it comes. All sessions share a pooler in transaction mode.
func TestOutboxBesideRetention(t *testing.T) {
	db := pgtest.DB(t)
	db.Exec(t, trafficSchema+"create schema app;")
	extension := installed.Over(t, trafficSpec, trafficSchema)
	dsn := pgtest.Pgbouncer(t, db)
	conn := pgtest.Connect(t, dsn)
	run(t, conn, extension.Install(generator.Plain))
	run(t, conn, extension.Fill())
	names := []string{"later", "now"}
	var fast, slow []*replica
	for _, name := range names {
		run(t, conn, fmt.Sprintf("alter table pgtrickle.outbox_%s alter created_at set default '2000-01-01'", name))
		fast = append(fast, newReplicaOf(t, conn, "pgtrickle", "app", name, "fast_"+name))
		slow = append(slow, newReplicaOf(t, conn, "pgtrickle", "app", name, "slow_"+name))
		slow[len(slow)-1].batch = 100
		slow[len(slow)-1].early = name == "later"
		fast[len(fast)-1].late, slow[len(slow)-1].late = name == "now", name == "now"
	}

	var writing, working sync.WaitGroup
	var over atomic.Bool
	again := func(wg *sync.WaitGroup, times int, statements func(r *rand.Rand) []string) {
		other := pgtest.Connect(t, dsn)
		r := rand.New(rand.NewPCG(6, uint64(times)))
		wg.Go(func() {
			for n := 0; n < times || times == 0 && !over.Load(); n++ {
				for _, sql := range statements(r) {
					if _, err := other.Exec(t.Context(), sql); err != nil {
						t.Errorf("%s in: %s", pgtest.ErrorText(err), sql)
						return
					}
				}
			}
		})
	}
	for _, times := range []int{300, 301, 302} {
		again(&writing, times, func(r *rand.Rand) []string { return []string{trafficStep(r)} })
	}
	again(&working, 0, func(*rand.Rand) []string { return []string{"select pgtrickle.refresh_stream_table('later')"} })
	again(&working, 0, func(*rand.Rand) []string {
		return []string{"update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'", "call pgtrickle.tick()"}
	})
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	for turn := 0; ; turn++ {
		followAll(t, conn, fast)
		if turn%4 == 0 {
			followAll(t, conn, slow)
		}
		select {
		case <-done:
		case <-time.After(time.Millisecond):
			continue
		}
		break
	}
	over.Store(true)
	working.Wait()

	published := 0
	for _, name := range names {
		run(t, conn, "select pgtrickle.refresh_stream_table('"+name+"')")
		published += pgtest.One[int](t, conn, fmt.Sprintf("select last_value::int from pgtrickle.outbox_%s_ids", name))
	}
	left := pgtest.One[int](t, conn, "select (select count(*) from pgtrickle.outbox_now) + (select count(*) from pgtrickle.outbox_later)")
	t.Logf("%d rows of outboxes, of which %d are left", published, left)
	if left > published-50 {
		t.Error("retention did not delete rows beside them")
	}
	for followAll(t, conn, fast)+followAll(t, conn, slow) > 0 {
	}
	for _, c := range append(fast, slow...) {
		c.compare(t, conn, c.group)
	}
	run(t, conn, "update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'")
	run(t, conn, "call pgtrickle.tick()")
	for _, table := range []string{"outbox_now", "outbox_later", "outbox_delta_rows_now", "outbox_delta_rows_later", "pgt_consumer_claim_check_acks"} {
		if n := pgtest.One[int](t, conn, "select count(*) from pgtrickle."+table); n > 0 {
			t.Errorf("%d rows are left of %s", n, table)
		}
	}
	if failed := pgtest.Column[string](t, conn, "select last_error from pgtrickle_internal.pgt_tasks where last_error is not null"); len(failed) > 0 {
		t.Errorf("tasks failed: %q", failed)
	}
}

// followAll lets copies follow; it returns how many rows of outboxes they were granted.
func followAll(t *testing.T, conn *pgx.Conn, copies []*replica) int {
	t.Helper()
	granted := 0
	for _, c := range copies {
		granted += c.follow(t, conn)
	}
	return granted
}

// trafficStep changes one to twelve orders, locked by their ids, and is rolled back at times.
func trafficStep(r *rand.Rand) string {
	first, count := r.IntN(200), 1+r.IntN(12)
	sql := fmt.Sprintf("insert into orders select i, i %% 20, %d from generate_series(%d, %d) i on conflict (id) do update set amount = excluded.amount, customer = excluded.customer + 1",
		r.IntN(40), first, first+count)
	among := fmt.Sprintf("where id in (select id from orders where id between %d and %d order by id for update)", first, first+count)
	switch r.IntN(4) {
	case 0:
		sql = "delete from orders " + among
	case 1:
		sql = "update orders set amount = amount + 7 " + among
	}
	if r.IntN(5) == 0 {
		return "begin; " + sql + "; rollback"
	}
	return sql
}
