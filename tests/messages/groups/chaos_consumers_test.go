package groups

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// consume is one consumer. Its clients die, and begin again under the same name, but for some that stay away in the end, whose rows go to others.
func (c *chaos) consume(ctx context.Context, n int) error {
	r := c.random("consumer", n)
	name := fmt.Sprint("worker-", n)
	leaves := n%5 == 4
	var conn *pgx.Conn
	for {
		select {
		case <-c.over:
			return nil
		default:
		}
		if conn == nil || conn.IsClosed() {
			conn = c.db.Connect(c.t)
		}
		met := c.begin()
		err := c.round(ctx, conn, r, name)
		var failed *pgconn.PgError
		switch {
		case err == nil, leaseLost(err), c.allows(err, met):
		case err != errDied && !conn.IsClosed() && !(errors.As(err, &failed) && failed.Code == "57P01"): // what the killer does
			return err
		default:
			conn.Close(ctx)
			c.killed.Add(1)
			if leaves && r.IntN(8) == 0 {
				return nil
			}
		}
	}
}

// types are those that a consumer asks for: of four, one asks for two of the three, and one for the third.
func (c *chaos) types(name string) []string {
	switch {
	case c.keyed:
		return nil
	case name[len(name)-1]%4 == 1:
		return []string{"t0", "t1"}
	case name[len(name)-1]%4 == 2:
		return []string{"t2"}
	}
	return nil
}

var errDied = errors.New("the client died")

// round polls and works. In some rounds the client dies before it has begun, or before it has committed; with a row that kills it always does.
func (c *chaos) round(ctx context.Context, conn *pgx.Conn, r *rand.Rand, name string) error {
	got, err := c.poll(ctx, conn, r, name)
	if err != nil {
		return err
	}
	if len(got) == 0 {
		time.Sleep(time.Duration(1+r.IntN(idle)) * time.Millisecond)
		return nil
	}
	work, back := got, []chaosRow(nil)
	die, dieFirst := r.IntN(25) == 0, r.IntN(2) == 0
	isFrail := got[0].Attempts > alone // others have died of it, or beside it: it must not become a dead letter by chance
	if n := slices.IndexFunc(got, func(row chaosRow) bool { return row.Killer > 0 }); n >= 0 {
		work, die = got[:n], true
	} else if isFrail {
		die = false
	} else if r.IntN(4) == 0 { // gives some back, of an ordered outbox the last ones
		if !c.keyed {
			r.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		}
		n := r.IntN(len(got))
		work, back = got[:n], got[n:]
	}
	if die && dieFirst {
		return errDied
	}
	var leaseID *int64
	if r.IntN(2) == 0 {
		leaseID = &got[0].Lease
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := c.handle(ctx, tx, r, name, leaseID, work, len(back) > 0); err != nil {
			return err
		}
		if err := c.giveBack(ctx, tx, r, name, leaseID, back); err != nil {
			return err
		}
		if die {
			conn.PgConn().Conn().Close() // as the kernel does for a process that is gone
			return errDied
		}
		return nil
	})
	if err == nil {
		c.ledger.commit(work)
		c.handled.Add(int64(len(work)))
	}
	return err
}

// poll polls, now and then in a transaction that stays open for a while, some for longer than others wait. It ends in a commit, a rollback or the
// client's death: then nothing was granted.
func (c *chaos) poll(ctx context.Context, conn *pgx.Conn, r *rand.Rand, name string) ([]chaosRow, error) {
	c.polling.RLock()
	defer c.polling.RUnlock()
	before, size := time.Now(), 1+r.IntN(120)
	c.ledger.ask(name)
	if r.IntN(150) > 0 {
		got, err := c.ask(ctx, conn, name, size)
		if err == nil {
			err = c.ledger.deliver(got, name, before)
		} else if conn.IsClosed() {
			c.ledger.doubt()
		}
		return got, err
	}
	stay, end := time.Duration(r.IntN(60))*time.Millisecond, r.IntN(4)
	if r.IntN(3) == 0 {
		stay += pollWait
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx)
	got, err := c.ask(ctx, tx, name, size)
	if err != nil {
		return nil, err
	}
	c.stayed.Add(1)
	time.Sleep(stay)
	switch end {
	case 0:
		return nil, tx.Rollback(ctx)
	case 1:
		conn.PgConn().Conn().Close()
		return nil, errDied
	}
	if err := tx.Commit(ctx); err != nil {
		c.ledger.doubt()
		return nil, err
	}
	return got, c.ledger.deliver(got, name, before)
}

func (c *chaos) ask(ctx context.Context, on pgtest.Querier, name string, size int) ([]chaosRow, error) {
	rows, err := on.Query(ctx, `select id, aggregate_id, coalesce((payload ->> 'n')::bigint, 0), coalesce((payload ->> 'killer')::bigint, 0), attempts, lease_id
from pgtrickle.poll_outbox('g', $1, $2, $3, $4)`, name, size, int(visibility.Seconds()), c.types(name))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[chaosRow])
}

// handle works on rows, and commits the offset or acknowledges them, in two parts and in any order.
func (c *chaos) handle(ctx context.Context, tx pgx.Tx, r *rand.Rand, name string, leaseID *int64, rows []chaosRow, part bool) error {
	if len(rows) == 0 {
		return nil
	}
	var ids, numbers []int64
	var keys []string
	for _, row := range rows {
		ids, keys, numbers = append(ids, row.ID), append(keys, row.Key), append(numbers, row.Number)
	}
	if _, err := tx.Exec(ctx, "select handle($1, $2, $3, $4)", ids, keys, numbers, c.keyed); err != nil {
		return err
	}
	if !part && r.IntN(3) > 0 {
		var last int64
		err := tx.QueryRow(ctx, "select pgtrickle.commit_offset('g', $1, $2, $3)", name, ids[len(ids)-1], leaseID).Scan(&last)
		if err == nil && last != ids[len(ids)-1] {
			err = fmt.Errorf("%s: commit of %v returned %d", name, ids, last)
		}
		return err
	}
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	n := r.IntN(len(ids) + 1)
	for _, some := range [][]int64{ids[:n], ids[n:]} {
		if err := c.count(ctx, tx, len(some), "select pgtrickle.ack_rows('g', $1, $2, $3)", name, some, leaseID); err != nil {
			return err
		}
	}
	return nil
}

// giveBack gives rows back, some later, some as failed, as those that are asked for or as all that is left; now and then the consumer leaves.
func (c *chaos) giveBack(ctx context.Context, tx pgx.Tx, r *rand.Rand, name string, leaseID *int64, rows []chaosRow) error {
	if len(rows) == 0 {
		return nil
	}
	c.ledger.release(rows)
	if r.IntN(5) == 0 {
		_, err := tx.Exec(ctx, "select pgtrickle.leave_group('g', $1)", name)
		return err
	}
	var ids []int64
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	if r.IntN(3) == 0 {
		ids = nil
	}
	var failed *string
	if r.IntN(2) == 0 {
		failed = new(string)
	}
	return c.count(ctx, tx, len(rows), "select pgtrickle.release_rows('g', $1, $2, $3, $4, $5)", name, ids, time.Duration(r.IntN(100))*time.Millisecond, failed, leaseID)
}

// count runs a statement that says how many rows it was for.
func (c *chaos) count(ctx context.Context, tx pgx.Tx, want int, sql string, args ...any) error {
	var got int
	err := tx.QueryRow(ctx, sql, args...).Scan(&got)
	if err == nil && got != want {
		err = fmt.Errorf("%d rows instead of %d in: %s %v", got, want, sql, args)
	}
	return err
}
