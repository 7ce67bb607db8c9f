package examples

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// python is Debian's, to which its package of psycopg belongs, where there is one.
func python() string {
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		return "/usr/bin/python3"
	}
	return "python3"
}

// load is how many orders are shipped, in the midst of which processes are killed.
var load = pgtest.ShortOrLong(600, 8000)

// killed runs processes, kills some of them in the midst of shipping orders and starts them again, and cuts connections, until a query yields true. In
// the end those that run are asked to stop, and do.
func killed(t *testing.T, db pgtest.Querier, done string, commands ...[]string) {
	t.Helper()
	killedAt(t, db, "select count(*) from shipments", load, done, commands...)
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
	for _, args := range commands[:min(len(commands), pgtest.ShortOrLong(2, 3))] {
		running = append(running, begin(args))
	}
	random := rand.New(rand.NewPCG(1, 1))
	kills := pgtest.ShortOrLong(2, 12)
	for kill := range kills {
		until(t, db, fmt.Sprintf("select (%s) >= %d", count, all/(kills+4)*(kill+1))) // by the work that is done, so that each kill meets some, on any machine
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		if kill%4 == 3 || kill == kills-1 { // a process that loses its connection goes on
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

// received are messages of the sample spec's inbox, and one that always fails.
var received = shopTables + fmt.Sprintf(`
select pgtrickle.inbox_receive('order_events', n::text, 'order.placed', jsonb_build_object('order_id', n::text)) from generate_series(1, %d) n;
select pgtrickle.inbox_receive('order_events', 'bad', 'order.placed', '{}')`, load)

// messages is a database with the sample spec and those messages.
func messages(t *testing.T) *pgtest.Database {
	t.Helper()
	db := installed.ShopDB(t)
	db.Exec(t, received)
	return db
}

// workersKilled kills workers with kill -9 while they process messages: each but the one that fails is processed exactly once.
func workersKilled(t *testing.T, db pgtest.Querier, worker ...string) {
	t.Helper()
	done := fmt.Sprintf(`
		select (select count(*) = %d from pgtrickle.order_events where processed_at is not null)
			and exists (select from pgtrickle.order_events_dlq where event_id = 'bad' and error like '%%order_id%%')`, load)
	killed(t, db, done, worker, worker, worker)
	expectShipments(t, db, load)
}

// expectShipments expects so many orders that are shipped, each once.
func expectShipments(t *testing.T, db pgtest.Querier, orders int) {
	t.Helper()
	if got, want := pgtest.One[string](t, db, "select concat_ws(' ', count(*), count(distinct order_id)) from shipments"), fmt.Sprint(orders, orders); got != want {
		t.Errorf("shipments and orders of them: %s, not %s", got, want)
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
	db.Exec(t, `select events.outbox_publish('shop_events', 'order.placed', case n when 77 then '{}' else jsonb_build_object('order_id', n::text) end) from generate_series(1, $1) n`, load)
	killed(t, db, nothingLeft, consumers...)
	expectShipments(t, db, load-1)
	if dead := pgtest.One[string](t, db, `select string_agg(error, ',') from events.pgt_consumer_dead_letters`); dead != "'order_id'" {
		t.Errorf("dead letters: %s", dead)
	}
}
