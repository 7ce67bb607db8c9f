package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const toPrepare = 2000

// TestPreparedWork has workers end half of their transactions in two phases, with another session that commits or rolls them
// back a while later, beside ticks; the server is killed in the middle. Every message has its effect once.
func TestPreparedWork(t *testing.T) {
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{
		Version: os.Getenv("SLUICE_TEST_PG"), Settings: map[string]string{"max_prepared_transactions": "20"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	connect := func() *pgx.Conn { return pgtest.Connect(t, server.DSN("postgres")) }
	conn := connect()
	run(t, conn, installed.Load(t, installed.Shop()).Install(generator.Plain))
	run(t, conn, effects)
	run(t, conn, fmt.Sprintf("insert into pgtrickle.payments (event_id, event_type, payload) select 'm' || i, 't' || i %% 3, '{}' from generate_series(1, %d) i", toPrepare))

	var all sync.WaitGroup
	for n := range 4 {
		conn := connect()
		all.Go(func() { workPrepared(t, conn, n) })
	}
	all.Wait()
	if err := server.KillAll(); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	conn = connect()
	left := pgtest.Column[string](t, conn, "select gid from pg_prepared_xacts order by gid")
	if len(left) == 0 {
		t.Error("nothing was left prepared, so the kill proves nothing")
	}
	for range 3 {
		run(t, conn, "call pgtrickle.tick()")
	}
	for _, gid := range left {
		run(t, conn, "commit prepared '"+gid+"'")
	}
	run(t, conn, `with claimed as materialized (select event_id from pgtrickle.inbox_claim('payments', 100000)),
effect as (insert into effects select event_id, -1 from claimed)
select count(pgtrickle.inbox_mark_processed('payments', event_id)) from claimed`)
	for range 3 {
		run(t, conn, "call pgtrickle.tick()")
	}
	got := fmt.Sprint(pgtest.Rows(t, conn, `select (select count(*) from effects), count(processed_at), (select sum(processed) from pgtrickle.payments_stats),
    (select sum(pending) from pgtrickle.payments_stats), (select count(*) from pgtrickle_internal.pgt_tasks where last_error is not null) from pgtrickle.payments`))
	if want := fmt.Sprintf("[[%[1]d %[1]d %[1]d 0 0]]", toPrepare); got != want {
		t.Errorf("effects, processed, counted, pending, failed tasks: %s, want %s", got, want)
	}
}

// workPrepared claims, works and marks until half of the messages are done. It leaves its last prepared transaction open.
func workPrepared(t *testing.T, conn *pgx.Conn, n int) {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	open := ""
	for round := 0; ; round++ {
		exec := func(sql string) {
			if _, err := conn.Exec(context.Background(), sql); err != nil {
				t.Errorf("%s: %s", sql, pgtest.ErrorText(err))
			}
		}
		exec("call pgtrickle.tick()")
		exec("begin")
		exec(fmt.Sprintf(`with claimed as materialized (select event_id from pgtrickle.inbox_claim('payments', %d)),
effect as (insert into effects select event_id, %d from claimed)
select count(pgtrickle.inbox_mark_processed('payments', event_id)) from claimed`, 1+r.IntN(20), n))
		if r.IntN(2) == 0 {
			exec([]string{"commit", "commit", "rollback"}[r.IntN(3)])
		} else {
			gid := fmt.Sprintf("worker %d, %d", n, round)
			exec("prepare transaction '" + gid + "'")
			if open != "" {
				exec([]string{"commit", "rollback"}[r.IntN(2)] + " prepared '" + open + "'")
			}
			open = gid
		}
		var done int
		if err := conn.QueryRow(context.Background(), "select count(*) from effects").Scan(&done); err != nil {
			t.Error(pgtest.ErrorText(err))
		}
		if done > toPrepare/2 || t.Failed() {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
