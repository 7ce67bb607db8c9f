package live

import (
	"context"
	"fmt"
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
	Log    func(format string, args ...any)
}

// Run ticks until ctx ends. A server that goes away is waited for; what tick() itself reports is logged and tried again.
func (s Scheduler) Run(ctx context.Context) error {
	config, err := pgx.ParseConfig(s.DSN)
	if err != nil {
		return err
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { s.Log("%s: %s", n.Severity, n.Message) }
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longPause) {
		ticked, err := s.session(ctx, config)
		if ctx.Err() != nil {
			break
		}
		if ticked {
			pause = firstPause
		}
		s.Log("%v; trying again in %v", err, pause)
		wait(ctx, pause)
	}
	return nil
}

// session ticks over one connection until something fails; ticked reports whether any tick succeeded.
func (s Scheduler) session(ctx context.Context, config *pgx.ConnConfig) (ticked bool, err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tick := fmt.Sprintf("call %s.tick()", sqltext.Ident(s.Schema))
	for next := time.Now(); ctx.Err() == nil; {
		// Simple protocol: a prepared statement would tie the session to one server connection of a pooler.
		if _, err := conn.Exec(ctx, tick, pgx.QueryExecModeSimpleProtocol); err != nil {
			return ticked, err
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
