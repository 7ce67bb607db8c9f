package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// insertGoal is that of the issue.
const insertGoal = 0.8

// insertCases are plain inserts that skip duplicates, and inbox_receive, against a bare table.
func insertCases() []benchCase {
	var all []benchCase
	add := func(name string, clients, rows int, commit string, receive bool) {
		all = append(all, benchCase{insertSection, name, func(ctx context.Context, b *bench) ([]row, error) {
			return b.insert(ctx, name, clients, rows, commit, receive)
		}})
	}
	for _, commit := range commits {
		for _, rows := range []int{1, 100} {
			for _, clients := range []int{1, 4} {
				name := fmt.Sprintf("%s per statement, %s, synchronous_commit %s", plural(rows, "row"), plural(clients, "client"), commit)
				add(name, clients, rows, commit, false)
			}
		}
		for _, clients := range []int{1, 4} {
			add(fmt.Sprintf("inbox_receive, %s, synchronous_commit %s", plural(clients, "client"), commit), clients, 1, commit, true)
		}
	}
	return all
}

// store is a way to store messages: the SQL, and whether it says how many were new in a row or in the command's tag.
type store struct {
	side
	sql     string
	receive bool
}

func insertInto(x side, rows int) store {
	sql := "insert into " + x.table + " (event_id, event_type, aggregate_id, payload) "
	if rows == 1 {
		sql += "values ($1, $2, $3, $4)"
	} else {
		sql += "select * from unnest($1::text[], $2::text[], $3::text[], $4::jsonb[])"
	}
	return store{side: x, sql: sql + " on conflict (event_id) do nothing"}
}

var receiveOurs = store{side: ours, receive: true,
	sql: "select pgtrickle.inbox_receive('payments', $1, $2, p_aggregate_id => $3, p_payload => $4::jsonb)"}

func (b *bench) insert(ctx context.Context, name string, clients, rows int, commit string, receive bool) ([]row, error) {
	result := row{Case: name, Unit: "messages/s"}
	stores := map[string]store{ours.table: insertInto(ours, rows), bare.table: insertInto(bare, rows)}
	if receive {
		stores[ours.table] = receiveOurs
	} else {
		result.goal(atLeast(insertGoal))
	}
	err := b.turns(&result, []side{ours, bare}, func(x side) (float64, error) {
		if err := b.fresh(ctx, ours, bare); err != nil {
			return 0, err
		}
		if err := b.tidy(ctx, x); err != nil {
			return 0, err
		}
		return b.insertTurn(ctx, stores[x.table], clients, rows, commit)
	})
	return []row{result}, err
}

// insertTurn lets clients insert for a turn, and compares what they heard with what is there.
func (b *bench) insertTurn(ctx context.Context, s store, clients, rows int, commit string) (float64, error) {
	var stored atomic.Int64
	c := crew{dsn: b.dsn("synchronous_commit=" + commit), clients: clients}
	c.work = func(ctx context.Context, conn *pgx.Conn) (int, error) {
		isNew, err := s.insert(ctx, conn, b.maker.batch(rows))
		stored.Add(isNew)
		return rows, err
	}
	var did turn
	err := b.scheduled(ctx, s.side, func() (err error) {
		did, err = c.run(ctx, b.cfg.turn())
		return err
	})
	if err != nil {
		return 0, err
	}
	found, err := b.count(ctx, "select count(*) from "+s.table)
	if err == nil && found != stored.Load() {
		err = fmt.Errorf("%s: the server said that it stored %d messages, the table has %d", s.table, stored.Load(), found)
	}
	return did.perSecond, err
}

// insert stores messages and returns how many were new.
func (s store) insert(ctx context.Context, conn *pgx.Conn, batch []message) (int64, error) {
	if s.receive {
		isNew := false
		x := batch[0]
		err := conn.QueryRow(ctx, s.sql, x.id, x.kind, x.aggregate, x.payload).Scan(&isNew)
		if isNew {
			return 1, err
		}
		return 0, err
	}
	tag, err := conn.Exec(ctx, s.sql, arguments(batch)...)
	return tag.RowsAffected(), err
}

// arguments are the columns of a batch: values of one message, arrays of several.
func arguments(batch []message) []any {
	if len(batch) == 1 {
		x := batch[0]
		return []any{x.id, x.kind, x.aggregate, x.payload}
	}
	var ids, kinds, aggregates, payloads []string
	for _, x := range batch {
		ids, kinds = append(ids, x.id), append(kinds, x.kind)
		aggregates, payloads = append(aggregates, x.aggregate), append(payloads, x.payload)
	}
	return []any{ids, kinds, aggregates, payloads}
}
