package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// transaction is what a writer does, again if the server says that this would help.
type transaction struct {
	isolation string
	steps     []string
	end       []string
}

// transaction makes the next one; prepared is a name for it if it is prepared.
func (m maker) transaction(isolation, prepared string) transaction {
	t := transaction{isolation: isolation}
	for range 1 + m.IntN(2)*m.IntN(4) {
		switch m.IntN(6) {
		case 0:
			t.steps = append(t.steps, "savepoint s", m.statement(), m.statement(), "rollback to s")
		case 1:
			t.steps = append(t.steps, "savepoint s", m.statement(), "release s")
		}
		t.steps = append(t.steps, m.statement())
	}
	end := []string{"commit", "rollback"}[m.IntN(2)]
	t.end = []string{end}
	if m.IntN(8) == 0 {
		t.end = []string{fmt.Sprintf("prepare transaction '%s'", prepared), fmt.Sprintf("select pg_sleep(%f)", m.Float64()/100), fmt.Sprintf("%s prepared '%s'", end, prepared)}
	}
	return t
}

// commits reports whether it stays.
func (t transaction) commits() bool { return t.end[len(t.end)-1][0] == 'c' }

// run runs it once.
func (t transaction) run(ctx context.Context, conn *pgx.Conn) error {
	err := exec(ctx, conn, append([]string{"begin isolation level " + t.isolation}, t.steps...)...)
	if err == nil {
		err = exec(ctx, conn, t.end...)
	}
	if err != nil && !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
		err = errors.Join(err, exec(ctx, conn, "rollback"))
	}
	return err
}

func exec(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// outcome is what an error means to a writer.
type outcome int

const (
	done    outcome = iota
	again           // deadlock or serialization failure
	refused         // by a constraint of the application
	wrong
)

// judge says what an error means. Only the application's constraints may refuse a row, and at read committed nothing fails to serialize.
func (t transaction) judge(err error) outcome {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return done
	case !errors.As(err, &pg):
		return wrong
	case pg.Code == "40P01", pg.Code == "40001" && t.isolation != ReadCommitted:
		return again
	case pg.Code == "21000" && pg.Where == "" && t.isolation != ReadCommitted:
		return refused // it sees a row that another transaction deleted beside its own with the same key
	case (pg.Code == "23503" || pg.Code == "23505") && pg.SchemaName == "public":
		return refused
	}
	return wrong
}

// tries is how often a writer tries a transaction; after retriesAlone of them, others wait while it does. In repeatable read one that takes many
// locks starts again whenever another was faster, and on a slow machine with nine others that may be always.
const (
	tries        = 300
	retriesAlone = 150
)

// write does transactions until the crowd goes home.
func (c *Crowd) write(ctx context.Context, conn *pgx.Conn, n int) error {
	m := maker{rand.New(rand.NewPCG(c.Seed, uint64(n))), c.merges}
	for k := 0; !c.over(); k++ {
		isolation := c.Isolations[m.IntN(len(c.Isolations))]
		t := m.transaction(isolation, fmt.Sprintf("%s %d %d", c.name, n, k))
		if err := c.perform(ctx, conn, t); err != nil {
			return fmt.Errorf("writer %d, transaction %d, %s: %w", n, k, isolation, err)
		}
	}
	return nil
}

// try tries it once, beside others or, after many tries, without them.
func (c *Crowd) try(ctx context.Context, conn *pgx.Conn, t transaction, tried int) error {
	if tried < retriesAlone {
		c.turn.RLock()
		defer c.turn.RUnlock()
	} else {
		c.turn.Lock()
		defer c.turn.Unlock()
	}
	return t.run(ctx, conn)
}

// perform tries a transaction until it is done.
func (c *Crowd) perform(ctx context.Context, conn *pgx.Conn, t transaction) error {
	for try := range tries {
		err := c.try(ctx, conn, t, try)
		switch t.judge(err) {
		case done:
			if t.commits() {
				c.committed.Add(1)
			} else {
				c.rolledBack.Add(1)
			}
			return nil
		case refused:
			c.refused.Add(1)
			return nil
		case wrong:
			return err
		}
		c.retries.Add(1)
		c.most.Store(max(c.most.Load(), int64(try)))
		if c.over() {
			return nil
		}
		time.Sleep(time.Duration(rand.IntN(5+5*min(try, 30))) * time.Millisecond)
	}
	return fmt.Errorf("not cured by %d retries: %v", tries, t.steps)
}
