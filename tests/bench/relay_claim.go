package main

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

const (
	claimRow  = 1024      // bytes of a row
	claimRows = 1_000_000 // of the large claim check, ten times those of the small one
)

const (
	claimDDL  = "create table items (id bigint primary key, pad text not null);\n"
	claimSpec = `version: 1
extension: {name: bench_claim, version: 1.0.0, schema: claim}
schema: [schema.sql]
stream_tables:
  - name: public.large
    refresh_mode: differential
    query: |
      SELECT id, pad FROM items
    outbox: true
`
)

// relayClaims measures how much memory the relay has that reads a claim check, the rows of one refresh.
func (b *bench) relayClaims(ctx context.Context) ([]row, error) {
	s, err := b.relayStage(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	extension, err := extensionOf(map[string]string{"spec.yaml": claimSpec, "schema.sql": claimDDL})
	if err != nil {
		return nil, err
	}
	var memory [2]float64
	for i, rows := range []int{claimRows / 10, claimRows} {
		err := connected(ctx, s.dsn, func(conn *pgx.Conn) error {
			if err := execute(ctx, conn, "drop schema if exists claim, claim_internal cascade", "drop table if exists items, large cascade", claimDDL); err != nil {
				return err
			}
			if _, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{}); err != nil {
				return err
			}
			return execute(ctx, conn, "select claim.create_consumer_group('g', 'large', 'earliest')",
				fmt.Sprintf("insert into items select i, repeat(md5(i::text), %d) from generate_series(1, %d) i", claimRow/32, rows), "select claim.refresh_stream_table('large')")
		})
		if err != nil {
			return nil, err
		}
		if _, memory[i], err = s.drain(ctx, "claim", 1, func() (*exec.Cmd, error) { return s.start(ctx, "claim", "large", "discard: ", relayBatch) }); err != nil {
			return nil, err
		}
	}
	flat := row{Case: fmt.Sprintf("memory over a claim check of %s rows of 1 KiB, against %s", thousands(claimRows), thousands(claimRows/10)), Unit: "MB"}
	flat.Ours, flat.Baseline = spreadOf(memory[1:]), spreadOf(memory[:1])
	flat.goal(goal{"<= 1.5 times", func(r row) bool { return r.Ours.Median <= 1.5*r.Baseline.Median }})
	return []row{flat}, nil
}
