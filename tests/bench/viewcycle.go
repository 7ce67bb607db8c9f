package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A cycle inserts some sales, updates them and deletes them: three statements, each a transaction, after which the table is as before.
var (
	cycleKinds = [3]string{"insert", "update", "delete"}
	cycleSQL   = [3]string{
		insertSales("$1", "$2"),
		"update sale set amount = (amount + 1) % 1000 where id between $1 and $2",
		"delete from sale where id between $1 and $2",
	}
)

// warmCycles are not counted: connections get their plans.
const warmCycles = 8

// cycle does one, and returns how many µs each statement took.
func (b *bench) cycle(ctx context.Context, conn *pgx.Conn, rows int) (times [3]float64, err error) {
	first := b.nextSale.Add(int64(rows)) - int64(rows) + 1 + int64(b.cfg.Sales)*10
	for i, sql := range cycleSQL {
		start := time.Now()
		tag, err := b.write(ctx, conn, sql, first, first+int64(rows)-1)
		times[i] = float64(time.Since(start).Nanoseconds()) / 1000
		if err != nil {
			return times, err
		}
		if tag.RowsAffected() != int64(rows) {
			return times, fmt.Errorf("%s: %d rows, want %d", cycleKinds[i], tag.RowsAffected(), rows)
		}
	}
	return times, nil
}

// write executes a statement, and again as long as it meets the error that pg_ivm gives two writers: each updates its catalog's row without
// waiting for the other.
func (b *bench) write(ctx context.Context, conn *pgx.Conn, sql string, args ...any) (pgconn.CommandTag, error) {
	for {
		tag, err := conn.Exec(ctx, sql, args...)
		var failed *pgconn.PgError
		if !errors.As(err, &failed) || failed.Message != "tuple concurrently updated" {
			return tag, err
		}
		b.again.Add(1)
	}
}

// cycleTimes are the µs of each kind of statement, and their mean within each cycle.
type cycleTimes struct {
	kinds [3][]float64
	means []float64
}

func (c *cycleTimes) add(times [3]float64) {
	for i, t := range times {
		c.kinds[i] = append(c.kinds[i], t)
	}
	c.means = append(c.means, (times[0]+times[1]+times[2])/3)
}

// typical is the mean of the kinds' medians.
func (c *cycleTimes) typical() float64 {
	return (median(c.kinds[0]) + median(c.kinds[1]) + median(c.kinds[2])) / 3
}

// slice is how long a database goes on before the next has its turn: long enough that the server's caches hold what its statements need, as
// they do where such statements come one after another, and short enough that all sides meet the same noise.
const slice = 50 * time.Millisecond

// cycles lets databases take turns of a slice each, on a connection of each, for as many turns as make up a round.
func (b *bench) cycles(ctx context.Context, dsns []string, rows int) ([]cycleTimes, error) {
	times := make([]cycleTimes, len(dsns))
	for range b.cfg.Rounds {
		var conns []*pgx.Conn
		for _, dsn := range dsns {
			if err := vacuum(ctx, dsn); err != nil {
				return nil, err
			}
			conn, err := pgx.Connect(ctx, dsn)
			if err != nil {
				return nil, err
			}
			defer conn.Close(context.WithoutCancel(ctx))
			conns = append(conns, conn)
		}
		if err := b.takeTurns(ctx, conns, rows, times); err != nil {
			return nil, err
		}
	}
	return times, nil
}

func (b *bench) takeTurns(ctx context.Context, conns []*pgx.Conn, rows int, times []cycleTimes) error {
	warmEnd, end := time.Now().Add(b.cfg.turn()), time.Time{}
	for n, counted := 0, 0; counted < 3 || time.Now().Before(end); n++ {
		if counted > 0 {
			counted++
		} else if n == warmCycles || n >= 2 && time.Now().After(warmEnd) { // slow ones are warm after two
			end = time.Now().Add(b.cfg.turn() * time.Duration(len(conns)))
			counted = 1
		}
		for i, conn := range conns {
			for over := time.Now().Add(slice); ; {
				took, err := b.cycle(ctx, conn, rows)
				if err != nil {
					return err
				}
				if counted > 0 {
					times[i].add(took)
				}
				if counted == 0 || time.Now().After(over) {
					break
				}
			}
		}
	}
	return nil
}
