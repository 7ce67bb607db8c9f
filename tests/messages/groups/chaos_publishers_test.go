package groups

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
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
func (c *chaos) publish(ctx context.Context, conn *pgx.Conn, n int, until int64) error {
	r := c.random(fmt.Sprint("publisher until ", until), n)
	for round := 0; c.published.Load() < until; round++ {
		keys := c.keys(r, int(min(c.wanted/40, 60)))
		events, killers := len(keys), 0
		if len(keys) > 0 && (r.IntN(20) == 0 || n == 0 && c.killers.Load() == 0) {
			keys[r.IntN(len(keys))] += "!"
			killers = 1
		}
		c.serving.RLock()
		met := c.begin()
		err := c.transaction(ctx, conn, r, fmt.Sprintf("chaos %s p%d.%d.%d", c.db.Name, until, n, round), keys)
		c.serving.RUnlock()
		if err == errRolledBack {
			continue
		}
		if c.allows(err, met) {
			if err := c.try(ctx, conn, "rollback"); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		c.published.Add(int64(events))
		c.killers.Add(int64(killers))
	}
	return nil
}

var errRolledBack = errors.New("rolled back")

// transaction publishes one event of each key, and a killer behind that of a key with an exclamation mark.
func (c *chaos) transaction(ctx context.Context, conn *pgx.Conn, r *rand.Rand, gid string, keys []string) error {
	c.reserve(int64(len(keys) + 2))
	statements := []string{"begin isolation level " + []string{"read committed", "repeatable read"}[r.IntN(2)*r.IntN(2)]}
	if r.IntN(4) == 0 {
		statements = append(statements, "savepoint s", fmt.Sprintf("select pgtrickle.outbox_publish('%s', 't', '{}', 'vain')", c.outbox), "rollback to s")
	}
	pause := time.Duration(0)
	switch k := r.IntN(100); {
	case k < 10:
		pause = time.Duration(r.IntN(40)) * time.Millisecond
	case k < 12:
		pause = time.Duration(r.IntN(500)) * time.Millisecond
	}
	end := []string{"commit"}
	switch r.IntN(9) {
	case 0, 1, 2:
		end = []string{"rollback"}
	case 3:
		end = []string{fmt.Sprintf("prepare transaction '%s'", gid), fmt.Sprintf("commit prepared '%s'", gid)}
	}
	for _, sql := range statements {
		if err := c.try(ctx, conn, sql); err != nil {
			return err
		}
	}
	if err := c.try(ctx, conn, "call publish($1, $2)", c.outbox, keys); err != nil {
		return err
	}
	time.Sleep(pause)
	for _, sql := range end {
		if err := c.try(ctx, conn, sql); err != nil {
			return err
		}
	}
	if end[0] == "rollback" {
		return errRolledBack
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
