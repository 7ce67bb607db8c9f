package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// batchSize is how many messages a worker claims for one transaction.
const batchSize = 20

//go:embed effect.sql
var effectSQL string

// errPassing is what a flaky event fails with.
var errPassing = errors.New("the warehouse did not answer in time")

// worker claims messages, applies them to the shop and marks them, a batch in a transaction.
type worker struct {
	name    string
	conn    *pgx.Conn
	dsn     string // for tests that kill it
	plan    *Plan
	crashes *crashes
	dying   Crash // how this worker ends, once that is decided
}

// message is what a claim hands out.
type message struct {
	ID, Type, Payload string
	Failures          int
}

// batch processes up to batchSize messages of an inbox; it returns how many it found. A worker that dies on the way
// returns its Loss.
func (w *worker) batch(ctx context.Context, inbox string) (int, error) {
	var claimed []message
	err := pgx.BeginFunc(ctx, w.conn, func(tx pgx.Tx) (err error) {
		if claimed, err = claim(ctx, tx, inbox); err != nil {
			return err
		}
		for _, m := range claimed {
			if err := w.handle(ctx, tx, inbox, m); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case w.dying == "" || ctx.Err() != nil:
		return len(claimed), err
	case err == nil:
		return 0, fmt.Errorf("%s and committed all the same", w.dying)
	default:
		return 0, newLoss(w.name, w.dying, claimed)
	}
}

// claim takes messages for this transaction. Workers go through orders in the same order, or they would wait for each other in a circle.
func claim(ctx context.Context, tx pgx.Tx, inbox string) ([]message, error) {
	rows, err := tx.Query(ctx, `
		select c.event_id, c.event_type, c.payload::text, c.retry_count
		from pgtrickle.inbox_claim($1, $2) c
		order by c.aggregate_id, c.event_id`, inbox, batchSize)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[message])
}

// handle applies and marks one message. One that fails takes nothing but its own effect back.
func (w *worker) handle(ctx context.Context, tx pgx.Tx, inbox string, m message) error {
	err := pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error { return w.attempt(ctx, savepoint, inbox, m) })
	if err == nil || w.dying != "" || !blames(err) {
		return err
	}
	_, err = tx.Exec(ctx, `select pgtrickle.inbox_mark_failed($1, $2, $3)`, inbox, m.ID, err.Error())
	return err
}

func (w *worker) attempt(ctx context.Context, tx pgx.Tx, inbox string, m message) error {
	if _, err := tx.Exec(ctx, effectSQL, m.ID, m.Type, m.Payload, w.name); err != nil {
		return err
	}
	if m.Failures < w.plan.byID[m.ID].Fails {
		return errPassing
	}
	if w.dying = w.crashes.next(); w.dying != "" {
		if err := w.die(ctx); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `select pgtrickle.inbox_mark_processed($1, $2)`, inbox, m.ID)
	return err
}

// blames reports whether an error is the message's: its data is wrong, or what it needs is out of reach for now.
func blames(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23")
	}
	return errors.Is(err, errPassing)
}
