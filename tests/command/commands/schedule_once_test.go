package commands

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestProblemToldOnce takes tick() away from a scheduler for a while: it says so once, and that it is over.
func TestProblemToldOnce(t *testing.T) {
	db := installed.DB(t, installed.Text(t, "version: 1\nextension: {name: told, version: 1.0.0}\ninboxes: [{name: orders}]\n"))
	var mu sync.Mutex
	var said []string
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	var running sync.WaitGroup
	running.Go(func() {
		err := commandtest.Scheduler{DSN: db.DSN(), Schema: "pgtrickle", Every: 10 * time.Millisecond, Log: func(_ slog.Level, message string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, message)
		}}.Run(ctx)
		if err != nil {
			t.Error(err)
		}
	})
	lines := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, said...)
	}
	await := func(count int) {
		pgtest.Becomes(func() bool { return len(lines()) >= count || ctx.Err() != nil })
	}
	ticks := func() bool {
		return pgtest.One[bool](t, db, "select exists (select from pgtrickle_internal.pgt_tasks where last_run_at > now() - interval '1 minute')")
	}
	pgtest.Becomes(func() bool { return ticks() || ctx.Err() != nil })
	db.Exec(t, "alter procedure pgtrickle.tick(boolean) rename to tock")
	await(1)
	time.Sleep(time.Second) // several attempts
	db.Exec(t, "alter procedure pgtrickle.tock(boolean) rename to tick")
	await(2)
	cancel()
	running.Wait()
	got := strings.Join(lines(), "\n")
	if !strings.HasPrefix(got, "ERROR: procedure pgtrickle.tick() does not exist") || len(lines()) != 2 || !strings.HasSuffix(got, "\nit is over") {
		t.Errorf("it said:\n%s", got)
	}
}
