package main

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// A session's first statements decide on plans that it keeps: bulkRows in each of the first, then single rows.
const (
	bulkRows     = 100_000
	frozenCycles = 40
)

func frozenCases() []benchCase {
	var all []benchCase
	for _, c := range classes {
		all = append(all, benchCase{frozenSection, c.name, func(ctx context.Context, b *bench) ([]row, error) { return b.frozen(ctx, c) }})
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
