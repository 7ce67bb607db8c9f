package demo

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	lookEvery = 100 * time.Millisecond
	// stalledAfter is how long nothing may happen while messages are pending. Retries and delays take a second at most.
	stalledAfter = 15 * time.Second
)

// Counts are of messages by state.
type Counts struct {
	Pending    int `json:"pending"`
	Processed  int `json:"processed"`
	DeadLetter int `json:"dead_letter"`
}

func (c Counts) settled() int { return c.Processed + c.DeadLetter }

// lookSQL compares statistics and messages at one moment: a statement has one snapshot.
const lookSQL = `
with counted as (
    select sum(s.pending) as pending, sum(s.processed) as processed, sum(s.dead_letter) as dead_letter
    from (
        select s.pending, s.processed, s.dead_letter from pgtrickle.order_events_stats s
        union all
        select s.pending, s.processed, s.dead_letter from pgtrickle.payments_stats s
    ) s
),
found as (
    select count(*) filter (where m.processed_at is null and m.retry_count < c.max_retries) as pending,
           count(*) filter (where m.processed_at is not null) as processed,
           count(*) filter (where m.processed_at is null and m.retry_count >= c.max_retries) as dead_letter
    from (
        select 'order_events' as inbox, m.processed_at, m.retry_count from pgtrickle.order_events m
        union all
        select 'payments', m.processed_at, m.retry_count from pgtrickle.payments m
    ) m
    join pgtrickle.pgt_inbox_config c on c.inbox_name = m.inbox
)
select coalesce(c.pending, 0)::bigint, coalesce(c.processed, 0)::bigint, coalesce(c.dead_letter, 0)::bigint,
       f.pending, f.processed, f.dead_letter
from counted c, found f`

// watcher looks at the inboxes while they are at work.
type watcher struct {
	total int             // events in the plan
	sent  <-chan struct{} // closed when writers are done
	show  display
	looks int // how often it looked
	wrong int // how often statistics and messages disagreed

}

// run looks again and again, until nothing is left but dead letters or nothing moves any more.
func (w *watcher) run(ctx context.Context, conn *pgx.Conn) error {
	last, moved := Counts{}, time.Now()
	for ctx.Err() == nil {
		allSent := closed(w.sent) // before looking, or what is sent in between would be missed
		began := time.Now()
		now, err := w.look(ctx, conn)
		if err != nil {
			return err
		}
		w.show.progress(now.settled(), w.total)
		if allSent && now.Pending == 0 {
			return nil
		}
		if now != last || !allSent {
			last, moved = now, time.Now()
		}
		if time.Since(moved) > stalledAfter {
			return nil
		}
		wait(ctx, max(lookEvery, 10*time.Since(began)))
	}
	return ctx.Err()
}

func (w *watcher) look(ctx context.Context, conn *pgx.Conn) (Counts, error) {
	var counted, found Counts
	err := conn.QueryRow(ctx, lookSQL).Scan(
		&counted.Pending, &counted.Processed, &counted.DeadLetter, &found.Pending, &found.Processed, &found.DeadLetter)
	w.looks++
	if counted != found {
		w.wrong++
	}
	return found, err
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
