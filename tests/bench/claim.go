package main

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
)

// claimCases are claim + mark with several crews and batches.
func claimCases() []benchCase {
	var all []benchCase
	for _, commit := range commits {
		for _, batch := range []int{100, 10, 1} {
			for _, workers := range []int{1, 4, 10} {
				if workers == 4 && batch < 100 {
					continue
				}
				name := fmt.Sprintf("%s, batch %d, synchronous_commit %s", plural(workers, "worker"), batch, commit)
				all = append(all, benchCase{claimSection, name, func(ctx context.Context, b *bench) ([]row, error) {
					result := row{Case: name, Unit: "messages/s"}
					if goal, ok := claimGoals[[2]int{workers, batch}]; ok {
						result.goal(atLeast(goal))
					}
					return b.claim(ctx, result, []side{ours, queue}, workers, batch, commit)
				}})
			}
		}
	}
	return all
}

// claimGoals are those of the issues, by workers and batch.
var claimGoals = map[[2]int]float64{{1, 100}: 1, {10, 100}: 2, {1, 1}: 0.9, {10, 1}: 0.9}

func (b *bench) claim(ctx context.Context, result row, sides []side, workers, batch int, commit string) ([]row, error) {
	backlog := b.backlog(batch)
	err := b.turns(&result, sides, func(x side) (float64, error) {
		// Each side starts each turn with the same backlog and nothing else.
		if err := b.fresh(ctx, sides...); err != nil {
			return 0, err
		}
		if err := b.load(ctx, b.maker, x.table, backlog); err != nil {
			return 0, err
		}
		// What was loaded is counted before the turn, as it is where a scheduler ticks while messages come in; inserts have a section of their own.
		if x.ticks {
			if err := b.tick(ctx, 2); err != nil {
				return 0, err
			}
		}
		if err := b.tidy(ctx, x); err != nil {
			return 0, err
		}
		var did turn
		err := b.scheduled(ctx, x, func() (err error) {
			did, err = b.drain(ctx, x, workers, batch, commit, backlog)
			return err
		})
		if err != nil {
			return 0, err
		}
		return did.perSecond, b.verifyMarked(ctx, x, did.total)
	})
	return []row{result}, err
}

// backlog is more than a crew gets through in a turn; if one is faster, its turn ends early.
func (b *bench) backlog(batch int) int {
	perSecond := map[int]float64{1: 20e3, 10: 90e3, 100: 180e3}[batch]
	return int(perSecond * b.cfg.Backlog * math.Max(b.cfg.Seconds, 0.5))
}

// drain claims and marks until the time is up or four fifths of the backlog are done.
func (b *bench) drain(ctx context.Context, x side, workers, batch int, commit string, backlog int) (turn, error) {
	c := crew{dsn: b.dsn("synchronous_commit=" + commit), clients: workers, most: int64(backlog) * 4 / 5}
	c.work = func(ctx context.Context, conn *pgx.Conn) (int, error) {
		if x.leases {
			return leaseAndMark(ctx, conn, x, batch)
		}
		return claimAndMark(ctx, conn, x, batch)
	}
	return c.run(ctx, b.cfg.turn())
}

// claimAndMark is a worker's transaction, without the work.
func claimAndMark(ctx context.Context, conn *pgx.Conn, x side, batch int) (int, error) {
	var ids []string
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, x.claim, batch)
		if err != nil {
			return err
		}
		for rows.Next() {
			ids = append(ids, string(rows.RawValues()[0])) // the id; the rest arrives too, but nobody looks
		}
		if err := rows.Err(); err != nil || len(ids) == 0 {
			return err
		}
		tag, err := tx.Exec(ctx, x.mark, ids)
		if err == nil && tag.RowsAffected() != int64(len(ids)) {
			err = fmt.Errorf("%s: claimed %d messages, marked %d", x.table, len(ids), tag.RowsAffected())
		}
		return err
	})
	return len(ids), err
}

// verifyMarked compares what the workers marked with what the table says: a message claimed twice makes the sums differ.
func (b *bench) verifyMarked(ctx context.Context, x side, marked int64) error {
	found, err := b.count(ctx, "select count(*) from "+x.table+" where processed_at is not null")
	if err == nil && found != marked {
		err = fmt.Errorf("%s: workers marked %d messages, the table has %d", x.table, marked, found)
	}
	return err
}
