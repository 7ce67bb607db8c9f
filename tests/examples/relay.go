package examples

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Event is a row of an event outbox.
type Event struct {
	ID        int64
	CreatedAt time.Time
	Type      string
	Key       *string // aggregate_id
	Headers   json.RawMessage
	Payload   json.RawMessage
	Attempts  int
	LeaseID   int64
}

// Poison is the error of an event that no attempt can handle: it becomes a dead letter.
type Poison struct{ Err error }

func (p Poison) Error() string { return p.Err.Error() }
func (p Poison) Unwrap() error { return p.Err }

// Relay is one consumer of a group.
type Relay struct {
	DB       *pgxpool.Pool
	Group    string
	Consumer string        // its name, which no other process has at the same time: a host name, the number of a replica
	Batch    int           // the most rows of a poll
	Lease    time.Duration // the visibility timeout, in whole seconds
	Attempts int           // an event that fails so often becomes a dead letter
	Pause    time.Duration // between polls that find nothing
	Backoff  time.Duration // before events are tried again that failed
	Wake     <-chan struct{}
	Handle   func(ctx context.Context, tx pgx.Tx, e Event) error
}

// RunUntilSignal relays until the process is asked to stop.
func (r *Relay) RunUntilSignal() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	r.Run(ctx)
}

// Run relays until ctx ends. It then finishes the batch at hand: what it left would wait for its lease to run out.
func (r *Relay) Run(ctx context.Context) {
	work := context.WithoutCancel(ctx)
	var beat time.Time
	for ctx.Err() == nil {
		events, err := r.poll(work)
		if err == nil && len(events) > 0 {
			err = r.batch(work, events)
		}
		if err != nil { // the next poll brings the events again
			slog.Warn("events are tried again", "group", r.Group, "error", err)
			r.rest(ctx, r.Backoff)
			continue
		}
		if len(events) > 0 {
			continue
		}
		if time.Since(beat) > 20*time.Second { // polls that find nothing leave no trace
			beat = time.Now()
			_, _ = r.DB.Exec(work, `select events.consumer_heartbeat($1, $2)`, r.Group, r.Consumer)
		}
		r.rest(ctx, r.Pause)
	}
}

// poll is the first transaction: one statement, which commits by itself. What the consumer holds already comes again.
func (r *Relay) poll(ctx context.Context) ([]Event, error) {
	rows, err := r.DB.Query(ctx, `
		select id, created_at, event_type, aggregate_id, headers, payload, attempts, lease_id
		from events.poll_outbox($1, $2, $3, $4)`, r.Group, r.Consumer, r.Batch, int(r.Lease.Seconds()))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
}

// batch is the second transaction: the work, and the word that it is done.
func (r *Relay) batch(ctx context.Context, events []Event) error {
	lease := events[0].LeaseID // the same for all
	stop := r.hold(ctx, lease)
	defer stop()
	return pgx.BeginFunc(ctx, r.DB, func(tx pgx.Tx) error {
		for _, e := range events {
			// A savepoint: an event that fails takes back nothing but its own work.
			err := pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error { return r.Handle(ctx, savepoint, e) })
			var poison Poison
			if err != nil && (errors.As(err, &poison) || e.Attempts >= r.Attempts) {
				_, err = tx.Exec(ctx, `select events.reject_rows($1, $2, array[$3::bigint], $4, $5)`, r.Group, r.Consumer, e.ID, err.Error(), lease)
			}
			if err != nil {
				return err
			}
		}
		// If the rows went to another consumer, this fails, and the work is rolled back.
		_, err := tx.Exec(ctx, `select events.commit_offset($1, $2, $3, $4)`, r.Group, r.Consumer, events[len(events)-1].ID, lease)
		return err
	})
}

// hold extends the lease, over a connection of its own, until stop is called.
func (r *Relay) hold(ctx context.Context, lease int64) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(r.Lease / 3):
				_, _ = r.DB.Exec(ctx, `select events.extend_lease($1, $2, $3, $4), events.consumer_heartbeat($1, $2)`, r.Group, r.Consumer, int(r.Lease.Seconds()), lease)
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (r *Relay) rest(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-r.Wake:
	case <-time.After(pause):
	}
}

// Listen sends a word to wake when an outbox has new rows, until ctx ends. The connection is its own, and does not go through a pooler.
func Listen(ctx context.Context, conn *pgx.Conn, outboxTable string, wake chan<- struct{}) error {
	if _, err := conn.Exec(ctx, `listen pgtrickle_outbox_new`); err != nil {
		return err
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if n.Payload != outboxTable {
			continue
		}
		select {
		case wake <- struct{}{}:
		default: // it is awake
		}
	}
}
