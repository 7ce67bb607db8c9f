package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/sessions/chaos"
)

// streamWriters write the sources of stream tables.
const streamWriters = 6

// streamRun is a server with traffic on the sources of stream tables.
type streamRun struct {
	*run
	subject *chaos.Subject
	worked  atomic.Int64 // transactions that ended as they should
}

// TestStreamKillsDifferential kills the server while sources are written and ticks follow; see streamKills.
func TestStreamKillsDifferential(t *testing.T) { streamKills(t, "differential", chaos.Stated) }

// TestStreamKillsImmediate is the same where statements keep the stream tables up to date.
func TestStreamKillsImmediate(t *testing.T) {
	t.Run("joins", func(t *testing.T) { streamKills(t, "immediate", chaos.Joins) })
	t.Run("subtrees", func(t *testing.T) { streamKills(t, "immediate", chaos.Subtrees) })
	t.Run("kept", func(t *testing.T) { streamKills(t, "immediate", chaos.Kept) })
}

// TestStreamKillsAtCommit is the same where commits do.
func TestStreamKillsAtCommit(t *testing.T) { streamKills(t, "at_commit", chaos.Stated) }

// streamKills kills the whole server at random moments. After each recovery and one tick, every stream table equals its query,
// whatever was prepared, half written or half refreshed. SLUICE_TEST_KILLS=n kills as often, SLUICE_TEST_SEED=n at other moments.
func streamKills(t *testing.T, mode string, views chaos.Views) {
	seed, _ := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	kills, err := strconv.Atoi(os.Getenv("SLUICE_TEST_KILLS"))
	if err != nil {
		kills = pgtest.ShortOrLong(2, 20)
	}
	r := startStreams(t, mode, views, seed)
	for n := range streamWriters {
		worker := chaos.NewWorker(seed, n, r.server.Major)
		r.go_(func(conn *pgx.Conn) error { return r.write(worker, conn) })
	}
	r.go_(func(conn *pgx.Conn) error {
		return r.held(func(ctx context.Context) error { return due(ctx, conn) })
	})
	started := time.Now()
	for n := range kills {
		r.awaitWork(int64(5 * (n + 1)))
		time.Sleep(time.Duration(r.rand.IntN(500)) * time.Millisecond) // the random moment
		if err := r.killServer(); err != nil {
			t.Errorf("kill %d: %s", n+1, pgtest.ErrorText(err))
			break
		}
	}
	close(r.stop)
	r.traffic.Wait()
	t.Logf("seed %d, %s: %d kills in %v, which ended %d transactions; %d others were done", seed, mode, kills, time.Since(started), r.trouble.Load(), r.worked.Load())
	if r.worked.Load() < int64(5*kills) {
		t.Error("too little was written to say anything")
	}
}

// awaitWork waits until so many transactions are done in all: new sessions have plans to make first.
func (r *streamRun) awaitWork(count int64) {
	pgtest.Becomes(func() bool { return r.worked.Load() >= count })
}

func startStreams(t *testing.T, mode string, views chaos.Views, seed uint64) *streamRun {
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{
		Version: os.Getenv("SLUICE_TEST_PG"), Durable: true,
		Settings: map[string]string{"shared_buffers": "16MB", "max_prepared_transactions": "20", "deadlock_timeout": "5ms"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	r := &streamRun{
		run:     &run{t: t, server: server, rand: rand.New(rand.NewPCG(seed, 1)), stop: make(chan struct{})},
		subject: chaos.Load(t, mode, views),
	}
	conn := pgtest.Connect(t, server.DSN("postgres"))
	for _, sql := range append([]string{chaos.MakeWriter}, r.subject.Script()...) {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	return r
}

// write does one transaction as the role of the writers.
func (r *streamRun) write(worker *chaos.Worker, conn *pgx.Conn) error {
	return r.held(func(ctx context.Context) error {
		_, err := conn.Exec(ctx, "set role "+chaos.Writer)
		if err == nil {
			err = worker.Work(ctx, conn)
		}
		if err == nil {
			r.worked.Add(1)
		}
		return err
	})
}

// held does something that a check waits for.
func (r *streamRun) held(do func(context.Context) error) error {
	r.holding.RLock()
	defer r.holding.RUnlock()
	return do(context.Background())
}

// due ticks, with everything due.
func due(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "update chaos_internal.pgt_stream_table_state set checked_at = '-infinity'"); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, "call chaos.tick()")
	return err
}

// killServer kills all of the server's processes, holds the traffic, starts the server again, ends what is prepared, ticks and compares. Traffic
// that came before that might wait for a prepared transaction, and this for the traffic.
func (r *streamRun) killServer() error {
	if err := r.server.KillAll(); err != nil {
		return err
	}
	r.holding.Lock()
	defer r.holding.Unlock()
	if err := r.server.Restart(); err != nil {
		return err
	}
	conn, err := r.connect()
	if err != nil {
		return err
	}
	ctx := context.Background()
	defer conn.Close(ctx)
	if err := chaos.Resolve(ctx, conn, r.rand); err != nil {
		return err
	}
	if err := due(ctx, conn); err != nil {
		return err
	}
	return r.healthy(ctx, conn)
}

// healthy compares, and looks for ticks that failed.
func (r *streamRun) healthy(ctx context.Context, conn *pgx.Conn) error {
	if err := r.subject.Check(ctx, conn); err != nil {
		return err
	}
	var failed string
	err := conn.QueryRow(ctx, `select coalesce(string_agg(concat_ws(': ', stream_table, error), '; '), '') from chaos.pgt_refresh_history where error is not null`).Scan(&failed)
	if err == nil && failed != "" {
		err = fmt.Errorf("ticks failed: %s", failed)
	}
	return err
}
