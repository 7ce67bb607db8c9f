package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
)

// Mode at_commit beside immediate: the same transactions of applications, which both maintain the same views.

// hotViews are those whose rows all writers change.
var hotViews = []class{classes[1], classes[2], classes[3], classes[4]}

// crossed are the tables and views of the measurement of deadlocks.
const (
	crossedTables = 5
	crossedViews  = 15
)

func commitCases() []benchCase {
	var all []benchCase
	for _, clients := range []int{1, 4, 8} {
		name := fmt.Sprintf("hot-rows/%d-clients", clients)
		all = append(all, benchCase{commitSection, name, func(ctx context.Context, b *bench) ([]row, error) { return b.hotRows(ctx, name, clients) }})
	}
	return append(all,
		benchCase{commitSection, "any-order/4-clients", func(ctx context.Context, b *bench) ([]row, error) { return b.anyOrder(ctx, 4) }},
		benchCase{commitSection, "one-table/4-clients", func(ctx context.Context, b *bench) ([]row, error) { return b.oneTable(ctx, 4) }},
	)
}

// hotRows measures transactions of three statements that change the same groups.
func (b *bench) hotRows(ctx context.Context, name string, clients int) ([]row, error) {
	work := func(ctx context.Context, conn *pgx.Conn) (int, error) {
		id := b.nextSale.Add(1) + int64(b.cfg.Sales)*10
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			for _, sql := range []string{
				"insert into sale select n, n % 5, n % 10, n % 10, n % 1000 from (select $1::bigint) x (n)", "update sale set amount = amount + 1 where id = $1",
				"update sale set bucket = (bucket + 1) % 10 where id = $1",
			} {
				if _, err := tx.Exec(ctx, sql, id); err != nil {
					return err
				}
			}
			return nil
		})
		return 1, err
	}
	rates := map[string][]float64{}
	for range b.cfg.Rounds {
		for _, mode := range []string{"at_commit", "immediate"} {
			dsn, err := b.views(ctx, "views_hot_"+mode, func(dsn string) error { return installViews(ctx, dsn, mode, hotViews...) })
			if err != nil {
				return nil, err
			}
			if err := vacuum(ctx, dsn); err != nil {
				return nil, err
			}
			did, err := (crew{dsn: dsn, clients: clients, work: work}).run(ctx, b.cfg.turn())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", mode, err)
			}
			rates[mode] = append(rates[mode], did.perSecond)
			for _, c := range hotViews {
				if err := verifyImmediate(ctx, dsn, c); err != nil {
					return nil, err
				}
			}
		}
	}
	x := row{Case: name, Unit: "transactions/s"}
	x.compare(rates["at_commit"], rates["immediate"])
	return []row{x}, nil
}

// crossedModes are how the views of the measurement of deadlocks are maintained; without any, writers meet nobody.
var crossedModes = []string{"at_commit", "immediate", "none"}

// anyOrder counts deadlocks where transactions write three of five tables, under fifteen views, in any order. Rows are each client's own.
func (b *bench) anyOrder(ctx context.Context, clients int) ([]row, error) {
	rates, shares, err := b.crossed(ctx, clients, func() []int { return rand.Perm(crossedTables)[:3] })
	if err != nil {
		return nil, err
	}
	rate := row{Case: "any-order, committed", Unit: "transactions/s"}
	rate.compare(rates["at_commit"], rates["immediate"])
	share := row{Case: "any-order, deadlocks", Unit: "% of transactions", Ours: spreadOf(shares["at_commit"]), Baseline: spreadOf(shares["immediate"])}
	share.Goal, share.met = "none", func(r row) bool { return r.Ours.Max == 0 }
	return []row{rate, share, {Case: "any-order, deadlocks without views", Unit: "% of transactions", Ours: spreadOf(shares["none"])}}, nil
}

// oneTable measures the same where each transaction writes one of the tables, any.
func (b *bench) oneTable(ctx context.Context, clients int) ([]row, error) {
	rates, _, err := b.crossed(ctx, clients, func() []int { return []int{rand.IntN(crossedTables)} })
	if err != nil {
		return nil, err
	}
	rate := row{Case: fmt.Sprintf("one-table/%d-clients", clients), Unit: "transactions/s"}
	rate.compare(rates["at_commit"], rates["immediate"])
	return []row{rate}, nil
}

// crossed lets transactions write the tables that choose names, in that order. It returns how many a second were committed, and the share of deadlocks.
func (b *bench) crossed(ctx context.Context, clients int, choose func() []int) (rates, shares map[string][]float64, err error) {
	rates, shares = map[string][]float64{}, map[string][]float64{}
	for range b.cfg.Rounds {
		for _, mode := range crossedModes {
			dsn, err := b.views(ctx, "views_crossed_"+mode, func(dsn string) error { return installCrossed(ctx, dsn, mode) })
			if err != nil {
				return nil, nil, err
			}
			var tried, deadlocks atomic.Int64
			did, err := (crew{dsn: dsn, clients: clients, work: func(ctx context.Context, conn *pgx.Conn) (int, error) {
				tried.Add(1)
				err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
					for _, n := range choose() {
						if _, err := tx.Exec(ctx, fmt.Sprintf("insert into t%d select n, n %% 20, 1 from (select $1::bigint) x (n)", n), b.nextCrossed.Add(1)); err != nil {
							return err
						}
					}
					return nil
				})
				var pg *pgconn.PgError
				if errors.As(err, &pg) && pg.Code == "40P01" {
					deadlocks.Add(1)
					return 0, nil
				}
				return 1, err
			}}).run(ctx, b.cfg.turn())
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", mode, err)
			}
			rates[mode] = append(rates[mode], did.perSecond)
			shares[mode] = append(shares[mode], 100*float64(deadlocks.Load())/float64(tried.Load()))
			for _, c := range crossedClasses(mode) {
				if err := verifyImmediate(ctx, dsn, c); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	return rates, shares, nil
}

// crossedClasses are joins of two tables each, and groups of such joins.
func crossedClasses(mode string) []class {
	var all []class
	if mode == "none" {
		return nil
	}
	for n := range crossedViews {
		from := fmt.Sprintf("from t%d a\njoin t%d b on b.g = a.g", n%crossedTables, (n+1+n/crossedTables)%crossedTables)
		query := "select a.g, count(*) as n, sum(a.v + b.v) as total\n" + from + "\nwhere a.id > 0\ngroup by a.g"
		if n%3 == 0 {
			query = "select a.id, b.id as other, a.v\n" + from + "\nwhere a.v > 5"
		}
		all = append(all, class{name: fmt.Sprintf("x%d-crossed", n), query: query})
	}
	return all
}

func installCrossed(ctx context.Context, dsn, mode string) error {
	var ddl, list strings.Builder
	for n := range crossedTables {
		fmt.Fprintf(&ddl, "create table t%[1]d (id bigint primary key, g integer not null, v integer not null);\ncreate index t%[1]d_g on t%[1]d (g);\n", n)
	}
	list.WriteString("version: 1\nextension: {name: bench, version: 1.0.0, schema: sl}\nschema: [schema.sql]\nstream_tables:\n")
	for _, c := range crossedClasses(mode) {
		fmt.Fprintf(&list, "  - name: %s\n    refresh_mode: %s\n    query: |\n      %s\n", c.letter(), mode, strings.ReplaceAll(c.query, "\n", "\n      "))
	}
	var extension *generator.Extension
	if mode != "none" {
		var err error
		if extension, err = extensionOf(map[string]string{"spec.yaml": list.String(), "schema.sql": ddl.String()}); err != nil {
			return err
		}
	}
	return connected(ctx, dsn, func(conn *pgx.Conn) error {
		if _, err := conn.PgConn().Exec(ctx, ddl.String()).ReadAll(); err != nil {
			return err
		}
		if extension == nil {
			return nil
		}
		if _, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{}); err != nil {
			return err
		}
		return execute(ctx, conn, "vacuum analyze")
	})
}
