package live

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Pauses between attempts to reach the server.
const (
	firstPause = 100 * time.Millisecond
	longPause  = 10 * time.Second
)

// Scheduler ticks an extension from outside the server. Several may run at once.
type Scheduler struct {
	DSN    string
	Schema string
	Every  time.Duration
	Log    func(level slog.Level, message string)
	Ticked func(took time.Duration, err error) // is told of each tick; nil is not
}

// Run ticks until ctx ends. A server that goes away is waited for; what tick() itself reports is tried again. A problem is logged when it begins, and
// that it is over.
func (s Scheduler) Run(ctx context.Context) error {
	config, err := pgx.ParseConfig(s.DSN)
	if err != nil {
		return err
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { s.Log(slog.LevelWarn, n.Severity+": "+n.Message) }
	problem := ""
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longPause) {
		ticked, err := s.session(ctx, config, problem != "")
		if ctx.Err() != nil {
			break
		}
		if ticked {
			pause, problem = firstPause, ""
		}
		if err.Error() != problem {
			problem = err.Error()
			s.Log(slog.LevelWarn, problem+"; trying again until it is over")
		}
		wait(ctx, pause)
	}
	return nil
}

// session ticks over one connection until something fails; ticked reports whether any tick succeeded. The first one says so after a problem.
func (s Scheduler) session(ctx context.Context, config *pgx.ConnConfig, problem bool) (ticked bool, err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tick := fmt.Sprintf("call %s.tick()", sqltext.Ident(s.Schema))
	for next := time.Now(); ctx.Err() == nil; {
		began := time.Now()
		// Simple protocol: a prepared statement would tie the session to one server connection of a pooler.
		_, err := conn.Exec(ctx, tick, pgx.QueryExecModeSimpleProtocol)
		if s.Ticked != nil && ctx.Err() == nil {
			s.Ticked(time.Since(began), err)
		}
		if err != nil {
			return ticked, err
		}
		if problem && !ticked {
			s.Log(slog.LevelInfo, "it is over")
		}
		ticked = true
		next = later(next.Add(s.Every), time.Now())
		wait(ctx, time.Until(next))
	}
	return ticked, ctx.Err()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
