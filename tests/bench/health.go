package main

import (
	"context"
	"fmt"
)

// causes are what should make health say degraded, in one statement each.
var causes = []struct{ name, sql string }{
	{"a message that waits for 31 s", `insert into pgtrickle.payments (event_id, event_type, payload, received_at)
		values ('old', 'payment.kind_0', '{}', now() - interval '31 seconds')`},
	{"ten dead letters", `insert into pgtrickle.payments (event_id, event_type, payload, retry_count)
		select 'dead ' || n, 'payment.kind_0', '{}', 3 from generate_series(1, 10) n`},
	{"10,000 pending messages", `insert into pgtrickle.payments (event_id, event_type, payload)
		select 'new ' || n, 'payment.kind_0', '{}' from generate_series(1, 10000) n`},
}

const mostTicks = 10

func healthCases() []benchCase {
	var all []benchCase
	for _, cause := range causes {
		all = append(all, benchCase{healthSection, "degraded after " + cause.name, func(ctx context.Context, b *bench) ([]row, error) {
			ticks, err := b.untilDegraded(ctx, cause.sql)
			result := row{Case: "degraded after " + cause.name, Unit: "ticks", Ours: spreadOf([]float64{ticks})}
			result.goal(goal{Text: "<= 2", met: func(r row) bool { return r.Ours.Median <= 2 }})
			return []row{result}, err
		}})
	}
	return all
}

// untilDegraded returns how many ticks it takes from the cause until health speaks of it.
func (b *bench) untilDegraded(ctx context.Context, cause string) (float64, error) {
	if err := b.fresh(ctx, ours); err != nil {
		return 0, err
	}
	if err := b.tick(ctx, 2); err != nil {
		return 0, err
	}
	if degraded, err := b.degraded(ctx); err != nil || degraded {
		return 0, fmt.Errorf("degraded without a cause (%v): %w", degraded, err)
	}
	if err := b.update(ctx, cause); err != nil {
		return 0, err
	}
	for ticks := range mostTicks {
		if degraded, err := b.degraded(ctx); err != nil || degraded {
			return float64(ticks), err
		}
		if err := b.tick(ctx, 1); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("not degraded after %d ticks", mostTicks)
}

func (b *bench) degraded(ctx context.Context) (bool, error) {
	n, err := b.count(ctx, `select count(*) from (select pgtrickle.inbox_health('payments') ->> 'status' as s) h where s = 'degraded'`)
	return n == 1, err
}
