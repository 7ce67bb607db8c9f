package examples

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/installed"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// python is Debian's, to which its package of psycopg belongs, where there is one.
func python() string {
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		return "/usr/bin/python3"
	}
	return "python3"
}

// killed runs processes, kills some of them in the midst of shipping 8000 orders and starts them again, and cuts connections, until a query yields true. In the end those
// that run are asked to stop, and do.
func killed(t *testing.T, db pgtest.Querier, done string, commands ...[]string) {
	t.Helper()
	killedAt(t, db, "select count(*) from shipments", 8000, done, commands...)
}

// killedAt is killed where a query counts how much of the work is done.
func killedAt(t *testing.T, db pgtest.Querier, count string, all int, done string, commands ...[]string) {
	t.Helper()
	begin := func(args []string) *exec.Cmd {
		c := exec.Command(args[0], args[1:]...)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		return c
	}
	var running []*exec.Cmd
	for _, args := range commands {
		running = append(running, begin(args))
	}
	random := rand.New(rand.NewPCG(1, 1))
	for kill := range 12 {
		until(t, db, fmt.Sprintf("select (%s) >= %d", count, all/16*(kill+1))) // by the work that is done, so that each kill meets some, on any machine
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		if kill%4 == 3 { // a process that loses its connection goes on
			pgtest.Rows(t, db, "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = current_user and pid <> pg_backend_pid()")
			continue
		}
		n := random.IntN(len(running))
		running[n].Process.Kill()
		running[n].Wait()
		running[n] = begin(commands[n])
	}
	until(t, db, done)
	for _, c := range running {
		c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); c.ProcessState.ExitCode() > 0 { // one that has hardly begun ends by the signal
			t.Errorf("asked to stop: %v", err)
		}
	}
}

// received are 8000 messages of the sample spec's inbox, and one that always fails.
const received = shopTables + `
select pgtrickle.inbox_receive('order_events', n::text, 'order.placed', jsonb_build_object('order_id', n::text)) from generate_series(1, 8000) n;
select pgtrickle.inbox_receive('order_events', 'bad', 'order.placed', '{}')`

// messages is a database with the sample spec and those messages.
func messages(t *testing.T) *pgtest.Database {
	t.Helper()
	db := installed.ShopDB(t)
	db.Exec(t, received)
	return db
}

// workersKilled kills three workers with kill -9 while they process messages: each but the one that fails is processed exactly once.
func workersKilled(t *testing.T, db pgtest.Querier, worker ...string) {
	t.Helper()
	const done = `
		select (select count(*) = 8000 from pgtrickle.order_events where processed_at is not null)
			and exists (select from pgtrickle.order_events_dlq where event_id = 'bad' and error like '%order_id%')`
	killed(t, db, done, worker, worker, worker)
	if count := pgtest.One[int](t, db, `select count(distinct order_id) * 10000 + count(*) from shipments`); count != 80008000 {
		t.Errorf("%d shipments", count)
	}
}

// TestPythonWorkers has workers in Python with psycopg.
func TestPythonWorkers(t *testing.T) {
	db := messages(t)
	workersKilled(t, db, python(), "worker.py", db.DSN(), "order_events")
}

// TestPythonRelays kills consumers with kill -9 while events are published, one of which always fails: each of the others is shipped exactly once.
func TestPythonRelays(t *testing.T) {
	db := events(t)
	var consumers [][]string
	for n := range 3 {
		consumers = append(consumers, []string{python(), "relay.py", db.DSN(), "shipping", fmt.Sprintf("worker-%d", n)})
	}
	db.Exec(t, `select events.outbox_publish('shop_events', 'order.placed', case n when 77 then '{}' else jsonb_build_object('order_id', n::text) end) from generate_series(1, 8000) n`)
	killed(t, db, nothingLeft, consumers...)
	if count := pgtest.One[int](t, db, `select count(distinct order_id) * 10000 + count(*) from shipments`); count != 79997999 {
		t.Errorf("%d shipments", count)
	}
	if dead := pgtest.One[string](t, db, `select string_agg(error, ',') from events.pgt_consumer_dead_letters`); dead != "'order_id'" {
		t.Errorf("dead letters: %s", dead)
	}
}
