package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/pgsluice/sluice/ivm/diag"
)

// idlePause is how long a worker rests that found nothing to do.
const idlePause = 10 * time.Millisecond

// crew is the workers of a run.
type crew struct {
	dsn     string
	plan    *Plan
	crashes *crashes
	done    <-chan struct{} // closed when nothing is left to do
	note    func(format string, args ...any)

	mu     sync.Mutex
	losses []Loss
}

// work keeps some workers at work until all is done.
func (c *crew) work(ctx context.Context, workers int) error {
	group, ctx := errgroup.WithContext(ctx)
	for i := range workers {
		group.Go(func() error { return c.slot(ctx, i+1) })
	}
	return group.Wait()
}

// slot keeps one worker at work: one that dies is replaced, as a supervisor would.
func (c *crew) slot(ctx context.Context, number int) error {
	for life := 1; ; life++ {
		name := fmt.Sprintf("worker %d.%d", number, life)
		err := withConn(ctx, c.dsn, name, func(conn *pgx.Conn) error {
			return c.toil(ctx, &worker{name: name, conn: conn, plan: c.plan, crashes: c.crashes, dsn: c.dsn}, number)
		})
		var loss Loss
		if !errors.As(err, &loss) {
			return err
		}
		c.bury(loss)
	}
}

// toil lets a worker turn from one inbox to the next until the crew is done.
func (c *crew) toil(ctx context.Context, w *worker, number int) error {
	for turn, idle := number, 0; ; turn++ {
		n, err := w.batch(ctx, inboxes[turn%len(inboxes)])
		if err != nil {
			return err
		}
		if idle++; n > 0 {
			idle = 0
		}
		select {
		case <-c.done:
			return nil
		default:
		}
		if idle >= len(inboxes) {
			wait(ctx, idlePause)
		}
	}
}

func (c *crew) bury(loss Loss) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.losses = append(c.losses, loss)
	c.note("%s: %s with %s in its transaction", loss.Worker, loss.How, diag.Count(loss.Messages, "message"))
}
