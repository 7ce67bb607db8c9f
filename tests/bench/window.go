package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// remembered is how many ids the inbox with a window remembers, unlike those that come.
const remembered = 1_000_000

const windowSpec = `
version: 1
extension: {name: remembering, version: 1.0.0, schema: remembering}
inboxes:
  - {name: payments, dedup_window: 30d}
`

// windowed is an inbox like ours that remembers ids longer than messages.
var windowed = side{table: "remembering.payments"}

// windowCases are plain inserts into an inbox with a deduplication window, against the same inbox without.
func windowCases() []benchCase {
	var all []benchCase
	for _, rows := range []int{1, 100} {
		for _, clients := range []int{1, 4} {
			name := fmt.Sprintf("%s per statement, %s, synchronous_commit off", plural(rows, "row"), plural(clients, "client"))
			all = append(all, benchCase{windowSection, name, func(ctx context.Context, b *bench) ([]row, error) {
				return b.window(ctx, name, clients, rows)
			}})
		}
	}
	return all
}

func (b *bench) window(ctx context.Context, name string, clients, rows int) ([]row, error) {
	result := row{Case: name, Unit: "messages/s"}
	if err := b.remember(ctx); err != nil {
		return nil, err
	}
	without := side{table: ours.table} // neither has a scheduler
	err := b.turns(&result, []side{windowed, without}, func(x side) (float64, error) {
		if err := b.fresh(ctx, windowed, without); err != nil {
			return 0, err
		}
		if err := b.tidy(ctx, x); err != nil {
			return 0, err
		}
		return b.insertTurn(ctx, insertInto(x, rows), clients, rows, "off")
	})
	return []row{result}, err
}

// remember installs the inbox with a window, if this run has not, and lets it remember ids.
func (b *bench) remember(ctx context.Context) error {
	return connected(ctx, b.dsn(), func(conn *pgx.Conn) error {
		there := false
		if err := conn.QueryRow(ctx, "select to_regclass('remembering.payments') is not null").Scan(&there); err != nil || there {
			return err
		}
		extension, err := extensionOf(map[string]string{"spec.yaml": windowSpec})
		if err != nil {
			return err
		}
		if _, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{}); err != nil {
			return err
		}
		return execute(ctx, conn,
			fmt.Sprintf("insert into remembering_internal.payments_past_ids select 'evt_' || left(md5(i::text), 16), now() from generate_series(1, %d) i", remembered),
			"vacuum analyze remembering_internal.payments_past_ids")
	})
}
