package groups

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/trouble"
)

// chaosRow is an event as a consumer gets it.
type chaosRow struct {
	ID       int64
	Key      string
	Number   int64
	Killer   int64 // its number, if it kills
	Attempts int
	Lease    int64
}

// identity is what an event is known by: ids come again when the sequence is set back.
type identity struct {
	key            string
	number, killer int64
}

func (r chaosRow) identity() identity { return identity{r.Key, r.Number, r.Killer} }

// delivery is the latest of an event.
type delivery struct {
	to       string
	at       time.Time // before the poll
	attempts int
	doubts   int  // of the ledger
	back     bool // given back, perhaps with an attempt
	done     bool
}

// ledger knows each delivery.
type ledger struct {
	sync.Mutex
	rows       map[identity]delivery
	held       map[string][]identity
	all, again int64
	doubts     int // polls whose clients died before they knew whether they had committed
}

// ask notes that a consumer polls: what it holds comes to it again, or may come to anybody.
func (l *ledger) ask(name string) {
	l.Lock()
	defer l.Unlock()
	for _, id := range l.held[name] {
		if was := l.rows[id]; was.to == name && !was.done {
			was.to = ""
			l.rows[id] = was
		}
	}
	delete(l.held, name)
}

// deliver notes rows that a poll returned and that it has committed. One that somebody holds comes when its lease has run out, and never when it is
// committed. Each time is one attempt more, and in the second half of them it is alone.
func (l *ledger) deliver(rows []chaosRow, to string, at time.Time) error {
	l.Lock()
	defer l.Unlock()
	for _, r := range rows {
		was, again := l.rows[r.identity()]
		switch {
		case again && was.done:
			return fmt.Errorf("%d, %v comes again to %s, attempt %d, and was committed by %s", r.ID, r.identity(), to, r.Attempts, was.to)
		case was.to != "" && time.Since(was.at) < visibility:
			return fmt.Errorf("%d comes to %s %v after %s was given it", r.ID, to, time.Since(was.at), was.to)
		case r.Attempts <= was.attempts:
			return fmt.Errorf("%d comes to %s in attempt %d after %d", r.ID, to, r.Attempts, was.attempts)
		case !was.back && r.Attempts > was.attempts+1+l.doubts-was.doubts:
			return fmt.Errorf("%d comes to %s in attempt %d after %d: one that was rolled back counts", r.ID, to, r.Attempts, was.attempts)
		case r.Attempts > alone && len(rows) > 1 || r.Attempts > attempts:
			return fmt.Errorf("%d comes to %s in attempt %d, with %d others", r.ID, to, r.Attempts, len(rows)-1)
		}
		l.all++
		if again {
			l.again++
		}
		l.held[to] = append(l.held[to], r.identity())
		l.rows[r.identity()] = delivery{to: to, at: at, attempts: r.Attempts, doubts: l.doubts}
	}
	return nil
}

// doubt notes that rows may have been granted to a client that does not know.
func (l *ledger) doubt() {
	l.Lock()
	defer l.Unlock()
	l.doubts++
}

// release notes that rows may come to anybody, in no later an attempt.
func (l *ledger) release(rows []chaosRow) {
	l.Lock()
	defer l.Unlock()
	for _, r := range rows {
		l.rows[r.identity()] = delivery{attempts: r.Attempts - 1, back: true}
	}
}

// count is how many deliveries there were.
func (l *ledger) count() int64 {
	l.Lock()
	defer l.Unlock()
	return l.all
}

func (l *ledger) commit(rows []chaosRow) {
	l.Lock()
	defer l.Unlock()
	for _, r := range rows {
		was := l.rows[r.identity()]
		was.done = true
		l.rows[r.identity()] = was
	}
}

// watch compares what a group reports of its lag with what was committed, has had no effect and is no dead letter, in one snapshot. While the sequence
// is set back, what comes of that is not counted yet.
func (c *chaos) watch(ctx context.Context, conn *pgx.Conn) error {
	count := fmt.Sprintf(`select l.lag_rows, (select count(*) from published) + (select count(*) from killers) - (select count(*) from effects)
    - (select count(*) from pgtrickle.pgt_consumer_dead_letters d where d.group_name = l.group_name), (select last_value from pgtrickle.outbox_%[1]s_ids), greatest(l.max_id - l.committed_offset, 0)
from pgtrickle.pgt_consumer_group_lag l where l.group_name = 'g'`, c.outbox)
	for {
		select {
		case <-c.over:
			return nil
		case <-time.After(pgtest.ShortOrLong(50*time.Millisecond, 5*time.Millisecond)):
		}
		var lag, behind, drawn, open int64
		met := c.begin()
		if err := conn.QueryRow(ctx, count).Scan(&lag, &behind, &drawn, &open); c.allows(err, met) {
			continue
		} else if err != nil {
			return err
		}
		if c.setBacks.Since(met.setBacks) {
			continue
		}
		c.looks.Add(1)
		// A backlog of a thousand rows and more is estimated: by ids, or in lanes by how dense they are.
		exact := behind < 1000 && lag < 1000
		if exact && lag != behind || !exact && !c.keyed && (lag < behind || lag > behind+drawn) || !exact && c.keyed && (lag < behind/4 || lag > 4*behind) {
			return fmt.Errorf("a lag of %d, and %d are committed and not handled", lag, behind)
		}
		if open < behind {
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
			met := c.begin()
			if err := c.try(ctx, conn, sql); err != nil && !c.allows(err, met) {
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
		case <-time.After(pgtest.ShortOrLong(250*time.Millisecond, 60*time.Millisecond)):
		}
		err := trouble.Kill(ctx, conn, "poll_outbox|commit_offset|ack_rows|release_rows|leave_group|handle")
		if err != nil {
			return err
		}
	}
}
