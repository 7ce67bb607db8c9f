package relay

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func freePort(t *testing.T) int {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return in.Addr().(*net.TCPAddr).Port
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// TestReload changes the configuration of a running relay: a pipeline that stays goes on, one that changes starts again, and a wrong file changes nothing.
func TestReload(t *testing.T) {
	pgtest.Parallel(t)
	db, dir := database(t), t.TempDir()
	db.Exec(t, "select pgtrickle.create_consumer_group('g2', 'events', 'earliest')")
	pipeline := func(name, group, file string) string {
		return fmt.Sprintf("  - name: %s\n    from: {outbox: {name: events, group: %s, poll_every: 50ms}}\n    to: {file: {path: %s/%s}}\n", name, group, dir, file)
	}
	path := write(t, db.DSN(), pipeline("one", "g", "a"))
	r := start(t, path)
	logged := func(text string) func() bool {
		return func() bool { return strings.Contains(r.log.String(), text) }
	}
	rewrite(t, path, db.DSN(), "# moved\n"+pipeline("two", "g2", "b")+pipeline("one", "g", "a"))
	pgtest.Until(t, "the second one has started", logged("msg=started pipeline=two"))
	if strings.Contains(r.log.String(), "msg=stopped pipeline=one") {
		t.Error("a pipeline that did not change was stopped")
	}
	rewrite(t, path, db.DSN(), pipeline("one", "g", "c")+"    batch: none\n")
	pgtest.Until(t, "the wrong file is refused", logged("configuration not changed"))
	rewrite(t, path, db.DSN(), pipeline("one", "g", "c"))
	pgtest.Until(t, "the second one was stopped", logged("msg=stopped pipeline=two"))
	publish(t, db, "events", 5)
	pgtest.Until(t, "nothing lags", func() bool {
		return pgtest.One[int64](t, db, "select lag_rows from pgtrickle.pgt_consumer_group_lag where group_name = 'g'") == 0
	})
	r.stop()
	if got := pgtest.One[int64](t, db, "select count(*) from pgtrickle.pgt_consumer_status"); got != 0 {
		t.Errorf("%d consumers are left in the groups", got)
	}
}

// TestServes asks a relay for metrics and health while its database goes away and comes back.
func TestServes(t *testing.T) {
	pgtest.Parallel(t)
	db, port := database(t), freePort(t)
	path := write(t, db.DSN(), "  - name: one\n    from: {outbox: {name: events, group: g, poll_every: 50ms}}\n    to: {discard: }\n    retry: {first: 20ms, longest: 50ms}\n"+
		fmt.Sprintf("listen: 127.0.0.1:%d\n", port))
	r := start(t, path)
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	ready := func(want int) func() bool {
		return func() bool {
			status, _ := get(t, url+"/readyz")
			return status == want
		}
	}
	pgtest.Until(t, "it is ready", ready(200))
	publish(t, db, "events", 10)
	pgtest.Until(t, "ten are delivered", func() bool {
		_, text := get(t, url+"/metrics")
		return strings.Contains(text, `sluice_relay_events_total{outcome="delivered",pipeline="one"} 10`)
	})
	db.SuperExec(t, "alter table pgtrickle.pgt_extension rename to away")
	db.SuperExec(t, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice relay' and datname = current_database()")
	pgtest.Until(t, "it is not ready, and says why", func() bool {
		status, text := get(t, url+"/readyz")
		return status == 503 && strings.Contains(text, "pgt_extension")
	})
	if status, _ := get(t, url+"/healthz"); status != 204 {
		t.Errorf("health: %d", status)
	}
	db.SuperExec(t, "alter table pgtrickle.away rename to pgt_extension")
	pgtest.Until(t, "it is ready again", ready(200))
	r.stop()
}

// TestWakes measures nothing, but a notification must end a pause between polls that is longer than the test.
func TestWakes(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	r := start(t, write(t, db.DSN(), "  - name: one\n    from: {outbox: {name: events, group: g, poll_every: 1h}}\n    to: {stdout: }\n"))
	pgtest.Until(t, "it listens", func() bool {
		return pgtest.One[int64](t, db, "select count(*) from pg_stat_activity where query like 'listen%' and datname = current_database() and state = 'idle'") == 1
	})
	time.Sleep(100 * time.Millisecond)
	publish(t, db, "events", 3)
	db.Exec(t, "call pgtrickle.tick()")
	pgtest.Until(t, "the events are there", func() bool { return strings.Count(r.out.String(), "\n") == 3 })
	r.stop()
}

// TestStopGivesBack stops a relay whose sink does not take events: another one gets them at once.
func TestStopGivesBack(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	publish(t, db, "events", 20)
	pipeline := "  - name: one\n    from: {outbox: {name: events, group: g, visibility: 1h, consumer: %s}}\n    to: {%s}\n    stop_within: 1s\n"
	r := start(t, write(t, db.DSN(), fmt.Sprintf(pipeline, "a", fmt.Sprintf("webhook: {url: 'http://127.0.0.1:%d/'}", freePort(t)))))
	pgtest.Until(t, "it fails", func() bool { return strings.Contains(r.log.String(), "not delivered") })
	r.stop()
	other := start(t, write(t, db.DSN(), fmt.Sprintf(pipeline, "b", "stdout: ")))
	pgtest.Until(t, "the events are there", func() bool { return strings.Count(other.out.String(), "\n") == 20 })
	other.stop()
}

// TestStopLeavesWhatIsAhead stops a relay while a batch is being sent: that one is finished, and the next one, which it has polled, is given back.
func TestStopLeavesWhatIsAhead(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	p, url := newPicky(t)
	publish(t, db, "events", 100)
	p.mu.Lock()
	r := start(t, write(t, db.DSN(), fmt.Sprintf("  - name: one\n    from: {outbox: {name: events, group: g, consumer: a}}\n    to: {webhook: {url: '%s/'}}\n    batch: 10\n", url)))
	pgtest.Until(t, "both sources hold a batch", func() bool {
		return pgtest.One[string](t, db, "select coalesce(string_agg(distinct consumer_id, ' ' order by consumer_id), '') from pgtrickle.pgt_consumer_active_leases") == "a a/ahead"
	})
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	pgtest.Until(t, "it stops", func() bool { return strings.Contains(r.log.String(), "stopping") })
	p.mu.Unlock()
	r.stop()
	if n := p.distinct(); n != 10 {
		t.Errorf("%d events were sent, and a batch has 10", n)
	}
	if leases := pgtest.One[int64](t, db, "select count(*) from pgtrickle.pgt_consumer_active_leases"); leases != 0 {
		t.Errorf("%d leases are left", leases)
	}
}

// TestStopsBesideHungDatabase stops a relay whose connections to the database do not answer any more, as behind a partition of the network: it ends in the
// time of stop_within, and a little.
func TestStopsBesideHungDatabase(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	r := start(t, write(t, db.DSN("application_name=hung"), "  - name: one\n    from: {outbox: {name: events, group: g, poll_every: 10ms}}\n    to: {inbox: {name: copies}}\n    stop_within: 2s\n"))
	publish(t, db, "events", 100)
	pgtest.Until(t, "events are delivered", func() bool { return pgtest.One[int64](t, db, "select count(*) from pgtrickle.copies") == 100 })
	pids := strings.Fields(pgtest.One[string](t, db, "select string_agg(pid::text, ' ') from pg_stat_activity where application_name = 'hung' and datname = current_database()"))
	if len(pids) < 2 {
		t.Fatalf("the connections are %q", pids)
	}
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGSTOP)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	}
	time.Sleep(time.Second) // it polls. Nothing else asks this server: who is stopped may hold the lock of a page
	began := time.Now()
	r.stop()
	if took := time.Since(began); took > 20*time.Second { // a busy machine; before, it was never
		t.Errorf("it took %s", took)
	}
}

// TestBrokerHangsUp has a broker close each connection: its pipeline connects again, as the end of a connection is not the end of a source.
func TestBrokerHangsUp(t *testing.T) {
	pgtest.Parallel(t)
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	connections := make(chan net.Conn, 1000)
	go func() {
		defer close(connections)
		for {
			conn, err := in.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
			connections <- conn
		}
	}()
	db := database(t)
	r := start(t, write(t, db.DSN(), fmt.Sprintf("  - {name: in, from: {redis: {url: 'redis://%s', streams: [s], group: g}}, to: {stdout: }, dead_letters: {stdout: }, retry: {first: 10ms, longest: 10ms}}\n", in.Addr())))
	for range 3 {
		select {
		case <-connections:
		case <-r.ended:
			t.Fatalf("the relay has ended:\n%s", r.log.String())
		}
	}
}

// TestOneFile has the workers of pipelines of two processes append to one file, at the end of which a crash has left a part of a line.
func TestOneFile(t *testing.T) {
	pgtest.Parallel(t)
	db, path := database(t), t.TempDir()+"/out"
	if err := os.WriteFile(path, []byte("{\"id\": "), 0o600); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "select pgtrickle.create_consumer_group('g2', 'events', 'earliest')")
	publish(t, db, "events", 3000)
	pipeline := func(name, group string) string {
		return fmt.Sprintf("  - {name: %s, from: {outbox: {name: events, group: %s}}, to: {file: {path: %s}}, workers: 4, batch: 7}\n", name, group, path)
	}
	r := start(t, write(t, db.DSN(), pipeline("one", "g")+pipeline("two", "g2")))
	other := start(t, write(t, db.DSN(), pipeline("three", "g")))
	pgtest.Until(t, "nothing lags", func() bool {
		return pgtest.One[int64](t, db, "select sum(lag_rows)::bigint from pgtrickle.pgt_consumer_group_lag where group_name in ('g', 'g2')") == 0
	})
	other.stop()
	r.stop()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[any]int{}
	for _, line := range lines(t, string(text)) {
		seen[line["id"]]++
	}
	for id, times := range seen {
		if times != 2 {
			t.Errorf("event %v is there %d times", id, times)
		}
	}
	if len(seen) != 3000 {
		t.Errorf("%d events of 3000", len(seen))
	}
}
