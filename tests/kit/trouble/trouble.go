// Package trouble is what tests with many actors do to them: upgrades in the midst of their work, ends of sessions, and what else goes on beside them.
package trouble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
)

// Random is the random source of one actor, by the seed of the test.
func Random(seed uint64, actor string, n int) *rand.Rand {
	h := uint64(n)
	for _, r := range actor {
		h = h*131 + uint64(r)
	}
	return rand.New(rand.NewPCG(seed, h))
}

// Await waits until something is done. It fails when a count has not grown for a minute: how long all of it takes is the machine's.
func Await(t *testing.T, count func() int64, what string, done func() bool) {
	t.Helper()
	last, since := count(), time.Now()
	for ; !done() && !t.Failed(); time.Sleep(5 * time.Millisecond) {
		if now := count(); now > last {
			last, since = now, time.Now()
		}
		if time.Since(since) > time.Minute {
			t.Errorf("not yet: %s, and nothing goes on since %d", what, last)
			return
		}
	}
}

// Episodes are times at which something goes on that others notice. They do not overlap.
type Episodes struct{ begun, ended atomic.Int64 }

// Begin notes that one begins.
func (e *Episodes) Begin() { e.begun.Add(1) }

// End notes that one has ended.
func (e *Episodes) End() { e.ended.Add(1) }

// On reports whether one goes on.
func (e *Episodes) On() bool { return e.begun.Load() > e.ended.Load() }

// Mark is a moment for Since.
func (e *Episodes) Mark() int64 { return e.ended.Load() }

// Since reports whether one went on at a moment or later.
func (e *Episodes) Since(mark int64) bool { return e.begun.Load() > mark }

// duringUpgrades are the errors that sessions may meet in the midst of an upgrade: docs/migrations.md.
var duringUpgrades = []string{"40P01", "42P01", "42703", "42883", "20000", "XX000"}

// IsOfUpgrade reports whether an error is one that a session may meet in the midst of an upgrade.
func IsOfUpgrade(err error) bool { return slices.Contains(duringUpgrades, Code(err)) }

// Code is the SQLSTATE of an error, or empty.
func Code(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	return ""
}

// Scripts generates versions 1.0.0, 1.1.0 and so on of the extension of some specs, which name version 1.0.0 each, and returns their upgrade scripts.
func Scripts(t testing.TB, specs ...string) (scripts []string) {
	t.Helper()
	var released []upgrade.Manifest
	for n, text := range specs {
		e := installed.OverReleased(t, strings.Replace(text, "version: 1.0.0", fmt.Sprintf("version: 1.%d.0", n), 1), "", released...)
		if n > 0 {
			files, err := e.Files(e.Releasing(released))
			script := files[fmt.Sprintf("%s/migrations/%[1]s_1.%d.0_to_1.%d.0.up.sql", e.Name, n-1, n)]
			if err != nil || script == "" {
				t.Fatalf("no script of upgrade %d: %v", n, err)
			}
			scripts = append(scripts, script)
		}
		released = append(released, e.Manifest())
	}
	return scripts
}

// Upgrade runs an upgrade script, until it gets its locks. Kill leaves it alone.
func Upgrade(ctx context.Context, conn *pgx.Conn, script string) error {
	// The name is set in a statement of its own: Kill sees the text of a script as soon as it arrives, before the script could set a name.
	if _, err := conn.Exec(ctx, "set lock_timeout = '2s'; set application_name = 'upgrade'"); err != nil {
		return err
	}
	for {
		_, err := conn.PgConn().Exec(ctx, script).ReadAll()
		if code := Code(err); code != "55P03" && code != "40P01" {
			return err
		}
		if _, err := conn.Exec(ctx, "rollback"); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// Kill ends a session of the database whose statement, or last one, matches, whatever it does.
func Kill(ctx context.Context, conn *pgx.Conn, pattern string) error {
	_, err := conn.Exec(ctx, `select pg_terminate_backend(pid) from (
    select pid from pg_stat_activity where datname = current_database() and query ~ $1 and application_name <> 'upgrade' and pid <> pg_backend_pid() order by random() limit 1) s`, pattern)
	return err
}
