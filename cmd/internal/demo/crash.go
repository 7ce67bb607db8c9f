package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Crash is how a worker ends before its time, between the effect of a message and its mark.
type Crash string

const (
	terminated Crash = "backend terminated" // pg_terminate_backend
	cut        Crash = "connection cut"     // as by kill -9 of the worker: no goodbye
	gaveUp     Crash = "rolled back"        // the worker sees its own error
)

// Killed reports whether the worker was killed.
func (c Crash) Killed() bool { return c != gaveUp }

// Loss is a worker that died, and what it left behind. It is the error that ends the worker.
type Loss struct {
	Worker   string `json:"worker"`
	How      Crash  `json:"how"`
	Messages int    `json:"messages"`

	ids []string
}

func (l Loss) Error() string { return fmt.Sprintf("%s: %s", l.Worker, l.How) }

func newLoss(worker string, how Crash, claimed []message) Loss {
	loss := Loss{Worker: worker, How: how, Messages: len(claimed)}
	for _, m := range claimed {
		loss.ids = append(loss.ids, m.ID)
	}
	return loss
}

// crashes says when a worker dies: each in the middle of some transaction, spread over the run.
type crashes struct {
	mu      sync.Mutex
	effects int
	due     []crashDue
}

type crashDue struct {
	after int // effects, whether or not their transactions commit
	how   Crash
}

// newCrashes spreads them so that all of them happen before the last of so many effects.
func newCrashes(effects int) *crashes {
	c := &crashes{}
	all := []Crash{terminated, cut, gaveUp, terminated}
	for i, how := range all {
		c.due = append(c.due, crashDue{(i + 1) * effects / (len(all) + 1), how})
	}
	return c
}

// next counts an effect; it returns how its worker dies, or nothing.
func (c *crashes) next() Crash {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.effects++
	if len(c.due) == 0 || c.effects < c.due[0].after {
		return ""
	}
	how := c.due[0].how
	c.due = c.due[1:]
	return how
}

// die does to the worker what was decided. A killed one does not know: it goes on with its transaction.
func (w *worker) die(ctx context.Context) error {
	switch w.dying {
	case terminated:
		return kill(ctx, w.dsn, w.conn.PgConn().PID())
	case cut:
		return w.conn.PgConn().Conn().Close()
	default:
		return errors.New("out of memory")
	}
}

// kill ends a backend and returns when it is gone.
func kill(ctx context.Context, dsn string, pid uint32) error {
	return withConn(ctx, dsn, "killer", func(conn *pgx.Conn) error {
		var gone bool
		err := conn.QueryRow(ctx, `select pg_terminate_backend($1::int, 10000)`, int32(pid)).Scan(&gone)
		if err == nil && !gone {
			err = fmt.Errorf("backend %d survives pg_terminate_backend", pid)
		}
		return err
	})
}
