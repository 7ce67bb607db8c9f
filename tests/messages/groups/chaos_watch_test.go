package groups

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// chaosRow is an event as a consumer gets it.
type chaosRow struct {
	ID       int64
	Key      string
	Number   int64
	Attempts int
	Lease    int64
}

// delivery is the latest of an event.
type delivery struct {
	to       string
	at       time.Time // before the poll
	attempts int
	done     bool
}

// ledger knows each delivery.
type ledger struct {
	sync.Mutex
	rows       map[int64]delivery
	all, again int
}

// deliver notes rows that a poll returned. One may come again to the same name, or when its lease has run out, and never when it is committed.
func (l *ledger) deliver(rows []chaosRow, to string, at time.Time) error {
	l.Lock()
	defer l.Unlock()
	for _, r := range rows {
		was, again := l.rows[r.ID]
		switch {
		case again && was.done:
			return fmt.Errorf("%d comes again to %s, attempt %d, and was committed by %s", r.ID, to, r.Attempts, was.to)
		case again && was.to != to && time.Since(was.at) < visibility:
			return fmt.Errorf("%d comes to %s %v after %s was given it", r.ID, to, time.Since(was.at), was.to)
		case r.Attempts <= was.attempts:
			return fmt.Errorf("%d comes to %s in attempt %d after %d", r.ID, to, r.Attempts, was.attempts)
		}
		l.all++
		if again {
			l.again++
		}
		l.rows[r.ID] = delivery{to: to, at: at, attempts: r.Attempts}
	}
	return nil
}

// release notes that rows may come to anybody, in no later an attempt.
func (l *ledger) release(rows []chaosRow) {
	l.Lock()
	defer l.Unlock()
	for _, r := range rows {
		l.rows[r.ID] = delivery{attempts: r.Attempts - 1}
	}
}

func (l *ledger) commit(rows []chaosRow) {
	l.Lock()
	defer l.Unlock()
	for _, r := range rows {
		was := l.rows[r.ID]
		was.done = true
		l.rows[r.ID] = was
	}
}

// watch compares what a group reports of its lag with what was committed and has had no effect, in one snapshot.
func (c *chaos) watch(ctx context.Context, conn *pgx.Conn) error {
	count := fmt.Sprintf(`select l.lag_rows, (select count(*) from pgtrickle.outbox_%[1]s) - (select count(*) from effects), (select last_value from pgtrickle.outbox_%[1]s_ids), l.max_id - l.committed_offset
from pgtrickle.pgt_consumer_group_lag l where l.group_name = 'g'`, c.outbox)
	for {
		select {
		case <-c.over:
			return nil
		case <-time.After(5 * time.Millisecond):
		}
		var lag, behind, drawn, open int64
		if err := conn.QueryRow(ctx, count).Scan(&lag, &behind, &drawn, &open); err != nil {
			return err
		}
		c.looks.Add(1)
		// A backlog of a thousand rows and more is estimated: by ids, or in lanes by how dense they are.
		exact := behind < 1000 && lag < 1000
		if exact && lag != behind || !exact && !c.keyed && (lag < behind || lag > behind+drawn) || !exact && c.keyed && (lag < behind/4 || lag > 4*behind) {
			return fmt.Errorf("a lag of %d, and %d are committed and not handled", lag, behind)
		}
		if open < 0 || behind > 0 && open < behind {
			return fmt.Errorf("%d ids are not committed, and %d rows", open, behind)
		}
	}
}

// tick does background work.
func (c *chaos) tick(ctx context.Context, conn *pgx.Conn) error {
	for {
		select {
		case <-c.over:
			return nil
		case <-time.After(50 * time.Millisecond):
		}
		for _, sql := range []string{"update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'", "call pgtrickle.tick()"} {
			if err := c.try(ctx, conn, sql); err != nil {
				return err
			}
		}
	}
}

// kill ends the session of some consumer, whatever it does.
func (c *chaos) kill(ctx context.Context, conn *pgx.Conn) error {
	for {
		select {
		case <-c.over:
			return nil
		case <-time.After(60 * time.Millisecond):
		}
		err := c.try(ctx, conn, `select pg_terminate_backend(pid) from (
    select pid from pg_stat_activity where datname = current_database() and query ~ 'poll_outbox|commit_offset|ack_rows|release_rows|leave_group|handle' and pid <> pg_backend_pid() order by random() limit 1) s`)
		if err != nil {
			return err
		}
	}
}
