package examples

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Message is a message of an inbox.
type Message struct {
	ID      string // event_id
	Type    string
	Payload json.RawMessage
}

// Worker processes the messages of an inbox. Any number of them may work side by side.
type Worker struct {
	DB     *pgxpool.Pool
	Inbox  string
	Batch  int           // the most messages of a transaction
	Pause  time.Duration // between claims that find nothing
	Handle func(ctx context.Context, tx pgx.Tx, m Message) error
}

// Run works until ctx ends. It then finishes the batch at hand.
func (w *Worker) Run(ctx context.Context) {
	for ctx.Err() == nil {
		count, err := w.batch(context.WithoutCancel(ctx))
		if err != nil { // nothing of the batch was done: the messages are claimed again
			slog.Warn("a batch was rolled back", "inbox", w.Inbox, "error", err)
		}
		if err != nil || count == 0 {
			select {
			case <-ctx.Done():
			case <-time.After(w.Pause):
			}
		}
	}
}

// batch claims, works and marks in one transaction. It returns the number of messages claimed.
func (w *Worker) batch(ctx context.Context) (count int, err error) {
	err = pgx.BeginFunc(ctx, w.DB, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `select event_id, event_type, payload from pgtrickle.inbox_claim($1, $2)`, w.Inbox, w.Batch)
		if err != nil {
			return err
		}
		messages, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Message])
		count = len(messages)
		for _, m := range messages {
			if err := w.one(ctx, tx, m); err != nil {
				return err
			}
		}
		return err
	})
	return count, err
}

// one works on a message and marks it. The savepoint takes back the work of a message that fails, and keeps its claim.
func (w *Worker) one(ctx context.Context, tx pgx.Tx, m Message) error {
	failure := pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error { return w.Handle(ctx, savepoint, m) })
	if failure != nil {
		_, err := tx.Exec(ctx, `select pgtrickle.inbox_mark_failed($1, $2, $3)`, w.Inbox, m.ID, failure.Error())
		return err
	}
	_, err := tx.Exec(ctx, `select pgtrickle.inbox_mark_processed($1, $2)`, w.Inbox, m.ID)
	return err
}
