package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// Isolation levels of writers.
const (
	ReadCommitted  = "read committed"
	RepeatableRead = "repeatable read"
	Serializable   = "serializable"
)

// Crowd is five or ten writers, two refreshers and one who compares.
type Crowd struct {
	*Subject
	Seed       uint64
	For        time.Duration // at least; and until enough was done
	Committed  int64         // how many transactions must stay at least
	Isolations []string      // of the writers
	Refills    bool          // stream tables in the modes immediate and at_commit are filled again, again and again

	t      *testing.T
	db     *pgtest.Database
	name   string
	merges bool
	until  time.Time
	failed atomic.Bool
	turn   sync.RWMutex // writers share it; who was refused too often has it alone

	committed, rolledBack, refused, retries, most, checks, filledChecks, refreshes, held atomic.Int64
}

// writers of ten meet more often, and each waits longer for its turn.
var writers = pgtest.ShortOrLong(5, 10)

const (
	refreshers = 2
	patience   = 2 * time.Minute // how much longer than it was to a crowd may take to do enough
)

// Run lets the crowd loose on a database of its own.
func (c *Crowd) Run(t *testing.T) {
	c.t, c.db = t, c.DB(t)
	c.name, c.merges = c.db.Name, c.db.Server.Major >= 15
	// Writers take rows in no order, so they deadlock by themselves: that shall not be what the time goes by with.
	c.db.SuperExec(t, "alter database "+c.db.Name+" set deadlock_timeout = '5ms'")
	c.until = time.Now().Add(c.For)
	var group sync.WaitGroup
	c.start(&group, writers, "user="+Writer, c.write)
	if c.Mode != "immediate" {
		c.start(&group, refreshers, "user="+pgtest.Owner, c.refresh)
	}
	if c.Refills {
		c.start(&group, 1, "user="+pgtest.Owner, c.refill)
	}
	c.start(&group, 1, "user="+pgtest.Owner, c.compare)
	group.Wait()
	c.reckon()
}

func (c *Crowd) start(group *sync.WaitGroup, n int, user string, body func(context.Context, *pgx.Conn, int) error) {
	for i := range n {
		conn := pgtest.Connect(c.t, c.db.SuperDSN(user))
		group.Go(func() {
			if err := body(c.t.Context(), conn, i); err != nil {
				c.failed.Store(true)
				c.t.Error(err)
			}
		})
	}
}

// over reports whether to go home: when time is up and something was done that is worth a check, however long a slow machine needs for it.
func (c *Crowd) over() bool {
	late := time.Since(c.until)
	return c.failed.Load() || late > 0 && c.enough(2) || late > patience
}

// enough reports whether there were transactions that stayed, so many checks, and refreshes where the mode has them.
func (c *Crowd) enough(checks int64) bool {
	return c.committed.Load() >= c.Committed && c.checks.Load() >= checks &&
		(!c.Refills && c.Mode == "immediate" || c.refreshes.Load() >= 2) &&
		(!c.Refills && c.Mode != "at_commit" || c.filledChecks.Load() >= checks-1)
}

// refresh ticks and refreshes; now and then it has the logs pruned before their time. Refreshes may fail to serialize.
func (c *Crowd) refresh(ctx context.Context, conn *pgx.Conn, n int) error {
	r := rand.New(rand.NewPCG(c.Seed, uint64(100+n)))
	for k := 0; !c.over(); k++ {
		steps := []string{"call chaos.tick()"}
		isolation := ReadCommitted
		if r.IntN(2) == 0 {
			isolation = []string{ReadCommitted, ReadCommitted, RepeatableRead}[r.IntN(3)]
			name := c.tables[r.IntN(len(c.tables))].name
			steps = []string{"begin isolation level " + isolation, "select from chaos.refresh_stream_table('" + name + "')", []string{"commit", "rollback"}[r.IntN(5)/4]}
		} else if r.IntN(10) == 0 {
			steps = append([]string{"update chaos_internal.pgt_tasks set last_run_at = '-infinity'"}, steps...)
		}
		err := transaction{isolation: isolation, steps: nil, end: nil}.alone(ctx, conn, steps)
		if err != nil {
			return fmt.Errorf("refresher %d, step %d: %w", n, k, err)
		}
		c.refreshes.Add(1)
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	}
	return nil
}

// refill has triggers only log and fills the stream tables from nothing while the others write.
func (c *Crowd) refill(ctx context.Context, conn *pgx.Conn, _ int) error {
	r := rand.New(rand.NewPCG(c.Seed, 300))
	for !c.over() {
		for _, steps := range [][]string{
			{"begin", "update chaos_internal.pgt_stream_table_state set seen = null where not logged", "select chaos.attach(" + c.attached() + ")", "commit"},
			{"call chaos_internal.pgt_fill()"}, {"call chaos_internal.pgt_fill()"},
		} {
			if err := (transaction{isolation: ReadCommitted}).alone(ctx, conn, steps); err != nil {
				return fmt.Errorf("filling again: %w", err)
			}
		}
		c.refreshes.Add(1)
		time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
	}
	return c.filled(ctx, conn)
}

// attached is the argument of attach() by which triggers only log.
func (c *Crowd) attached() string {
	if c.Mode == "immediate" {
		return "false"
	}
	return ""
}

// filled waits until the stream tables are filled; a truncated table has them filled once more.
func (c *Crowd) filled(ctx context.Context, conn *pgx.Conn) error {
	for range tries {
		var left int
		err := conn.QueryRow(ctx, "select count(*) from chaos.pgt_stream_tables where status <> 'active'").Scan(&left)
		if err != nil || left == 0 {
			return err
		}
		if err := (transaction{isolation: ReadCommitted}).alone(ctx, conn, []string{"call chaos_internal.pgt_fill()"}); err != nil {
			return err
		}
	}
	return fmt.Errorf("not filled in %d tries", tries)
}

// alone runs statements as they are, and forgives what a retry cures.
func (t transaction) alone(ctx context.Context, conn *pgx.Conn, steps []string) error {
	err := exec(ctx, conn, steps...)
	if err != nil && !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
		err = errors.Join(err, exec(ctx, conn, "rollback"))
	}
	if t.judge(err) == again {
		return nil
	}
	return err
}

// compare compares in one repeatable read transaction, again and again.
func (c *Crowd) compare(ctx context.Context, conn *pgx.Conn, _ int) error {
	r := rand.New(rand.NewPCG(c.Seed, 200))
	for !c.over() {
		if err := c.consistent(ctx, conn, r.IntN(2) == 0); err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
	}
	return nil
}

// errUndo ends a check whose refreshes are not to stay.
var errUndo = errors.New("undone")

// consistent takes one check. Another refresh may make those of the check fail to serialize; after some tries, it has the others wait.
func (c *Crowd) consistent(ctx context.Context, conn *pgx.Conn, stay bool) error {
	var differences []string
	var cause error
	for try := range tries {
		err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) (err error) {
			differences, err = c.checkIn(ctx, tx, try >= 2)
			if err == nil && !stay {
				return errUndo
			}
			return err
		})
		var pg *pgconn.PgError
		if errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01") {
			cause = err
			continue
		}
		if err != nil && !errors.Is(err, errUndo) {
			return fmt.Errorf("check: %w", err)
		}
		c.checks.Add(1)
		if len(differences) > 0 {
			return fmt.Errorf("check %d: differences:\n%s", c.checks.Load(), strings.Join(differences, "\n"))
		}
		return nil
	}
	return fmt.Errorf("no check in %d tries: %s", tries, pgtest.ErrorText(cause))
}

// checkIn refreshes and compares. The locks come first, as they fix no snapshot: a table truncated after the snapshot is empty in it.
func (c *Crowd) checkIn(ctx context.Context, tx pgx.Tx, hold bool) ([]string, error) {
	if _, err := tx.Exec(ctx, "lock table customers, products, orders, lines, events in access share mode"); err != nil {
		return nil, err
	}
	if hold {
		c.held.Add(1)
		if _, err := tx.Exec(ctx, "lock table chaos_internal.pgt_stream_table_state in share row exclusive mode"); err != nil {
			return nil, err
		}
	}
	if c.Mode == "differential" {
		if err := c.Refresh(ctx, tx); err != nil {
			return nil, err
		}
	}
	if c.Refills || c.Mode == "at_commit" {
		maintained := "not logged"
		if c.Mode == "at_commit" {
			maintained = "in_step is not null"
		}
		var filled bool
		if err := tx.QueryRow(ctx, "select bool_and(seen is not null and "+maintained+") from chaos_internal.pgt_stream_table_state").Scan(&filled); err != nil || !filled {
			return nil, err
		}
		c.filledChecks.Add(1)
	}
	differences, err := c.Differences(ctx, tx)
	if err == nil && len(differences) == 0 && (hold || c.over()) {
		return c.States(ctx, tx)
	}
	return differences, err
}

// reckon is the last check, and says what was done.
func (c *Crowd) reckon() {
	c.t.Helper()
	c.t.Logf("seed %d, %s, %v: %d committed, %d rolled back, %d refused by constraints; %d retries, at most %d of one transaction; %d refreshes, %d checks, %d of them with refreshers waiting",
		c.Seed, c.Mode, c.Isolations, c.committed.Load(), c.rolledBack.Load(), c.refused.Load(), c.retries.Load(), c.most.Load(), c.refreshes.Load(), c.checks.Load(), c.held.Load())
	if c.failed.Load() {
		return
	}
	conn := c.db.Connect(c.t)
	if c.Refills {
		if err := c.filled(c.t.Context(), conn); err != nil {
			c.t.Error(err)
		}
	}
	if err := c.consistent(c.t.Context(), conn, true); err != nil {
		c.t.Error(err)
	}
	for _, problem := range pgtest.Rows(c.t, c.db, `select stream_table, last_error, suspended_at from chaos_internal.pgt_stream_table_state
where last_error is not null or suspended_at is not null
union all select stream_table, error, null from chaos.pgt_refresh_history where error is not null
union all select task, last_error, null from chaos_internal.pgt_tasks where last_error is not null`) {
		c.t.Errorf("a tick failed: %v", problem)
	}
	if !c.enough(3) { // the last one is that of above
		c.t.Error("too little was done to say anything")
	}
}
