package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// pollBatch is how many events a consumer asks for, and pollBatches where that is what is compared.
const pollBatch = 100

var pollBatches = []int{pollBatch, 1000}

// tickedBacklog is as much as a broker whose ticks cut batches is given: ticks for a million events would take longer than all else.
const tickedBacklog = 200_000

func outboxCases() []benchCase {
	var all []benchCase
	for _, commit := range commits {
		for _, rows := range []int{1, 100} {
			for _, clients := range []int{1, 4} {
				name := fmt.Sprintf("%s per transaction, %s, synchronous_commit %s", plural(rows, "event"), plural(clients, "client"), commit)
				all = append(all, benchCase{publishSection, name, func(ctx context.Context, b *bench) ([]row, error) {
					return b.publishing(ctx, name, rows, clients, commit)
				}})
			}
		}
		for _, backlog := range []int{10_000, million} {
			for _, consumers := range []int{1, 4, 10} {
				for _, batch := range pollBatches {
					name := fmt.Sprintf("%s, batch %d, %s events, synchronous_commit %s", plural(consumers, "consumer"), batch, thousands(backlog), commit)
					all = append(all, benchCase{consumeSection, name, func(ctx context.Context, b *bench) ([]row, error) {
						return b.consuming(ctx, name, polling{batch: batch, backlog: backlog, consumers: consumers, commit: commit})
					}})
				}
			}
		}
	}
	for _, backlog := range []int{10_000, million} {
		name := fmt.Sprintf("%s events", thousands(backlog))
		all = append(all, benchCase{pollSection, name, func(ctx context.Context, b *bench) ([]row, error) {
			return b.pollLatency(ctx, name, backlog)
		}})
	}
	return append(all, benchCase{pollSection, "behind an open old transaction", func(ctx context.Context, b *bench) (rows []row, err error) {
		err = b.behindOld(ctx, func() error {
			rows, err = b.consumingOverTime(ctx)
			return err
		})
		return rows, err
	}})
}

// payloadText is what each event holds.
func (b *bench) payloadText() string {
	return fmt.Sprintf(`{"note": "%s"}`, strings.Repeat("x", max(0, b.cfg.Payload-minPayload)))
}

// publishing compares what clients publish in a turn.
func (b *bench) publishing(ctx context.Context, name string, rows, clients int, commit string) ([]row, error) {
	brokers, err := b.available(ctx, sluice, bareOutbox, pgmq, pgq, pgque)
	if err != nil {
		return nil, err
	}
	payloads := make([]string, rows)
	for i := range payloads {
		payloads[i] = b.payloadText()
	}
	rates, err := b.rounds(brokers, func(x broker) (float64, error) {
		if err := b.empty(ctx, x); err != nil {
			return 0, err
		}
		c := crew{dsn: b.dsn("synchronous_commit=" + commit), clients: clients}
		c.work = func(ctx context.Context, conn *pgx.Conn) (int, error) {
			if rows == 1 {
				_, err := conn.Exec(ctx, x.publish, payloads[0])
				return 1, err
			}
			_, err := conn.Exec(ctx, x.many, payloads)
			return rows, err
		}
		did, err := c.run(ctx, b.cfg.turn())
		return did.perSecond, err
	})
	goals := map[string]goal{}
	if rows == 1 {
		goals[bareOutbox.name] = goal{"ratio >= 0.95", func(r row) bool { return r.Ratio.Median >= 0.95 }}
	}
	return against(name, "events/s", brokers, rates, goals), err
}

// rounds measures all brokers by turns.
func (b *bench) rounds(brokers []broker, measure func(broker) (float64, error)) ([][]float64, error) {
	figures := make([][]float64, len(brokers))
	for range b.cfg.Rounds {
		for i, x := range brokers {
			figure, err := measure(x)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.name, err)
			}
			figures[i] = append(figures[i], figure)
		}
	}
	return figures, nil
}

// against makes a row for each broker that the first is compared with.
func against(name, unit string, brokers []broker, figures [][]float64, goals map[string]goal) []row {
	var rows []row
	for i := 1; i < len(figures); i++ {
		r := row{Case: name + ", against " + brokers[i].name, Unit: unit}
		if g, ok := goals[brokers[i].name]; ok {
			r.goal(g)
		}
		r.compare(figures[0], figures[i])
		rows = append(rows, r)
	}
	return rows
}

// consumeGoals are those of the issue.
var consumeGoals = map[string]goal{pgmq.name: atLeast(5), pgq.name: atLeast(2), skipLocked.name: atLeast(1.5)}

// polling is how a backlog is consumed.
type polling struct {
	batch, backlog, consumers int
	commit                    string // synchronous_commit
}

// consuming compares how fast consumers get through a backlog.
func (b *bench) consuming(ctx context.Context, name string, how polling) ([]row, error) {
	peers := []broker{sluice, skipLocked, pgmq}
	if how.consumers == 1 {
		peers = append(peers, pgq)
	}
	brokers, err := b.available(ctx, peers...)
	if err != nil {
		return nil, err
	}
	rates, err := b.rounds(brokers, func(x broker) (float64, error) {
		how := how
		if len(x.ticks) > 0 {
			how.backlog = min(how.backlog, tickedBacklog)
		}
		if err := b.backlogOf(ctx, x, how.backlog, how.batch); err != nil {
			return 0, err
		}
		return b.consumed(ctx, x, how)
	})
	return against(name, "events/s", brokers, rates, consumeGoals), err
}

// backlogOf fills a broker, whose ticks, if it has any, cut what it holds into batches.
func (b *bench) backlogOf(ctx context.Context, x broker, events, batch int) error {
	if err := b.empty(ctx, x); err != nil {
		return err
	}
	return connected(ctx, b.dsn("synchronous_commit=off"), func(conn *pgx.Conn) error {
		chunk := 10_000
		if len(x.ticks) > 0 {
			chunk = batch
		}
		for left := events; left > 0; left -= chunk {
			if _, err := conn.Exec(ctx, x.load, min(left, chunk), b.payloadText()); err != nil {
				return err
			}
			if err := execute(ctx, conn, x.ticks...); err != nil {
				return err
			}
		}
		if x.tidy != "" {
			if err := execute(ctx, conn, x.tidy); err != nil {
				return err
			}
		}
		return execute(ctx, conn, "vacuum analyze", "checkpoint")
	})
}

// consumed is how many events a second consumers commit, until the time is up or most of the backlog is.
func (b *bench) consumed(ctx context.Context, x broker, how polling) (float64, error) {
	var named atomic.Int64
	c := crew{dsn: b.dsn("synchronous_commit=" + how.commit), clients: how.consumers, most: int64(how.backlog) * 4 / 5, cold: true}
	c.hire = func() func(ctx context.Context, conn *pgx.Conn) (int, error) {
		consumer := fmt.Sprintf("bench %d", named.Add(1))
		if x.name == pgq.name {
			return nextBatches()
		}
		return func(ctx context.Context, conn *pgx.Conn) (int, error) {
			return pollAndCommit(ctx, conn, x, how.batch, consumer)
		}
	}
	did, err := c.run(ctx, b.cfg.turn())
	return did.perSecond, err
}

// pollAndCommit is a consumer's round, without the work.
func pollAndCommit(ctx context.Context, conn *pgx.Conn, x broker, batch int, consumer string) (int, error) {
	if x.one {
		done := 0
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
			done, err = pollOnce(ctx, tx, x, batch, consumer)
			return err
		})
		return done, err
	}
	return pollOnce(ctx, conn, x, batch, consumer)
}

// asker is a connection or a transaction.
type asker interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func pollOnce(ctx context.Context, conn asker, x broker, batch int, consumer string) (int, error) {
	ids, err := polled(ctx, conn, x, batch, consumer)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	var offset any = ids[len(ids)-1]
	if x.byIDs {
		offset = ids
	}
	rows, err := conn.Query(ctx, x.commit, x.args(x.commit, offset, consumer)...)
	if err != nil {
		return 0, err
	}
	rows.Close()
	return len(ids), rows.Err()
}

// polled returns the ids; the rest arrives too, but nobody looks.
func polled(ctx context.Context, conn asker, x broker, batch int, consumer string) ([]int64, error) {
	rows, err := conn.Query(ctx, x.poll, x.args(x.poll, batch, consumer)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		values := rows.RawValues()
		var id int64
		for _, digit := range values[0] { // eight bytes, the highest first
			id = id<<8 | int64(digit)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// args are the parameters that a statement names.
func (x broker) args(sql string, first any, consumer string) []any {
	if strings.Contains(sql, "$2") {
		return []any{first, consumer}
	}
	return []any{first}
}

// nextBatches consumes PgQ, whose batches are made by ticks.
func nextBatches() func(ctx context.Context, conn *pgx.Conn) (int, error) {
	return func(ctx context.Context, conn *pgx.Conn) (int, error) {
		var batch *int64
		if err := conn.QueryRow(ctx, "select pgq.next_batch('bench', 'bench')").Scan(&batch); err != nil || batch == nil {
			return 0, err
		}
		rows, err := conn.Query(ctx, "select * from pgq.get_batch_events($1)", *batch)
		if err != nil {
			return 0, err
		}
		done := 0
		for rows.Next() {
			_ = rows.RawValues()
			done++
		}
		if err := rows.Err(); err != nil {
			return 0, err
		}
		_, err = conn.Exec(ctx, "select pgq.finish_batch($1)", *batch)
		return done, err
	}
}

// pollLatency measures single calls.
func (b *bench) pollLatency(ctx context.Context, name string, backlog int) ([]row, error) {
	brokers, err := b.available(ctx, sluice, pgmq)
	if err != nil {
		return nil, err
	}
	polls, commitTimes, lags := make([][]float64, len(brokers)), make([][]float64, len(brokers)), make([][]float64, len(brokers))
	for i, x := range brokers {
		if err := b.backlogOf(ctx, x, backlog, pollBatch); err != nil {
			return nil, err
		}
		err := connected(ctx, b.dsn("synchronous_commit=off"), func(conn *pgx.Conn) error {
			for n := range 80 {
				start := time.Now()
				ids, err := polled(ctx, conn, x, pollBatch, "bench")
				poll := milliseconds(start)
				if err != nil || len(ids) == 0 {
					return fmt.Errorf("%s gave no events: %w", x.name, err)
				}
				var offset any = ids[len(ids)-1]
				if x.byIDs {
					offset = ids
				}
				start = time.Now()
				if _, err := conn.Exec(ctx, x.commit, x.args(x.commit, offset, "bench")...); err != nil {
					return err
				}
				commit := milliseconds(start)
				start = time.Now()
				if _, err := conn.Exec(ctx, x.lag); err != nil {
					return err
				}
				if n >= 10 { // plans and caches are there
					polls[i], commitTimes[i] = append(polls[i], poll), append(commitTimes[i], commit)
					lags[i] = append(lags[i], milliseconds(start))
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	goals := map[string]goal{pgmq.name: atLeast(15)}
	rows := against(name+", poll", "ms", brokers, polls, goals)
	rows = append(rows, against(name+", commit", "ms", brokers, commitTimes, nil)...)
	lag := against(name+", lag", "ms", brokers, lags, map[string]goal{pgmq.name: below(1)})
	return append(rows, lag...), nil
}

// consumingOverTime compares the end with the start, with a publisher that goes on.
func (b *bench) consumingOverTime(ctx context.Context) ([]row, error) {
	brokers, err := b.available(ctx, sluice, skipLocked, pgmq)
	if err != nil {
		return nil, err
	}
	statement := int(10_000 * b.cfg.Backlog)
	for _, x := range brokers {
		if err := b.backlogOf(ctx, x, statement, pollBatch); err != nil {
			return nil, err
		}
	}
	rates := make([][]float64, len(brokers))
	for start := time.Now(); len(rates[0]) < 6 || time.Since(start) < b.cfg.whole(); {
		for i, x := range brokers {
			err := connected(ctx, b.dsn("synchronous_commit=off"), func(conn *pgx.Conn) error {
				for range 20 {
					if _, err := conn.Exec(ctx, x.load, statement, b.payloadText()); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			rate, err := b.consumed(ctx, x, polling{batch: pollBatch, backlog: 20 * statement, consumers: 4, commit: "off"})
			if err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], rate)
		}
	}
	var rows []row
	for i := 1; i < len(brokers); i++ {
		oursFirst, oursLast := thirds(rates[0])
		first, last := thirds(rates[i])
		r := row{Case: "behind an open old transaction, last / first third, against " + brokers[i].name, Unit: "ratio"}
		r.compare([]float64{median(oursLast) / median(oursFirst)}, []float64{median(last) / median(first)})
		r.goal(goal{Text: "ours >= 0.9", met: func(r row) bool { return r.Ours.Median >= 0.9 }})
		rows = append(rows, r)
	}
	return rows, nil
}
