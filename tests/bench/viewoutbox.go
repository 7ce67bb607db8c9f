package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// publications are how many rows a refresh changes, as its outbox counts them, and by how much that may take longer with the outbox.
var publications = []struct {
	rows   int
	what   string
	most   float64
	rounds int // for each of the run's
}{{10, "inline", 0.10, 20}, {10_000, "inline", 0.10, 4}, {11_000, "claim check", 0.25, 4}}

func tellCases() []benchCase {
	var all []benchCase
	for _, c := range classes[:3] {
		for _, x := range publications {
			name := fmt.Sprintf("%s/%s rows, %s", c.name, thousands(x.rows), x.what)
			all = append(all, benchCase{tellSection, name, func(ctx context.Context, b *bench) ([]row, error) {
				return b.published(ctx, name, c, x.rows, x.rounds*b.cfg.Rounds, x.most)
			}})
		}
	}
	return all
}

// published lets sales change and refreshes two stream tables of the same query, one of which has an outbox, by turns.
func (b *bench) published(ctx context.Context, name string, c class, rows, rounds int, most float64) ([]row, error) {
	dsn, err := b.views(ctx, "views_outbox_"+c.letter(), func(dsn string) error { return prepareTell(ctx, dsn, c) })
	if err != nil {
		return nil, err
	}
	var times [2][]float64
	err = connected(ctx, dsn, func(conn *pgx.Conn) error {
		for round := range rounds {
			err := execute(ctx, conn, fmt.Sprintf("update sale s set amount = 501 + (s.amount + 7) %% 499 from chosen c where c.id = s.id and c.no <= %d", rows/2))
			if err != nil {
				return err
			}
			for i := range 2 {
				side := (i + round) % 2
				start := time.Now()
				if err := execute(ctx, conn, "select * from sl.refresh_stream_table('sl."+[]string{"published", "unpublished"}[side]+"')"); err != nil {
					return err
				}
				if round > 1 { // plans are made
					times[side] = append(times[side], milliseconds(start))
				}
			}
			if err := verifyPublished(ctx, conn, rows); err != nil {
				return err
			}
			if err := execute(ctx, conn, "call sl.tick()"); err != nil { // prunes the log
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := row{Case: name, Unit: "ms"}
	r.goal(goal{fmt.Sprintf("overhead < %.0f %%", most*100), func(r row) bool { return r.Ours.Median < r.Baseline.Median*(1+most) }})
	r.compare(times[0], times[1])
	return []row{r}, vacuum(ctx, dsn)
}

// prepareTell installs the stream tables. Each chosen sale is in a bucket of its own.
func prepareTell(ctx context.Context, dsn string, c class) error {
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	query := "query: |\n      " + strings.ReplaceAll(c.query, "\n", "\n      ")
	text := "version: 1\nextension: {name: bench, version: 1.0.0, schema: sl}\nschema: [schema.sql]\nstream_tables:\n" +
		"  - name: published\n    schedule: 1d\n    outbox: true\n    " + query + "\n  - name: unpublished\n    schedule: 1d\n    " + query + "\n"
	if err := writeFiles(dir, map[string]string{"spec.yaml": text, "schema.sql": viewsDDL}); err != nil {
		return err
	}
	extension, err := compile(dir)
	if err != nil {
		return err
	}
	return connected(ctx, dsn, func(conn *pgx.Conn) error {
		if _, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{}); err != nil {
			return err
		}
		return execute(ctx, conn,
			"create table chosen as select min(id) as id, row_number() over (order by bucket) as no from sale where amount > 500 group by bucket",
			"vacuum analyze")
	})
}

// verifyPublished compares what the outbox published last.
func verifyPublished(ctx context.Context, conn *pgx.Conn, rows int) error {
	var published, kept int
	err := conn.QueryRow(ctx, `select e.inserted_count + e.deleted_count,
    coalesce(nullif((select count(*) from sl.outbox_delta_rows_published d where d.outbox_id = e.id), 0),
        jsonb_array_length(e.payload->'inserted') + jsonb_array_length(e.payload->'deleted'))
from sl.pgt_outbox_latest_published e`).Scan(&published, &kept)
	if err == nil && (published != rows || kept != rows) {
		err = fmt.Errorf("the outbox published %d rows and keeps %d, not %d", published, kept, rows)
	}
	return err
}
