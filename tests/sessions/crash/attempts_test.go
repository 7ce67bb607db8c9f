package crash

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
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

const killersSpec = `
version: 1
extension: {name: killers, version: 1.0.0}
inboxes:
  - {name: jobs}
  - {name: frail, max_attempts: 5}
`

// killers is a crew at an inbox in which one message kills the session that claims it, in one way.
type killers struct {
	t      *testing.T
	server *commandtest.Server
	inbox  string
	kills  atomic.Int64
	dying  sync.Mutex // one kills the server at a time
}

const (
	killer    = "m07" // among other messages, in batches with them
	innocents = 29
)

// TestMessageKillsItsWorkers lets a message kill worker processes by signal, the server processes of their connections, or the whole server,
// while others are processed. It becomes a dead letter after its attempts, and nothing else does.
func TestMessageKillsItsWorkers(t *testing.T) {
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{
		Version: os.Getenv("SLUICE_TEST_PG"), Durable: true, Settings: map[string]string{"shared_buffers": "16MB", "restart_after_crash": "on"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	type killed struct {
		how, inbox string
		crew       int
		// Claims of the killer: all its attempts; half as often again, if it was claimed with others; and twice more for each worker, as claims that count
		// different messages at one moment may take the same sequence, and one of them counts in vain.
		least, most int64
	}
	for _, c := range []killed{
		pgtest.ShortOrLong(killed{"client", "frail", 3, 5, 14}, killed{"client", "jobs", 3, 20, 36}),
		{"backend", "frail", 2, 5, 12},
		{"server", "frail", 1, 5, 12},
	} {
		t.Run(c.how, func(t *testing.T) {
			k := &killers{t: t, server: server, inbox: c.inbox}
			k.fill()
			stop := k.tick()
			var crew sync.WaitGroup
			for range c.crew {
				crew.Go(func() { k.work(c.how) })
			}
			crew.Wait()
			stop()
			k.reckon(c.least, c.most)
		})
	}
}

// fill installs the inboxes again and stores the messages.
func (k *killers) fill() {
	k.t.Helper()
	conn := pgtest.Connect(k.t, k.server.DSN("postgres"))
	for _, sql := range []string{
		"drop schema if exists pgtrickle, pgtrickle_internal cascade",
		installed.Text(k.t, killersSpec).Install(generator.Plain),
		fmt.Sprintf("insert into pgtrickle.%s (event_id, event_type, payload) select 'm' || lpad(i::text, 2, '0'), 't', '{}' from generate_series(0, %d) i", k.inbox, innocents),
	} {
		if _, err := conn.Exec(k.t.Context(), sql); err != nil {
			k.t.Fatal(pgtest.ErrorText(err))
		}
	}
}

// connect waits until the server lets us in.
func (k *killers) connect() (conn *pgx.Conn) {
	pgtest.Becomes(func() bool {
		var err error
		conn, err = pgx.Connect(context.Background(), k.server.DSN("postgres"))
		return err == nil
	})
	return conn
}

// tick lets background work run; its commits also write to disk what the server would otherwise lose of the claims before.
func (k *killers) tick() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if conn := k.connect(); conn != nil {
				conn.Exec(ctx, "call pgtrickle.tick()")
				conn.Close(ctx)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return func() { cancel(); <-done }
}

// work takes messages until none is pending. What kills it is only that a process or a connection is gone: the next one goes on.
func (k *killers) work(how string) {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		if how == "client" {
			if k.process() {
				return
			}
			continue
		}
		conn := k.connect()
		done, err := work(conn, k.inbox, func() error {
			k.kills.Add(1)
			return k.kill(conn, how)
		})
		conn.Close(context.Background())
		if done && err == nil {
			return
		}
	}
	k.t.Error("the workers never come to an end")
}

var errKilled = errors.New("killed")

// work claims and marks until nothing is pending; it calls die with the killer claimed.
func work(conn *pgx.Conn, inbox string, die func() error) (done bool, err error) {
	ctx := context.Background()
	for {
		var ids []string
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, fmt.Sprintf("select event_id from pgtrickle.inbox_claim('%s', 4)", inbox))
			if err != nil {
				return err
			}
			if ids, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
				return err
			}
			time.Sleep(time.Millisecond) // the work
			if slices.Contains(ids, killer) {
				if err := die(); err != nil {
					return err
				}
				return errKilled
			}
			_, err = tx.Exec(ctx, fmt.Sprintf("select pgtrickle.inbox_mark_processed('%s', id) from unnest($1::text[]) id", inbox), ids)
			return err
		})
		if err != nil {
			return false, err
		}
		pending := 0
		if err := conn.QueryRow(ctx, fmt.Sprintf("select count(*) from pgtrickle.%s_pending", inbox)).Scan(&pending); err != nil || pending == 0 {
			return err == nil, err
		}
	}
}

// kill ends the connection's server process, or all of them.
func (k *killers) kill(conn *pgx.Conn, how string) error {
	k.dying.Lock()
	defer k.dying.Unlock()
	time.Sleep(100 * time.Millisecond) // in which the others, whom this kills too, end their work
	if err := k.flush(); err != nil {
		return err
	}
	if how == "backend" {
		return syscall.Kill(int(conn.PgConn().PID()), syscall.SIGKILL)
	}
	if err := k.server.KillAll(); err != nil {
		return err
	}
	return k.server.Restart()
}

// flush commits something, which writes the log to disk up to there: what a crash takes from it was no attempt.
func (k *killers) flush() error {
	conn := k.connect()
	if conn == nil {
		return errors.New("the server does not come back")
	}
	defer conn.Close(context.Background())
	_, err := conn.Exec(context.Background(), "select pg_logical_emit_message(true, 'flush', '')")
	return err
}

// workerProcess makes this test's binary a worker of an inbox of a server.
const workerProcess = "SLUICE_TEST_WORKER"

// TestWorkerProcess is not a test but the worker process of another one. It says that it holds the killer, and waits for its end.
func TestWorkerProcess(t *testing.T) {
	inbox, dsn, ok := strings.Cut(os.Getenv(workerProcess), " ")
	if !ok {
		return
	}
	_, err := work(pgtest.Connect(t, dsn), inbox, func() error {
		fmt.Println("holds the killer")
		select {}
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("done")
}

// process runs a worker process and kills it when it holds the killer; true if it came to an end.
func (k *killers) process() (done bool) {
	command := exec.Command(os.Args[0], "-test.run=^TestWorkerProcess$")
	command.Env = append(os.Environ(), workerProcess+"="+k.inbox+" "+k.server.DSN("postgres"))
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		k.t.Error(err)
		return true
	}
	for lines := bufio.NewScanner(out); lines.Scan() && !done; {
		switch lines.Text() {
		case "holds the killer":
			k.kills.Add(1)
			command.Process.Kill()
		case "done":
			done = true
		}
	}
	command.Wait()
	return done
}

// reckon compares what became of the messages.
func (k *killers) reckon(least, most int64) {
	k.t.Helper()
	conn := pgtest.Connect(k.t, k.server.DSN("postgres"))
	dead := pgtest.Rows(k.t, conn, fmt.Sprintf("select event_id, retry_count, split_part(error, ' ', 1) from pgtrickle.%s_dlq", k.inbox))
	if got, want := fmt.Sprint(dead), fmt.Sprintf("[[%s 3 claimed]]", killer); got != want {
		k.t.Errorf("dead letters: %s, want %s", got, want)
	}
	if processed := pgtest.One[int](k.t, conn, fmt.Sprintf("select count(processed_at)::int from pgtrickle.%s", k.inbox)); processed != innocents {
		k.t.Errorf("processed: %d, want %d", processed, innocents)
	}
	if kills := k.kills.Load(); kills < least || kills > most {
		k.t.Errorf("the message killed %d workers, want %d to %d", kills, least, most)
	} else {
		k.t.Logf("the message killed %d workers", kills)
	}
}
