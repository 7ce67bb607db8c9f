package groups

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// stay begins transactions that publish and stay: idle ones, prepared ones, one that has only the lock of an insert. The function that it returns
// ends them, some with a commit; it returns how many events come of that.
func (c *chaos) stay(ctx context.Context) (end func(context.Context) int64) {
	var ends []func(context.Context) (int64, error)
	for n := range 6 {
		conn := c.db.Connect(c.t)
		commit, gid := n%2 == 0, fmt.Sprintf("chaos %s %d", c.db.Name, n)
		c.exec(ctx, conn, "begin")
		switch {
		case n == 5:
			c.exec(ctx, conn, fmt.Sprintf("insert into pgtrickle.outbox_%s (event_type, payload) select 't', '{}' where false", c.outbox))
			ends = append(ends, func(ctx context.Context) (int64, error) { return 0, c.try(ctx, conn, "commit") })
			continue
		case n >= 3:
			c.exec(ctx, conn, fmt.Sprintf("insert into entities values ('idle%d'); insert into progress values ('idle%[1]d', 0); commit; begin", n))
		default:
			c.exec(ctx, conn, fmt.Sprintf("insert into entities values ('idle%d'); insert into progress values ('idle%[1]d', 0); commit; begin; savepoint s", n))
			c.exec(ctx, conn, fmt.Sprintf("select pgtrickle.outbox_publish('%s', 't', '{}', 'k1'); rollback to s", c.outbox))
		}
		c.exec(ctx, conn, "call publish($1, array[$2::text])", c.outbox, fmt.Sprint("idle", n))
		verb := map[bool]string{true: "commit", false: "rollback"}[commit]
		if n >= 3 {
			c.exec(ctx, conn, fmt.Sprintf("prepare transaction '%s'", gid))
			verb = fmt.Sprintf("%s prepared '%s'", verb, gid)
		}
		ends = append(ends, func(ctx context.Context) (int64, error) {
			return map[bool]int64{true: 1}[commit], c.try(ctx, conn, verb)
		})
	}
	return func(ctx context.Context) (events int64) {
		for _, end := range ends {
			n, err := end(ctx)
			if err != nil {
				c.t.Error(err)
			}
			events += n
		}
		return events
	}
}

func (c *chaos) try(ctx context.Context, conn *pgx.Conn, sql string, args ...any) error {
	_, err := conn.Exec(ctx, sql, args...)
	return err
}

func (c *chaos) exec(ctx context.Context, conn *pgx.Conn, sql string, args ...any) {
	c.t.Helper()
	if err := c.try(ctx, conn, sql, args...); err != nil {
		c.t.Fatalf("%v in: %s", err, sql)
	}
}

// publish is one load publisher. Of its transactions a third is rolled back, some are slow, some are prepared, and some do a part in vain.
func (c *chaos) publish(ctx context.Context, conn *pgx.Conn, n int) error {
	r := c.random("publisher", n)
	for round := 0; c.published.Load() < c.wanted; round++ {
		keys := c.keys(r, int(min(c.wanted/40, 60)))
		statements := []string{"begin isolation level " + []string{"read committed", "repeatable read"}[r.IntN(2)*r.IntN(2)]}
		if r.IntN(4) == 0 {
			statements = append(statements, "savepoint s", fmt.Sprintf("select pgtrickle.outbox_publish('%s', 't', '{}', 'vain')", c.outbox), "rollback to s")
		}
		for _, sql := range statements {
			if err := c.try(ctx, conn, sql); err != nil {
				return err
			}
		}
		err := c.try(ctx, conn, "call publish($1, $2)", c.outbox, keys)
		var failed *pgconn.PgError
		if errors.As(err, &failed) && failed.Code == "40001" { // another was faster with what it locks
			if err := c.try(ctx, conn, "rollback"); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		switch k := r.IntN(100); {
		case k < 10:
			time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
		case k < 12:
			time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
		}
		end := []string{"commit"}
		switch r.IntN(9) {
		case 0, 1, 2:
			end, keys = []string{"rollback"}, nil
		case 3:
			gid := fmt.Sprintf("chaos %s p%d.%d", c.db.Name, n, round)
			end = []string{fmt.Sprintf("prepare transaction '%s'", gid), fmt.Sprintf("commit prepared '%s'", gid)}
		}
		for _, sql := range end {
			if err := c.try(ctx, conn, sql); err != nil {
				return err
			}
		}
		c.published.Add(int64(len(keys)))
	}
	return nil
}

// keys are those of a transaction, always upwards: no deadlocks.
func (c *chaos) keys(r *rand.Rand, most int) (keys []string) {
	for key := 1 + r.IntN(10); key <= 40 && len(keys) < most; key += 1 + r.IntN(12) {
		for range 1 + r.IntN(max(1, most/6)) {
			keys = append(keys, fmt.Sprint("k", key))
		}
	}
	return keys
}

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
		die := r.IntN(25)
		err := c.round(ctx, conn, r, name, die)
		var failed *pgconn.PgError
		switch {
		case err == nil, leaseLost(err):
		case errors.As(err, &failed) && failed.Code != "57P01": // what the killer does
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

// round polls and works. In the round in which it dies, it does so before it has begun (0), or before it has committed (1).
func (c *chaos) round(ctx context.Context, conn *pgx.Conn, r *rand.Rand, name string, die int) error {
	before := time.Now()
	rows, err := conn.Query(ctx, "select id, aggregate_id, coalesce((payload ->> 'n')::bigint, 0), attempts, lease_id from pgtrickle.poll_outbox('g', $1, $2, $3, $4)",
		name, 1+r.IntN(120), int(visibility.Seconds()), c.types(name))
	if err != nil {
		return err
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[chaosRow])
	if err != nil {
		return err
	}
	if err := c.ledger.deliver(got, name, before); err != nil {
		return err
	}
	if len(got) == 0 {
		time.Sleep(time.Duration(1+r.IntN(10)) * time.Millisecond)
		return nil
	}
	if die == 0 {
		return errDied
	}
	work, back := got, []chaosRow(nil)
	if r.IntN(4) == 0 { // gives some back, of an ordered outbox the last ones
		if !c.keyed {
			r.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		}
		n := r.IntN(len(got))
		work, back = got[:n], got[n:]
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
		if die == 1 {
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
