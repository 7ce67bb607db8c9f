package main

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

var (
	//go:embed tpch/schema.sql
	tpchSchema string
	//go:embed tpch/data.sql
	tpchData string
	//go:embed tpch/queries.sql
	tpchQueries string
)

// tpchRates are the shares of all rows that change between two refreshes, and how many times faster than REFRESH the mean over the queries is to be.
var tpchRates = []struct {
	text  string
	share float64
	goal  float64 // 0: none
}{{"0.01%", 0.0001, 0}, {"0.1%", 0.001, 10}, {"1%", 0.01, 3}, {"10%", 0.1, 0}}

func tpchCases() []benchCase {
	var all []benchCase
	for _, r := range tpchRates {
		all = append(all, benchCase{tpchSection, r.text, func(ctx context.Context, b *bench) ([]row, error) { return b.tpch(ctx, r.text, r.share, r.goal) }})
	}
	return all
}

// tpchQuery is one of the queries, and what was measured of it.
type tpchQuery struct {
	name, sql          string
	ours, plain        []float64 // ms
	touched, recompute []float64 // tuples
	modes              map[string]int
}

// queriesOfTPCH takes their file apart.
func queriesOfTPCH() []*tpchQuery {
	var all []*tpchQuery
	for _, m := range regexp.MustCompile(`(?s)-- (q\d\d)\n(.*?);\n`).FindAllStringSubmatch(tpchQueries, -1) {
		all = append(all, &tpchQuery{name: m[1], sql: m[2], modes: map[string]int{}})
	}
	return all
}

// tpch changes a share of the rows, and brings a stream table in mode auto and a materialized view of each query up to date.
func (b *bench) tpch(ctx context.Context, rate string, share, goal float64) ([]row, error) {
	dsn, err := b.loadTPCH(ctx)
	if err != nil {
		return nil, err
	}
	queries := queriesOfTPCH()
	err = connected(ctx, dsn, func(conn *pgx.Conn) error {
		for round := range b.cfg.Rounds + 1 {
			b.offset++
			if err := execute(ctx, conn, fmt.Sprintf("call made.change(%g, %d)", share, b.offset)); err != nil {
				return err
			}
			for _, q := range queries {
				if err := q.measure(ctx, conn, round); err != nil {
					return err
				}
			}
		}
		return verifyTPCH(ctx, conn, queries)
	})
	if err == nil {
		err = vacuum(ctx, dsn)
	}
	return tpchRows(rate, goal, queries), err
}

// measure refreshes both, in turns. The first round lets the session plan what it plans once.
func (q *tpchQuery) measure(ctx context.Context, conn *pgx.Conn, round int) error {
	for i := range 2 {
		var took, tuples float64
		var err error
		if (i+round)%2 == 0 {
			var mode string
			took, tuples, err = touching(ctx, conn, "select mode from sl.refresh_stream_table('"+q.name+"')", &mode)
			if round > 0 {
				q.ours, q.touched = append(q.ours, took), append(q.touched, tuples)
				q.modes[mode]++
			}
		} else if took, tuples, err = touching(ctx, conn, "refresh materialized view plain_"+q.name, nil); round > 0 {
			q.plain, q.recompute = append(q.plain, took), append(q.recompute, tuples)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

// touching runs a statement in a transaction, and says how many milliseconds it took and how many tuples of tables it read and wrote.
func touching(ctx context.Context, conn *pgx.Conn, sql string, result *string) (took, tuples float64, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it was committed, or that error is the one
	// The view also counts what the session has not reported yet.
	count := func(tuples *float64) error {
		return tx.QueryRow(ctx, "select sum(seq_tup_read + coalesce(idx_tup_fetch, 0) + n_tup_ins + n_tup_upd + n_tup_del)::float8 from pg_stat_xact_user_tables").Scan(tuples)
	}
	before := 0.0
	if err := count(&before); err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if result == nil {
		_, err = tx.Exec(ctx, sql)
	} else {
		err = tx.QueryRow(ctx, sql).Scan(result)
	}
	took = milliseconds(start)
	if err == nil {
		err = count(&tuples)
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	return took, tuples - before, err
}

// loadTPCH makes the database once.
func (b *bench) loadTPCH(ctx context.Context) (dsn string, err error) {
	dsn = b.server.DSN("tpch", "synchronous_commit=off")
	if b.made["tpch"] {
		return dsn, nil
	}
	fmt.Fprintf(b.log, "    making database tpch, scale factor %g\n", b.cfg.TPCH)
	if err := connected(ctx, b.server.DSN("postgres"), func(conn *pgx.Conn) error { return execute(ctx, conn, "create database tpch") }); err != nil {
		return "", err
	}
	spec := "version: 1\nextension: {name: bench, version: 1.0.0, schema: sl}\nschema: [schema.sql]\nstream_tables:\n"
	for _, q := range queriesOfTPCH() {
		spec += fmt.Sprintf("  - name: %s\n    schedule: 1d\n    query: |\n      %s\n", q.name, strings.ReplaceAll(q.sql, "\n", "\n      "))
	}
	extension, err := extensionOf(map[string]string{"spec.yaml": spec, "schema.sql": tpchSchema})
	if err != nil {
		return "", err
	}
	b.made["tpch"] = true
	return dsn, connected(ctx, dsn, func(conn *pgx.Conn) error {
		for _, sql := range []string{tpchSchema, strings.ReplaceAll(tpchData, "{{.}}", fmt.Sprint(b.cfg.TPCH))} {
			if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
				return err
			}
		}
		if _, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{}); err != nil {
			return err
		}
		for _, q := range queriesOfTPCH() {
			if err := execute(ctx, conn, "create materialized view plain_"+q.name+" as "+q.sql); err != nil {
				return err
			}
		}
		return execute(ctx, conn, "vacuum analyze")
	})
}

// verifyTPCH compares what is stored with what the queries make; a limit may leave out different rows that are equal in the order.
func verifyTPCH(ctx context.Context, conn *pgx.Conn, queries []*tpchQuery) error {
	for _, q := range queries {
		var missing, extra int64
		if err := conn.QueryRow(ctx, "select missing, extra from sl.check_stream_table('"+q.name+"')").Scan(&missing, &extra); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		if missing+extra > 0 {
			return fmt.Errorf("%s: %d rows are missing, and %d are there that should not", q.name, missing, extra)
		}
	}
	return nil
}

func tpchRows(rate string, goal float64, queries []*tpchQuery) []row {
	var rows, touched []row
	logs := 0.0
	for _, q := range queries {
		mode := "differential"
		if q.modes["full"] > q.modes[mode] {
			mode = "full"
		}
		x := row{Case: fmt.Sprintf("%s %s, %s", rate, q.name, mode), Unit: "ms"}
		x.goal(atLeast(1))
		x.compare(q.ours, q.plain)
		y := row{Case: fmt.Sprintf("%s %s, tuples read and written", rate, q.name), Unit: "tuples"}
		y.compare(q.recompute, q.touched) // so that above 1 ours touches less
		y.Ours, y.Baseline = y.Baseline, y.Ours
		rows, touched = append(rows, x), append(touched, y)
		if x.Ratio != nil {
			logs += math.Log(x.Ratio.Median)
		}
	}
	mean := row{Case: rate + " geometric mean of the ratios", Unit: "times"}
	mean.Ratio = spreadOf([]float64{math.Exp(logs / float64(len(queries)))})
	mean.Ours = mean.Ratio
	if goal > 0 {
		mean.goal(atLeast(goal))
	}
	return append(append(rows, mean), touched...)
}
