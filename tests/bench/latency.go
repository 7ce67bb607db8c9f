package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// query is a question to both sides. What is asked of the plain table is what one would write without Sluice.
type query struct {
	name        string
	ours, plain string
	goal        float64 // milliseconds; 0: none
	goalFrom    int     // messages from which the goal counts
}

const (
	million   = 1_000_000
	deadEach  = 200 // one in so many messages is a dead letter
	isPending = "processed_at is null and retry_count < 3"
	isDead    = "processed_at is null and retry_count >= 3"

	plainPending = "select " + columns + " from plain.queue where " + isPending + " order by received_at limit 100"
	plainHealth  = `select count(*) filter (where ` + isPending + `), count(*) filter (where ` + isDead + `),
		extract(epoch from now() - min(received_at) filter (where ` + isPending + `)),
		avg(processed_at - received_at),
		count(*) filter (where processed_at > now() - interval '1 minute')
		from plain.queue`
)

var queries = []query{
	{"inbox_pending(100)", "select * from pgtrickle.inbox_pending('payments', 100)", plainPending, 1, million},
	{"first 100 of payments_pending", "select * from pgtrickle.payments_pending limit 100", plainPending, 1, million},
	{"payments_stats", "select * from pgtrickle.payments_stats",
		`select event_type, count(*) filter (where ` + isPending + `), count(processed_at), count(*) filter (where ` + isDead + `),
			avg(processed_at - received_at) from plain.queue group by event_type`, 5, 0},
	{"inbox_health", "select pgtrickle.inbox_health('payments')", plainHealth, 1, 0},
	{"inbox_status()", "select * from pgtrickle.inbox_status()", plainHealth, 0, 0},
	{"inbox_status(inbox)", "select pgtrickle.inbox_status('payments')", plainHealth, 0, 0},
}

func latencyCases() []benchCase {
	var all []benchCase
	for _, messages := range []int{100_000, million} {
		name := fmt.Sprintf("%s messages", thousands(messages))
		all = append(all, benchCase{latencySection, name, func(ctx context.Context, b *bench) ([]row, error) {
			return b.latency(ctx, messages)
		}})
	}
	return all
}

// latency asks all queries when everything is pending, and again when a tenth is.
func (b *bench) latency(ctx context.Context, messages int) ([]row, error) {
	messages = int(float64(messages) * b.cfg.Backlog)
	if err := b.fill(ctx, messages); err != nil {
		return nil, err
	}
	all, err := b.ask(ctx, messages, "all pending")
	if err != nil {
		return nil, err
	}
	if err := b.process(ctx, messages*9/10); err != nil {
		return nil, err
	}
	some, err := b.ask(ctx, messages, "10 % pending")
	return append(all, some...), err
}

// fill puts the messages into both tables; some of them die.
func (b *bench) fill(ctx context.Context, messages int) error {
	if err := b.fresh(ctx, ours, queue); err != nil {
		return err
	}
	for _, x := range []side{ours, queue} {
		if err := b.load(ctx, b.maker, x.table, messages); err != nil {
			return err
		}
		err := b.update(ctx, fmt.Sprintf(`update %s set retry_count = 3, error = 'no such account'
			where abs(hashtext(event_id) %% %d) = 0`, x.table, deadEach))
		if err != nil {
			return err
		}
	}
	return b.settle(ctx)
}

// process marks the oldest messages of both tables.
func (b *bench) process(ctx context.Context, messages int) error {
	for _, x := range []side{ours, queue} {
		err := b.update(ctx, fmt.Sprintf(`update %[1]s set processed_at = now() where processed_at is null and retry_count < 3
			and received_at < (select received_at from %[1]s order by received_at offset %[2]d limit 1)`, x.table, messages))
		if err != nil {
			return err
		}
	}
	return b.settle(ctx)
}

func (b *bench) update(ctx context.Context, sql string) error {
	return connected(ctx, b.dsn("synchronous_commit=off"), func(conn *pgx.Conn) error { return execute(ctx, conn, sql) })
}

// settle lets background work catch up: what is received before the second of a tick is settled by the tick after the next.
func (b *bench) settle(ctx context.Context) error {
	time.Sleep(time.Second)
	if err := b.tick(ctx, 3); err != nil {
		return err
	}
	return b.tidy(ctx, ours, queue)
}

// ask measures the queries on both sides by turns, for a turn's time each.
func (b *bench) ask(ctx context.Context, messages int, state string) (rows []row, err error) {
	err = connected(ctx, b.dsn(), func(conn *pgx.Conn) error {
		for _, q := range queries {
			x := row{Case: fmt.Sprintf("%s, %s messages, %s", q.name, thousands(messages), state), Unit: "ms"}
			if q.goal > 0 && messages >= q.goalFrom {
				x.goal(below(q.goal))
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

// askBoth asks until the time is up, but each side some times at least. The first answers warm up.
func (b *bench) askBoth(ctx context.Context, conn *pgx.Conn, q query) (ours, plain []float64, err error) {
	const warm, least = 3, 10
	for start := time.Now(); len(ours) < warm+least || time.Since(start) < b.cfg.turn(); {
		for range 5 {
			if ours, err = timed(ctx, conn, q.ours, ours); err != nil {
				return nil, nil, err
			}
		}
		if plain, err = timed(ctx, conn, q.plain, plain); err != nil {
			return nil, nil, err
		}
	}
	return ours[warm:], plain[min(warm, len(plain)-1):], nil
}

// timed adds the milliseconds that a query takes.
func timed(ctx context.Context, conn *pgx.Conn, sql string, sample []float64) ([]float64, error) {
	start := time.Now()
	rows, err := conn.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
	}
	return append(sample, float64(time.Since(start).Microseconds())/1000), rows.Err()
}

func thousands(n int) string {
	if n >= million {
		return fmt.Sprintf("%d,%03d,%03d", n/million, n/1000%1000, n%1000)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
