package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// shares of the sales that change, as one in so many, and how many times faster than REFRESH the goal is.
var shares = []struct {
	text  string
	oneIn int
	goal  float64
}{{"0.01%", 10_000, 100}, {"0.1%", 1000, 20}, {"1%", 100, 8}, {"10%", 10, 1}}

func refreshCases() []benchCase {
	var all []benchCase
	for _, c := range classes {
		for _, s := range shares {
			name := c.name + "/" + s.text
			all = append(all, benchCase{refreshSection, name, func(ctx context.Context, b *bench) ([]row, error) {
				return b.refresh(ctx, name, c, s.oneIn, s.goal)
			}})
		}
	}
	return all
}

// refresh lets sales change, brings the stream table and two materialized views of the same query up to date, and compares. The session
// has refreshed before, as a scheduler's has.
func (b *bench) refresh(ctx context.Context, name string, c class, oneIn int, goal float64) ([]row, error) {
	dsn, err := b.views(ctx, "views_refresh_"+c.letter(), func(dsn string) error { return prepareRefresh(ctx, dsn, c) })
	if err != nil {
		return nil, err
	}
	ways := []string{"select * from sl.refresh_stream_table('" + c.stream() + "')",
		"refresh materialized view plain_view", "refresh materialized view concurrently other_view"}
	times := make([][]float64, len(ways))
	var first []float64
	for round := range b.cfg.Rounds {
		err := connected(ctx, dsn, func(conn *pgx.Conn) error {
			for _, warm := range []bool{false, true} {
				if err := b.change(ctx, conn, c, oneIn); err != nil {
					return err
				}
				for i := range ways {
					way := (i + round) % len(ways)
					if way > 0 && !warm || way == 2 && round > 0 && b.cfg.Sales > 200_000 {
						continue // the last takes most of the time, and is not what the goals are about
					}
					start := time.Now()
					if err := execute(ctx, conn, ways[way]); err != nil {
						return err
					}
					if took := milliseconds(start); warm {
						times[way] = append(times[way], took)
					} else {
						first = append(first, took)
					}
				}
			}
			return verifyRefresh(ctx, conn, c)
		})
		if err != nil {
			return nil, err
		}
		if err := vacuum(ctx, dsn); err != nil {
			return nil, err
		}
	}
	plain, other, cold := row{Case: name + " against REFRESH", Unit: "ms"}, row{Case: name + " against CONCURRENTLY", Unit: "ms"},
		row{Case: name + " in a new session", Unit: "ms"}
	plain.goal(atLeast(goal))
	plain.compare(times[0], times[1])
	other.compare(times[0], times[2])
	cold.compare(first, times[1])
	return []row{plain, other, cold}, nil
}

func prepareRefresh(ctx context.Context, dsn string, c class) error {
	if err := installViews(ctx, dsn, "auto", c); err != nil {
		return err
	}
	return connected(ctx, dsn, func(conn *pgx.Conn) error {
		for _, name := range []string{"plain_view", "other_view"} {
			if err := execute(ctx, conn, "create materialized view "+name+" as "+c.query, "create unique index on "+name+" ("+c.key+")"); err != nil {
				return err
			}
		}
		return execute(ctx, conn, "vacuum analyze")
	})
}

// change changes one in so many sales: a third is updated (of those, one in four moves to another bucket and customer), a third deleted,
// and as many are inserted. Of a joined dimension, a tenth of that share of rows changes.
func (b *bench) change(ctx context.Context, conn *pgx.Conn, c class, oneIn int) error {
	step := 3 * oneIn
	b.offset = (b.offset + 7) % step
	var last int64
	if err := conn.QueryRow(ctx, "select max(id) from sale").Scan(&last); err != nil {
		return err
	}
	statements := []string{
		fmt.Sprintf("delete from sale where id %% %d = %d", step, b.offset),
		fmt.Sprintf("update sale set amount = (amount + 1 + id %% 300) %% 1000 where id %% %d = %d and id %% 4 <> 0", step, (b.offset+1)%step),
		fmt.Sprintf("update sale set amount = (amount + 5) %% 1000, bucket = (bucket + 1) %% %d, customer_id = (customer_id + 1) %% %d where id %% %d = %d and id %% 4 = 0",
			buckets, customers, step, (b.offset+1)%step),
		insertSales(fmt.Sprint(last+1), fmt.Sprint(last+max(1, int64(b.cfg.Sales/step)))),
	}
	if c.joins() {
		statements = append(statements, fmt.Sprintf("update customer set name = name || 'x', city = (city + 1) %% %d where id %% %d = %d",
			cities, 10*oneIn, b.offset%(10*oneIn)))
	}
	return execute(ctx, conn, statements...)
}

// verifyRefresh compares all rows of the stream table with the query's.
func verifyRefresh(ctx context.Context, conn *pgx.Conn, c class) error {
	var differ int64
	err := conn.QueryRow(ctx, fmt.Sprintf(`select count(*) from ((table plain_view except all table %[1]s) union all (table %[1]s except all table plain_view)) d`,
		c.stream())).Scan(&differ)
	if err == nil && differ > 0 {
		err = fmt.Errorf("%s: %d rows differ from the query", c.name, differ)
	}
	return err
}

func milliseconds(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1000 }
