package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/pgsluice/sluice/ivm/diag"
)

const (
	consumersOfGroup = 3
	pollBatch        = 50
	pollSeconds      = 2 // after which the rows of a dead consumer go to another
)

// consumers is the group that reads what workers publish.
type consumers struct {
	dsn     string
	crashes *crashes
	done    <-chan struct{} // closed when nothing is published any more
	note    func(format string, args ...any)

	mu     sync.Mutex
	moved  time.Time // of the latest delivery
	losses []Loss
}

// newConsumers makes a group of which one is killed halfway through so many events.
func newConsumers(dsn string, events int, done <-chan struct{}, note func(format string, args ...any)) *consumers {
	return &consumers{
		dsn: dsn, crashes: &crashes{due: []crashDue{{max(1, events/2), terminated}}}, done: done, note: note, moved: time.Now(),
	}
}

// work consumes until all that was published is delivered. Who dies is not replaced: the others take over.
func (c *consumers) work(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for n := range consumersOfGroup {
		group.Go(func() error {
			name := fmt.Sprintf("consumer %d", n+1)
			err := withConn(ctx, c.dsn, name, func(conn *pgx.Conn) error { return c.consume(ctx, name, conn) })
			var loss Loss
			if !errors.As(err, &loss) {
				return err
			}
			c.bury(loss)
			return nil
		})
	}
	return group.Wait()
}

// published is what a poll hands out.
type published struct {
	ID       int64
	EventID  string
	Attempts int
	LeaseID  int64
}

// consume polls and delivers, each in a transaction of its own.
func (c *consumers) consume(ctx context.Context, name string, conn *pgx.Conn) error {
	for ctx.Err() == nil {
		last := closed(c.done) // before polling, or what is published in between would be missed
		rows, err := conn.Query(ctx, `
			select id, payload ->> 'event_id', attempts, lease_id
			from events.poll_outbox('shipping', $1, $2, $3)`, name, pollBatch, pollSeconds)
		if err != nil {
			return err
		}
		events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[published])
		if err != nil {
			return err
		}
		if len(events) > 0 {
			if err := c.deliver(ctx, name, conn, events); err != nil {
				return err
			}
			continue
		}
		if last {
			if ends, err := c.caughtUp(ctx, conn); ends || err != nil {
				return err
			}
		}
		wait(ctx, idlePause)
	}
	return ctx.Err()
}

// leaseLost is the SQLSTATE of commit_offset where the events went to another consumer.
const leaseLost = "55000"

// deliver is the work and the commit of the offset, together. A consumer that dies on the way returns its Loss.
func (c *consumers) deliver(ctx context.Context, name string, conn *pgx.Conn, events []published) error {
	var ids []string
	var numbers []int64
	var attempts []int
	dying := Crash("")
	for _, e := range events {
		ids, numbers, attempts = append(ids, e.EventID), append(numbers, e.ID), append(attempts, e.Attempts)
		if how := c.crashes.next(); how != "" {
			dying = how
		}
	}
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			insert into deliveries (event_id, outbox_id, attempts, consumer)
			select d.event_id, d.outbox_id, d.attempts, $4
			from unnest($1::text[], $2::bigint[], $3::integer[]) d (event_id, outbox_id, attempts)`, ids, numbers, attempts, name)
		if err != nil {
			return err
		}
		if dying != "" {
			if err := kill(ctx, c.dsn, conn.PgConn().PID()); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `select events.commit_offset('shipping', $1, $2, $3)`, name, numbers[len(numbers)-1], events[0].LeaseID)
		return err
	})
	var failed *pgconn.PgError
	switch {
	case dying != "" && ctx.Err() == nil && err == nil:
		return fmt.Errorf("%s and committed all the same", dying)
	case dying != "" && ctx.Err() == nil:
		return Loss{Worker: name, How: dying, Messages: len(events), ids: ids}
	case errors.As(err, &failed) && failed.Code == leaseLost:
		return nil // what it did is rolled back
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved = time.Now()
	return err
}

// caughtUp reports whether everything is committed, or nothing moves any more.
func (c *consumers) caughtUp(ctx context.Context, conn *pgx.Conn) (ends bool, err error) {
	err = conn.QueryRow(ctx, `select committed_offset >= max_id from events.pgt_consumer_group_lag where group_name = 'shipping'`).Scan(&ends)
	c.mu.Lock()
	defer c.mu.Unlock()
	return ends || time.Since(c.moved) > stalledAfter, err
}

func (c *consumers) bury(loss Loss) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.losses = append(c.losses, loss)
	c.note("%s: %s with %s leased", loss.Worker, loss.How, diag.Count(loss.Messages, "event"))
}
