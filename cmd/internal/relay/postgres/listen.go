package postgres

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Listener wakes those that wait for new rows of outboxes, over a connection of its own, which it opens when the first of them asks.
type Listener struct {
	mu      sync.Mutex
	asked   chan struct{}
	waiting map[string]map[string]chan struct{} // by the outbox's table and the consumer
}

// NewListener makes a listener, which Run runs.
func NewListener() *Listener {
	return &Listener{asked: make(chan struct{}), waiting: map[string]map[string]chan struct{}{}}
}

// wakes returns the channel of a consumer, which has an element when the outbox may have new rows.
func (l *Listener) wakes(outboxTable, consumer string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		close(l.asked)
	}
	if l.waiting[outboxTable] == nil {
		l.waiting[outboxTable] = map[string]chan struct{}{}
	}
	if l.waiting[outboxTable][consumer] == nil {
		l.waiting[outboxTable][consumer] = make(chan struct{}, 1)
	}
	return l.waiting[outboxTable][consumer]
}

// Run listens until ctx ends. Without a connection there are no wakes, and consumers poll.
func (l *Listener) Run(ctx context.Context, db *Database, log *slog.Logger) {
	select {
	case <-l.asked:
	case <-ctx.Done():
	}
	for pause := time.Second; ctx.Err() == nil; pause = min(2*pause, time.Minute) {
		began := time.Now()
		if err := l.listen(ctx, db); ctx.Err() == nil {
			log.Warn("no notifications; polling alone", "error", plain(err))
		}
		if time.Since(began) > time.Minute {
			pause = time.Second
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (l *Listener) listen(ctx context.Context, db *Database) error {
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, "listen pgtrickle_outbox_new"); err != nil {
		return err
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		l.wake(n.Payload)
	}
}

func (l *Listener) wake(outboxTable string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, wake := range l.waiting[outboxTable] {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}
