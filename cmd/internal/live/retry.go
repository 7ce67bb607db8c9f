package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Pauses between attempts, in which the sessions proceed that queued behind the lock.
const (
	shortBreak = 500 * time.Millisecond
	longBreak  = 15 * time.Second
)

// Failure is an error of the server, or of the way to it, and what to do about it.
type Failure struct {
	Err  error
	Hint string
}

func (f Failure) Error() string { return f.Err.Error() }

// Unwrap gives the error.
func (f Failure) Unwrap() error { return f.Err }

// retry repeats an attempt that ended with a lock timeout, a deadlock or a serialization failure, with longer and longer pauses, until Retry has
// passed. The outcome says what holds then.
func (o Options) retry(ctx context.Context, outcome string, attempt func(left time.Duration) error) error {
	began := time.Now()
	for pause := shortBreak; ; pause = min(2*pause, longBreak) {
		left := o.Retry - time.Since(began)
		err := attempt(left)
		if !passing(err) || ctx.Err() != nil {
			return err
		}
		why := o.why(err)
		next := pause/2 + rand.N(pause/2) // those who retry in step would meet again
		if time.Since(began)+next > o.Retry {
			return Failure{fmt.Errorf("%s; %s: %w", why, outcome, err), "end what holds the lock, apply when less is going on, or give a longer --retry-for"}
		}
		o.Progress.log("%s; trying again in %v", why, next.Round(100*time.Millisecond))
		wait(ctx, next)
	}
}

// why says in one line what ended an attempt.
func (o Options) why(err error) string {
	blocked := o.Progress.blocked()
	var pg *pgconn.PgError
	errors.As(err, &pg)
	switch {
	case pg.Code != "55P03":
		return fmt.Sprintf("%s, at %q", pg.Message, o.Progress.current())
	case blocked == "":
		blocked = "a lock"
	}
	return "waited in vain for " + blocked
}

// passing reports whether an error is one that a transaction may meet because others run, and that trying again cures.
func passing(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "55P03" || pg.Code == "40P01" || pg.Code == "40001" || droppedBeside(pg))
}

// droppedBeside reports that a session dropped what the catalog's snapshot still had, as an upgrade does for one that looks at definitions.
func droppedBeside(pg *pgconn.PgError) bool {
	return pg.Code == "XX000" && (strings.HasPrefix(pg.Message, "could not open relation with OID ") || strings.HasPrefix(pg.Message, "cache lookup failed "))
}

// lost reports whether an error is that the server, or the way to it, has gone.
func lost(conn *pgx.Conn, err error) bool {
	var pg *pgconn.PgError
	return err != nil && !errors.Is(err, context.Canceled) && (conn.IsClosed() || errors.As(err, &pg) && (strings.HasPrefix(pg.Code, "57P") || strings.HasPrefix(pg.Code, "08")))
}

// cutOff explains an error by which the connection was lost.
func cutOff(conn *pgx.Conn, during string, err error, outcome string) error {
	if !lost(conn, err) {
		return err
	}
	return Failure{fmt.Errorf("the connection was lost at %q: %w; %s", during, err, outcome), "apply again: it finds out what there is and does what is left"}
}
