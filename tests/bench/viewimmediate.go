package main

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// immediateLoads are statements of so many rows by so many clients, with the goal for the geometric mean of pg_ivm's overhead through ours.
var immediateLoads = []struct {
	rows, clients int
	mean          float64
}{{1, 1, 8}, {100, 1, 3}, {10_000, 1, 5}, {1, 4, 0}}

func immediateCases() []benchCase {
	var all []benchCase
	for _, load := range immediateLoads {
		suffix := "/" + fmt.Sprint(load.rows)
		if load.clients > 1 {
			suffix += fmt.Sprintf("/%d-clients", load.clients)
		}
		for _, c := range classes {
			name := c.name + suffix
			all = append(all, benchCase{immediateSection, name, func(ctx context.Context, b *bench) ([]row, error) {
				return b.immediate(ctx, name, c, load.rows, load.clients)
			}})
		}
		if load.mean > 0 {
			name := "mean" + suffix
			all = append(all, benchCase{immediateSection, name, func(ctx context.Context, b *bench) ([]row, error) {
				return b.meanOverhead(name, load.rows, load.mean), nil
			}})
		}
	}
	return all
}

// immediate measures statements on a table that a view follows: the stream table, none, and pg_ivm's where the server has it.
func (b *bench) immediate(ctx context.Context, name string, c class, rows, clients int) ([]row, error) {
	dsns, err := b.immediateSides(ctx, c)
	if err != nil {
		return nil, err
	}
	measure := b.cycles
	if clients > 1 {
		measure = func(ctx context.Context, dsns []string, rows int) ([]cycleTimes, error) {
			return b.crewCycles(ctx, dsns, rows, clients)
		}
	}
	times, err := measure(ctx, dsns, rows)
	if err != nil {
		return nil, err
	}
	if err := verifyImmediate(ctx, dsns[0], c); err != nil {
		return nil, err
	}
	whole := row{Case: name, Unit: "µs"}
	whole.compare(times[0].means, times[1].means)
	for i, kind := range cycleKinds {
		fmt.Fprintf(b.log, "    %s: %.0f µs, without view %.0f\n", kind, median(times[0].kinds[i]), median(times[1].kinds[i]))
	}
	overhead := row{Case: name + " overhead", Unit: "µs"}
	ours := times[0].typical() - times[1].typical()
	if len(times) < 3 {
		overhead.Ours = spreadOf([]float64{ours})
		return []row{whole, overhead}, nil
	}
	theirs := times[2].typical() - times[1].typical()
	overhead.compare([]float64{ours}, []float64{theirs})
	overhead.goal(atLeast(1))
	if clients == 1 {
		b.overheads[rows] = append(b.overheads[rows], theirs/ours)
	}
	return []row{whole, overhead}, nil
}

// immediateSides are the databases: with the stream table, without, with pg_ivm's view.
func (b *bench) immediateSides(ctx context.Context, c class) ([]string, error) {
	ours, err := b.views(ctx, "views_now_"+c.letter(), func(dsn string) error { return installViews(ctx, dsn, "immediate", c) })
	if err != nil {
		return nil, err
	}
	plain, err := b.views(ctx, viewsPlain, nil)
	if err != nil {
		return nil, err
	}
	available, err := b.count(ctx, "select count(*) from pg_available_extensions where name = 'pg_ivm'")
	if err != nil || available == 0 {
		return []string{ours, plain}, err
	}
	name := "views_ivm_" + c.letter()
	theirs, err := b.views(ctx, name, func(dsn string) error { return installIvm(ctx, dsn, name, c) })
	return []string{ours, plain, theirs}, err
}

// installIvm makes pg_ivm's view, with an index where it says that one should be made by hand; where its functions are depends on its version.
func installIvm(ctx context.Context, dsn, name string, c class) error {
	return connected(ctx, dsn, func(conn *pgx.Conn) error {
		err := execute(ctx, conn, "create extension pg_ivm", "alter database "+name+" set session_preload_libraries = 'pg_ivm'", "load 'pg_ivm'")
		if err != nil {
			return err
		}
		var schema string
		err = conn.QueryRow(ctx, "select pronamespace::regnamespace::text from pg_proc where proname = 'create_immv'").Scan(&schema)
		if err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, "select "+schema+".create_immv('theirs', $1)", c.query); err != nil {
			return err
		}
		var indexed bool
		err = conn.QueryRow(ctx, "select exists (select from pg_index where indrelid = 'theirs'::regclass)").Scan(&indexed)
		if err == nil && !indexed {
			err = execute(ctx, conn, "create unique index on theirs ("+c.key+")")
		}
		if err != nil {
			return err
		}
		return execute(ctx, conn, "vacuum analyze")
	})
}

// crewCycles lets several clients do cycles at once; a statement's time is what all of them get done, as if each waited for it alone.
func (b *bench) crewCycles(ctx context.Context, dsns []string, rows, clients int) ([]cycleTimes, error) {
	times := make([]cycleTimes, len(dsns))
	for range b.cfg.Rounds {
		for i, dsn := range dsns {
			if err := vacuum(ctx, dsn); err != nil {
				return nil, err
			}
			var done atomic.Int64
			c := crew{dsn: dsn, clients: clients, work: func(ctx context.Context, conn *pgx.Conn) (int, error) {
				_, err := b.cycle(ctx, conn, rows)
				done.Add(1)
				return len(cycleKinds), err
			}}
			did, err := c.run(ctx, b.cfg.turn())
			if err != nil {
				return nil, err
			}
			if n := b.again.Swap(0); n > 0 && i < 2 {
				return nil, fmt.Errorf("%d statements met a tuple concurrently updated", n)
			} else if n > 0 {
				fmt.Fprintf(b.log, "    pg_ivm: %d of %d statements failed (tuple concurrently updated) and were tried again\n", n, n+did.total)
			}
			each := 1e6 * float64(clients) / did.perSecond
			times[i].add([3]float64{each, each, each})
		}
	}
	return times, nil
}

// verifyImmediate compares the stream table with its query.
func verifyImmediate(ctx context.Context, dsn string, c class) error {
	return connected(ctx, dsn, func(conn *pgx.Conn) error {
		var differ int64
		err := conn.QueryRow(ctx, fmt.Sprintf("select count(*) from ((%[1]s except all table %[2]s) union all (table %[2]s except all %[1]s)) d",
			"("+c.query+")", c.stream())).Scan(&differ)
		if err == nil && differ > 0 {
			err = fmt.Errorf("%s: %d rows differ from the query", c.name, differ)
		}
		return err
	})
}

// meanOverhead is the geometric mean over the classes that were measured; nothing without pg_ivm.
func (b *bench) meanOverhead(name string, rows int, goal float64) []row {
	sum, n := 0.0, 0
	for _, ratio := range b.overheads[rows] {
		if ratio > 0 {
			sum, n = sum+math.Log(ratio), n+1
		}
	}
	if n == 0 {
		fmt.Fprintln(b.log, "    no figures of pg_ivm")
		return nil
	}
	x := row{Case: fmt.Sprintf("%s of %d classes", name, n), Unit: "ratio", Ours: spreadOf([]float64{math.Exp(sum / float64(n))})}
	x.Ratio = x.Ours
	x.goal(atLeast(goal))
	return []row{x}
}
