// Package crash kills workers and servers at random moments and counts afterwards.
package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// run is a server with traffic on it. The traffic's sessions survive every crash by connecting again.
type run struct {
	t       *testing.T
	server  *commandtest.Server
	rand    *rand.Rand
	stop    chan struct{}
	traffic sync.WaitGroup
	holding sync.RWMutex  // writers, workers and ticks hold it to read while they are in a transaction
	stored  [writers]int  // messages of each writer whose commit was acknowledged
	trouble atomic.Int64  // transactions that a kill ended
	slowest time.Duration // until all that is pending was claimable
}

const (
	writers = 2
	workers = 4
	batch   = 5
)

// TestWorkersKilled kills worker backends, worker clients and the whole server, again and again at random moments, while messages come
// in and are processed. After each kill, what the victim had claimed is claimable at once; in the end, no message is lost,
// none is processed twice, and all counts agree. SLUICE_TEST_SEED=n takes other moments.
func TestWorkersKilled(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	for _, option := range []string{"max_attempts: 1000", "max_attempts: 1000, priority: {map: {t1: 1}}"} {
		t.Run(option, func(t *testing.T) { killWorkers(t, seed, option) })
	}
}

func killWorkers(t *testing.T, seed uint64, option string) {
	t.Logf("seed %d", seed)
	r := start(t, seed, option)
	for n := range writers {
		r.go_(func(conn *pgx.Conn) error { return r.write(conn, n) })
	}
	for n := range workers {
		r.go_(func(conn *pgx.Conn) error { return r.work(conn, n) })
	}
	r.go_(func(conn *pgx.Conn) error { return r.tick(conn) })
	killed := map[string]int{}
	kinds := []string{"client", "backend", "server"}
	for n := range pgtest.ShortOrLong(7, 100) {
		time.Sleep(time.Duration(r.rand.IntN(40)) * time.Millisecond) // the random moment
		how := kinds[max(0, r.rand.IntN(4)-1)]
		if n < len(kinds) {
			how = kinds[n]
		}
		if err := r.kill(how); err != nil {
			t.Fatalf("kill %d, of the %s: %v", n, how, err)
		}
		killed[how]++
	}
	close(r.stop)
	r.traffic.Wait()
	t.Logf("killed %v, which ended %d other transactions; all was claimable again within %v", killed, r.trouble.Load(), r.slowest)
	r.count()
}

// killsSpec has failures that are due again at once, and messages that do not die of the claims by which this test looks for them.
const killsSpec = `
version: 1
extension: {name: kills, version: 1.0.0}
inboxes:
  - {name: payments, retry: none, %s}
`

func start(t *testing.T, seed uint64, option string) *run {
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{
		Version: os.Getenv("SLUICE_TEST_PG"), Durable: true, Settings: map[string]string{"shared_buffers": "16MB", "restart_after_crash": "on"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	r := &run{t: t, server: server, rand: rand.New(rand.NewPCG(seed, 1)), stop: make(chan struct{})}
	conn := pgtest.Connect(t, server.DSN("postgres"))
	for _, sql := range []string{
		installed.Text(t, fmt.Sprintf(killsSpec, option)).Install(generator.Plain),
		"create table effects (event_id text primary key)",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	return r
}

// connect waits until the server lets us in.
func (r *run) connect() (conn *pgx.Conn, err error) {
	pgtest.Becomes(func() bool {
		conn, err = pgx.Connect(context.Background(), r.server.DSN("postgres"))
		return err == nil
	})
	return conn, err
}

// go_ repeats a transaction until the test stops, over a new connection after each failure.
func (r *run) go_(transaction func(*pgx.Conn) error) {
	r.traffic.Go(func() {
		var conn *pgx.Conn
		for {
			select {
			case <-r.stop:
				return
			default:
			}
			if conn == nil || conn.IsClosed() {
				var err error
				if conn, err = r.connect(); err != nil {
					r.t.Error(err)
					return
				}
			}
			if err := transaction(conn); err != nil {
				r.trouble.Add(1)
				conn.Close(context.Background())
			}
		}
	})
}

// write stores a batch; it goes on to the next only if the commit was acknowledged, and else stores the same ids again.
func (r *run) write(conn *pgx.Conn, n int) error {
	r.holding.RLock()
	defer r.holding.RUnlock()
	_, err := conn.Exec(context.Background(), `insert into pgtrickle.payments (event_id, event_type, payload)
select $1 || '-' || i, 't' || i % 3, '{}' from generate_series($2::int + 1, $2::int + $3::int) i on conflict do nothing`,
		fmt.Sprint("w", n), r.stored[n], batch)
	if err == nil {
		r.stored[n] += batch
	}
	return err
}

// work claims, has the effect and marks, and sometimes fails a message, all in one transaction.
func (r *run) work(conn *pgx.Conn, n int) error {
	r.holding.RLock()
	defer r.holding.RUnlock()
	ctx := context.Background()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "select event_id from pgtrickle.inbox_claim('payments', $1)", 1+n*3)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			time.Sleep(time.Millisecond)
		}
		for i, id := range ids {
			sql := "with effect as (insert into effects values ($1)) select pgtrickle.inbox_mark_processed('payments', $1)::text"
			if i == 3 {
				sql = "select pgtrickle.inbox_mark_failed('payments', event_id, 'bad luck')::text from pgtrickle.payments where event_id = $1 and retry_count < 2"
			}
			if _, err := tx.Exec(ctx, sql, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// tick holds like the others: what it lists between two queries of a claim, the next claim finds.
func (r *run) tick(conn *pgx.Conn) error {
	defer time.Sleep(10 * time.Millisecond)
	r.holding.RLock()
	defer r.holding.RUnlock()
	_, err := conn.Exec(context.Background(), "call pgtrickle.tick()")
	return err
}

// kill lets a worker claim, kills it, its server process or the server, and sees that its claim is free.
func (r *run) kill(how string) error {
	victim, err := r.connect()
	if err != nil {
		return err
	}
	defer victim.Close(context.Background())
	ids, err := r.victimise(victim)
	if err != nil {
		return fmt.Errorf("the victim: %w", err)
	}
	pid := int(victim.PgConn().PID())
	switch how {
	case "client":
		victim.PgConn().Conn().Close() // what the kernel does for a process that is gone
	case "backend":
		err = syscall.Kill(pid, syscall.SIGKILL)
	case "server":
		if err = r.server.KillAll(); err == nil {
			err = r.server.Restart()
		}
	}
	if err != nil {
		return err
	}
	// The postmaster notices the death of a server process in its own time, and then throws everybody out.
	for deadline := time.Now().Add(30 * time.Second); ; {
		lost, err := r.freed(ids, pid)
		if !lost || time.Now().After(deadline) {
			return err
		}
	}
}

// victimise claims, and has half of its effect, without a commit.
func (r *run) victimise(victim *pgx.Conn) ([]string, error) {
	r.holding.RLock()
	defer r.holding.RUnlock()
	ctx := context.Background()
	if _, err := victim.Exec(ctx, "begin"); err != nil {
		return nil, err
	}
	rows, err := victim.Query(ctx, "select event_id from pgtrickle.inbox_claim('payments', 4)")
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	_, err = victim.Exec(ctx, "insert into effects select unnest($1::text[])", ids[:len(ids)/2])
	if err == nil {
		_, err = victim.Exec(ctx, "select pgtrickle.inbox_mark_processed('payments', i) from unnest($1::text[]) i", ids[:len(ids)/2])
	}
	return ids, err
}

// freed waits until a process is gone, holds the traffic, and claims everything: what is not processed by now must be there.
// It reports whether the connection was lost over it.
func (r *run) freed(ids []string, pid int) (lost bool, err error) {
	r.holding.Lock()
	defer r.holding.Unlock()
	ctx := context.Background()
	conn, err := r.connect()
	if err != nil {
		return false, err
	}
	defer func() { lost = err != nil && conn.IsClosed(); conn.Close(ctx) }()
	for gone := false; !gone; { // and those of other sessions that the kill has ended
		if err := conn.QueryRow(ctx, `select not exists (
    select from pg_locks where relation = 'pgtrickle.payments'::regclass and mode = 'RowShareLock') and not exists (
    select from pg_stat_activity where pid = $1)`, pid).Scan(&gone); err != nil {
			return false, err
		}
	}
	since := time.Now()
	for {
		missing, err := r.unclaimable(ctx, conn)
		r.slowest = max(r.slowest, time.Since(since))
		if err != nil || len(missing) == 0 {
			return false, err
		}
		if time.Since(since) > pauseTimeout {
			return false, fmt.Errorf("the victim held %q; pending, but not claimable: %d messages, such as %q", ids, len(missing), missing[:min(5, len(missing))])
		}
	}
}

// pauseTimeout is for the pause that claims make after looking in vain behind their cursor: ten times what the look took.
const pauseTimeout = time.Second

// unclaimable lists the pending messages that claims do not find, though nobody holds any.
func (r *run) unclaimable(ctx context.Context, conn *pgx.Conn) (missing []string, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx)
	err = tx.QueryRow(ctx, `with claimed as materialized (select event_id from pgtrickle.inbox_claim('payments', 1000000))
select coalesce(array_agg(p.event_id), '{}') from pgtrickle.payments p
where processed_at is null and retry_count < 3 and p.event_id not in (select c.event_id from claimed c)`).Scan(&missing) // not in is hashed, whatever statistics say
	return missing, err
}

// count is the reckoning.
func (r *run) count() {
	r.t.Helper()
	conn, err := r.connect()
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	one := func(sql string, args ...any) int { return pgtest.One[int](r.t, conn, sql, args...) }
	for one(`with claimed as materialized (select event_id from pgtrickle.inbox_claim('payments', 1000)),
effect as (insert into effects select event_id from claimed)
select count(pgtrickle.inbox_mark_processed('payments', event_id)) from claimed`) > 0 {
	}
	for n := range writers {
		if lost := r.stored[n] - one("select count(*) from pgtrickle.payments where event_id like $1 and split_part(event_id, '-', 2)::int <= $2", fmt.Sprintf("w%d-%%", n), r.stored[n]); lost != 0 {
			r.t.Errorf("writer %d stored %d messages; lost: %d", n, r.stored[n], lost)
		}
	}
	all := one("select count(*) from pgtrickle.payments")
	expect := func(what string, got, want int) {
		if got != want {
			r.t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	expect("pending", one("select count(*) from pgtrickle.payments where processed_at is null and retry_count < 3"), 0)
	expect("effects that are not of one processed message each", one("select count(*) from effects e full join pgtrickle.payments p using (event_id) where (e.event_id is null) <> (processed_at is null)"), 0)
	for range 3 {
		expect("counted", one("select sum(pending + processed + dead_letter)::int from pgtrickle.payments_stats"), all)
		expect("processed", one("select sum(processed)::int from pgtrickle.payments_stats"), one("select count(processed_at) from pgtrickle.payments"))
		if _, err := conn.Exec(context.Background(), "call pgtrickle.tick()"); err != nil {
			r.t.Error(pgtest.ErrorText(err))
		}
	}
	r.t.Logf("%d messages, %d effects", all, one("select count(*) from effects"))
}
