package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// rolledBack is how many publishers are rolled back beside one that stays, and measuredPolls how many polls are timed after them.
const (
	rolledBack    = 1000
	measuredPolls = 300
)

// gapCases measure polls of outboxes in which ids are missing that may still come.
func gapCases() []benchCase {
	var all []benchCase
	for _, x := range []gappy{{"shipping", "shop_events", "no order"}, {"ledger", "account_events", "order per key"}} {
		name := fmt.Sprintf("%s rolled-back publishers beside an idle one, %s", thousands(rolledBack), x.about)
		all = append(all, benchCase{pollSection, name, func(ctx context.Context, b *bench) ([]row, error) { return b.beside(ctx, name, x) }})
	}
	return all
}

// gappy is a group on an outbox of the sample.
type gappy struct{ group, outbox, about string }

// beside times polls, each of which finds an event and a gap before it, with and without an idle publisher; the one against the other.
func (b *bench) beside(ctx context.Context, name string, x gappy) ([]row, error) {
	if err := b.installBroker(ctx, sluice); err != nil {
		return nil, err
	}
	alone, err := b.gapPolls(ctx, x, false)
	if err != nil {
		return nil, err
	}
	beside, err := b.gapPolls(ctx, x, true)
	if err != nil {
		return nil, err
	}
	r := row{Case: name + ", against no idle one", Unit: "ms"}
	r.goal(below(2))
	r.compare(beside, alone)
	return []row{r}, nil
}

// gapPolls lets publishers roll back, with events between them, and returns how long the last polls take.
func (b *bench) gapPolls(ctx context.Context, x gappy, idle bool) (times []float64, err error) {
	publish := fmt.Sprintf("insert into events.outbox_%s (event_type, aggregate_id, payload) values ('bench', $1, $2::jsonb)", x.outbox)
	vain := fmt.Sprintf("begin; insert into events.outbox_%s (event_type, aggregate_id, payload) values ('bench', 'vain', '{}'); rollback", x.outbox)
	return times, connected(ctx, b.dsn("synchronous_commit=off"), func(stays *pgx.Conn) error {
		if err := execute(ctx, stays, "truncate events.outbox_"+x.outbox, fmt.Sprintf("select events.seek_offset('%s', 'bench', null)", x.group), "begin"); err != nil {
			return err
		}
		if idle {
			if _, err := stays.Exec(ctx, publish, "idle", "{}"); err != nil {
				return err
			}
		}
		return connected(ctx, b.dsn("synchronous_commit=off"), func(conn *pgx.Conn) error {
			for n := range rolledBack + measuredPolls {
				if err := execute(ctx, conn, vain); err != nil {
					return err
				}
				if _, err := conn.Exec(ctx, publish, fmt.Sprint("k", n%20), b.payloadText()); err != nil {
					return err
				}
				start := time.Now()
				ids, err := gapPoll(ctx, conn, x.group)
				if took := milliseconds(start); n >= rolledBack {
					times = append(times, took)
				}
				if err != nil || len(ids) != 1 {
					return fmt.Errorf("poll %d gave %d events: %w", n, len(ids), err)
				}
				if _, err := conn.Exec(ctx, "select events.commit_offset($1, 'bench', $2)", x.group, ids[0]); err != nil {
					return err
				}
				if n%200 == 0 { // as the scheduler does each second
					if err := execute(ctx, conn, "call events.tick()"); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}

func gapPoll(ctx context.Context, conn *pgx.Conn, group string) ([]int64, error) {
	rows, err := conn.Query(ctx, "select id from events.poll_outbox($1, 'bench', 100)", group)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}
