package examples

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os/signal"
	"strconv"
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
}

// Poison is the error of an event that no attempt can handle: it becomes a dead letter.
type Poison struct{ Err error }

func (p Poison) Error() string { return p.Err.Error() }
func (p Poison) Unwrap() error { return p.Err }

// ErrLeaseLost says that the rows went to another consumer, who handles them: roll back.
var ErrLeaseLost = errors.New("lease lost")

// Relay is one consumer of a group.
type Relay struct {
	DB       *pgxpool.Pool
	Group    string
	Consumer string        // what its names begin with: host name and process id
	Batch    int           // the most rows of a poll
	Lease    time.Duration // the visibility timeout, in whole seconds
	Attempts int           // an event that fails so often becomes a dead letter
	Pause    time.Duration // between polls that find nothing
	Wake     <-chan struct{}
	Handle   func(ctx context.Context, tx pgx.Tx, e Event) error

	name string // of this life
}

// rename begins a new life. A commit ends all that was granted under a name, up to its offset: whoever has left a batch undone, or does not
// know what a poll granted, must not commit later rows under the same name. What he left comes again when its lease has run out.
func (r *Relay) rename() {
	r.name = r.Consumer + "." + strconv.FormatUint(rand.Uint64(), 36)
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
	r.rename()
	for ctx.Err() == nil {
		events, err := r.poll(work)
		if err == nil && len(events) > 0 {
			err = r.batch(work, events)
		}
		if err != nil {
			slog.Warn("events come again when their lease has run out", "group", r.Group, "error", err)
			r.rename()
		}
		if err == nil && len(events) > 0 {
			continue
		}
		if time.Since(beat) > 20*time.Second { // polls that find nothing leave no trace
			beat = time.Now()
			r.DB.Exec(work, `select events.consumer_heartbeat($1, $2)`, r.Group, r.name)
		}
		r.rest(ctx)
	}
}

// poll is the first transaction: one statement, which commits by itself.
func (r *Relay) poll(ctx context.Context) ([]Event, error) {
	rows, err := r.DB.Query(ctx, `
		select id, created_at, event_type, aggregate_id, headers, payload, attempts
		from events.poll_outbox($1, $2, $3, $4)`, r.Group, r.name, r.Batch, int(r.Lease.Seconds()))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
}

// batch is the second transaction: the work, and the word that it is done.
func (r *Relay) batch(ctx context.Context, events []Event) error {
	stop := r.hold(ctx)
	defer stop()
	return pgx.BeginFunc(ctx, r.DB, func(tx pgx.Tx) error {
		handled := 0
		for _, e := range events {
			// A savepoint: an event that fails takes back nothing but its own work.
			err := pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error { return r.Handle(ctx, savepoint, e) })
			var poison Poison
			switch {
			case err == nil:
				handled++
			case errors.As(err, &poison), e.Attempts >= r.Attempts:
				err = r.reject(ctx, tx, e.ID, err)
			}
			if err != nil {
				return err
			}
		}
		if handled == 0 {
			return nil // all were rejected: there is nothing left to commit
		}
		var committed int64
		err := tx.QueryRow(ctx, `select events.commit_offset($1, $2, $3)`, r.Group, r.name, events[len(events)-1].ID).Scan(&committed)
		if err == nil && committed == 0 {
			err = ErrLeaseLost
		}
		return err
	})
}

func (r *Relay) reject(ctx context.Context, tx pgx.Tx, id int64, why error) error {
	var count int
	err := tx.QueryRow(ctx, `select events.reject_rows($1, $2, array[$3::bigint], $4)`, r.Group, r.name, id, why.Error()).Scan(&count)
	if err == nil && count == 0 {
		err = ErrLeaseLost
	}
	return err
}

// hold extends the lease, over a connection of its own, until stop is called.
func (r *Relay) hold(ctx context.Context) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(r.Lease / 3):
				r.DB.Exec(ctx, `select events.extend_lease($1, $2, $3), events.consumer_heartbeat($1, $2)`, r.Group, r.name, int(r.Lease.Seconds()))
			}
		}
	}()
	return func() { close(done); <-ended }
}

func (r *Relay) rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-r.Wake:
	case <-time.After(r.Pause):
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
