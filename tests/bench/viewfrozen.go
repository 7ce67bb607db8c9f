package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// A session's first statements, or refreshes, decide on plans that it keeps: bulkRows in each of the first, then single rows.
const (
	bulkRows     = 100_000
	frozenCycles = 40
)

func frozenCases() []benchCase {
	var all []benchCase
	for _, c := range classes {
		all = append(all, benchCase{frozenSection, c.name, func(ctx context.Context, b *bench) ([]row, error) { return b.frozen(ctx, c) }})
		all = append(all, benchCase{frozenSection, c.name + "/refresh", func(ctx context.Context, b *bench) ([]row, error) { return b.frozenRefresh(ctx, c) }})
	}
	return all
}

// frozen measures single rows in a session that began with bulk statements, against one that did not.
func (b *bench) frozen(ctx context.Context, c class) ([]row, error) {
	dsn, err := b.views(ctx, "views_now_"+c.letter(), func(dsn string) error { return installViews(ctx, dsn, "immediate", c) })
	if err != nil {
		return nil, err
	}
	var after, fresh cycleTimes
	for range b.cfg.Rounds {
		if err := b.smallCycles(ctx, dsn, false, &fresh); err != nil {
			return nil, err
		}
		if err := b.smallCycles(ctx, dsn, true, &after); err != nil {
			return nil, err
		}
	}
	x := row{Case: c.name, Unit: "µs"}
	x.compare(after.means, fresh.means)
	x.goal(atLeast(0.5))
	return []row{x}, nil
}

func (b *bench) smallCycles(ctx context.Context, dsn string, bulk bool, times *cycleTimes) error {
	if err := vacuum(ctx, dsn); err != nil {
		return err
	}
	return connected(ctx, dsn, func(conn *pgx.Conn) error {
		if bulk {
			if _, err := b.cycle(ctx, conn, bulkRows); err != nil {
				return err
			}
		}
		for n := range warmCycles + frozenCycles {
			took, err := b.cycle(ctx, conn, 1)
			if err != nil {
				return err
			}
			if n >= warmCycles {
				times.add(took)
			}
		}
		return nil
	})
}

// frozenRefresh measures refreshes for a single row in a session whose first refreshes were for bulkRows, against one that began with few.
func (b *bench) frozenRefresh(ctx context.Context, c class) ([]row, error) {
	dsn, err := b.views(ctx, "views_frozen_"+c.letter(), func(dsn string) error { return installViews(ctx, dsn, "differential", c) })
	if err != nil {
		return nil, err
	}
	var after, fresh []float64
	for range b.cfg.Rounds {
		if err := b.smallRefreshes(ctx, dsn, c, false, &fresh); err != nil {
			return nil, err
		}
		if err := b.smallRefreshes(ctx, dsn, c, true, &after); err != nil {
			return nil, err
		}
	}
	x := row{Case: c.name + "/refresh", Unit: "ms"}
	x.compare(after, fresh)
	x.goal(atLeast(0.5))
	return []row{x}, nil
}

func (b *bench) smallRefreshes(ctx context.Context, dsn string, c class, bulk bool, times *[]float64) error {
	refresh := "select * from sl.refresh_stream_table('" + c.stream() + "')"
	return connected(ctx, dsn, func(conn *pgx.Conn) error {
		if bulk {
			first := b.nextSale.Add(bulkRows) - bulkRows + 1 + int64(b.cfg.Sales)*10
			for _, sql := range []string{cycleSQL[0], cycleSQL[2]} {
				if _, err := conn.Exec(ctx, sql, first, first+bulkRows-1); err != nil {
					return err
				}
				if err := execute(ctx, conn, refresh); err != nil {
					return err
				}
			}
		}
		// What the bulk has left in logs and tables is not what this is about.
		prune := "update sl_internal.pgt_tasks set last_run_at = '-infinity'"
		if err := execute(ctx, conn, prune, "call sl.tick()", "vacuum", "checkpoint"); err != nil {
			return err
		}
		for n := range warmCycles + frozenCycles {
			if _, err := b.cycle(ctx, conn, 1); err != nil {
				return err
			}
			start := time.Now()
			if err := execute(ctx, conn, refresh); err != nil {
				return err
			}
			if n >= warmCycles {
				*times = append(*times, milliseconds(start))
			}
		}
		return nil
	})
}
