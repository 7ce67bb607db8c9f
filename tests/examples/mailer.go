package examples

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Leased is a message of an inbox and the lease under which it is held.
type Leased struct {
	Message
	Lease int64
}

// Mailer handles the messages of an inbox outside of transactions, such as by sending mail. Any number of them may work side by side.
type Mailer struct {
	DB         *pgxpool.Pool
	Inbox      string
	Batch      int           // the most messages that it holds at a time
	Visibility time.Duration // how long it holds them
	Pause      time.Duration // between claims that find nothing
	Send       func(ctx context.Context, m Message) error
}

// Run works until ctx ends. Messages that it holds then are claimed again when their leases end.
func (m *Mailer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		count, err := m.batch(ctx)
		if err != nil && ctx.Err() == nil {
			slog.Warn("messages are left to others", "inbox", m.Inbox, "error", err)
		}
		if err != nil || count == 0 {
			select {
			case <-ctx.Done():
			case <-time.After(m.Pause):
			}
		}
	}
}

// batch claims messages, and sends and marks one after the other.
func (m *Mailer) batch(ctx context.Context) (count int, err error) {
	const claim = `select event_id, event_type, payload, lease_id from pgtrickle.inbox_claim_lease($1, $2, $3)`
	rows, err := m.DB.Query(ctx, claim, m.Inbox, m.Batch, m.Visibility)
	if err != nil {
		return 0, err
	}
	messages, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Leased])
	if err != nil {
		return 0, err
	}
	for _, message := range messages {
		if err := m.one(ctx, message); err != nil {
			return len(messages), err
		}
	}
	return len(messages), nil
}

// one sends a message and marks it. If its lease is lost, the mark fails: another worker sends it, too.
func (m *Mailer) one(ctx context.Context, message Leased) error {
	if failure := m.Send(ctx, message.Message); failure != nil {
		_, err := m.DB.Exec(ctx, `select pgtrickle.inbox_mark_failed($1, $2, $3, $4)`, m.Inbox, message.ID, failure.Error(), message.Lease)
		return err
	}
	_, err := m.DB.Exec(ctx, `select pgtrickle.inbox_mark_processed($1, $2, $3)`, m.Inbox, message.ID, message.Lease)
	return err
}
