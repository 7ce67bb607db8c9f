package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// aggregates is how many the messages of the ordered inbox are about.
const aggregates = 10_000

// The plain table has what the reference's queries want.
const orderingSpec = `
version: 1
extension: {name: ordering, version: 1.0.0, schema: ordering}
inboxes:
  - {name: orders, ordering: {sequence: number}}
  - {name: visits}
`

// Two inboxes of which one hands out the messages of an aggregate in sequence. Neither has a scheduler during a turn.
var (
	ordered   = side{table: "ordering.orders", claim: "select * from ordering.inbox_claim('orders', $1)", mark: markIn("ordering.orders")}
	unordered = side{table: "ordering.visits", claim: "select * from ordering.inbox_claim('visits', $1)", mark: markIn("ordering.visits")}
)

const plainSequence = `
create table plain.sequence (
    event_id text primary key, event_type text, aggregate_id text, number bigint, payload jsonb, received_at timestamptz default now(), processed_at timestamptz
);
create index on plain.sequence (aggregate_id, number) where processed_at is null`

// orderingQueries are asked while a million messages wait; each tenth aggregate lacks a number. The plain ones follow the reference: DISTINCT ON for
// what is next, LEAD for gaps.
var orderingQueries = []query{
	{"first 100 of next_orders", "select * from ordering.next_orders limit 100",
		`select distinct on (aggregate_id) * from plain.sequence where processed_at is null order by aggregate_id, number limit 100`, 1, 0},
	{"all of next_orders", "select * from ordering.next_orders",
		`select distinct on (aggregate_id) * from plain.sequence where processed_at is null order by aggregate_id, number`, 0, 0},
	{"aggregates with gaps", "select distinct aggregate_id from ordering.gaps_orders",
		`select distinct aggregate_id from (select aggregate_id, number, lead(number) over (partition by aggregate_id order by number) as after
			from plain.sequence where processed_at is null) s where after > number + 1`, 10, 0},
}

func orderingCases() []benchCase {
	var all []benchCase
	for _, batch := range []int{100, 10, 1} {
		for _, workers := range []int{1, 10} {
			name := fmt.Sprintf("%s, batch %d, synchronous_commit off", plural(workers, "worker"), batch)
			all = append(all, benchCase{orderingSection, name, func(ctx context.Context, b *bench) ([]row, error) {
				return b.ordering(ctx, name, workers, batch)
			}})
		}
	}
	return append(all, benchCase{orderingSection, "next and gaps", func(ctx context.Context, b *bench) ([]row, error) { return b.nextAndGaps(ctx) }})
}

func (b *bench) ordering(ctx context.Context, name string, workers, batch int) ([]row, error) {
	result := row{Case: name, Unit: "messages/s"}
	if workers == 10 {
		result.goal(atLeast(0.8))
	}
	if err := b.order(ctx); err != nil {
		return nil, err
	}
	backlog := b.backlog(batch) / 3
	err := b.turns(&result, []side{ordered, unordered}, func(x side) (float64, error) {
		if err := b.fresh(ctx, ordered, unordered); err != nil {
			return 0, err
		}
		if err := b.loadOrdered(ctx, backlog, 0, x.table); err != nil {
			return 0, err
		}
		did, err := b.drain(ctx, x, workers, batch, "off", backlog)
		if err != nil {
			return 0, err
		}
		return did.perSecond, b.verifyMarked(ctx, x, did.total)
	})
	return []row{result}, err
}

// loadOrdered adds messages of all aggregates in turn, each in sequence. Where lacking is not 0, each tenth aggregate lacks that number.
func (b *bench) loadOrdered(ctx context.Context, messages, lacking int, tables ...string) error {
	return connected(ctx, b.dsn("synchronous_commit=off"), func(conn *pgx.Conn) error {
		for _, table := range tables {
			column, value := ", number", fmt.Sprintf(", 1 + i / %d", aggregates)
			if table == unordered.table {
				column, value = "", ""
			}
			statements := []string{
				fmt.Sprintf(`insert into %s (event_id, event_type, aggregate_id, payload%s)
					select 'evt_' || left(md5(i::text), 16), 'order.changed', 'order-' || i %% %d, '{"note": "%0*d"}'%s
					from generate_series(0, %d - 1) i where i %% 10 <> 0 or 1 + i / %[3]d <> %[7]d`,
					table, column, aggregates, b.cfg.Payload-minPayload, 0, value, messages, lacking),
				"vacuum analyze " + table,
			}
			if table == ordered.table {
				statements = append(statements, "vacuum analyze ordering_internal.orders_backlog")
			}
			if err := execute(ctx, conn, append(statements, "call ordering.tick()")...); err != nil {
				return err
			}
		}
		return execute(ctx, conn, "checkpoint")
	})
}

// nextAndGaps asks what is next and what is missing while a million messages wait.
func (b *bench) nextAndGaps(ctx context.Context) (rows []row, err error) {
	if err := b.order(ctx); err != nil {
		return nil, err
	}
	err = connected(ctx, b.dsn(), func(conn *pgx.Conn) error {
		if err := execute(ctx, conn, "drop table if exists plain.sequence", plainSequence); err != nil {
			return err
		}
		if err := b.fresh(ctx, ordered, unordered); err != nil {
			return err
		}
		messages := int(million * b.cfg.Backlog)
		if err := b.loadOrdered(ctx, messages, messages/aggregates/2, ordered.table, "plain.sequence"); err != nil {
			return err
		}
		for _, q := range orderingQueries {
			x := row{Case: fmt.Sprintf("%s, %s messages of %s aggregates", q.name, thousands(messages), thousands(aggregates)), Unit: "ms"}
			if q.goal > 0 {
				x.goal(below(q.goal))
			} else {
				x.goal(atLeast(4))
			}
			ours, plain, err := b.askBoth(ctx, conn, q)
			if err != nil {
				return err
			}
			x.compare(ours, plain)
			rows = append(rows, x)
		}
		return nil
	})
	return rows, err
}

// order installs the two inboxes, if this run has not.
func (b *bench) order(ctx context.Context) error {
	return connected(ctx, b.dsn(), func(conn *pgx.Conn) error {
		there := false
		if err := conn.QueryRow(ctx, "select to_regclass('ordering.orders') is not null").Scan(&there); err != nil || there {
			return err
		}
		extension, err := extensionOf(map[string]string{"spec.yaml": orderingSpec})
		if err != nil {
			return err
		}
		_, err = commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{})
		return err
	})
}
