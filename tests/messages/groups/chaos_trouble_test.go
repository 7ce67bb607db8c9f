package groups

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/trouble"
)

// met is what was over when a transaction began.
type met struct{ upgrades, setBacks int64 }

func (c *chaos) begin() met { return met{c.upgrades.Mark(), c.setBacks.Mark()} }

// allows reports whether a transaction may meet an error, which a retry cures: by what went on beside it.
func (c *chaos) allows(err error, m met) bool {
	var failed *pgconn.PgError
	if !errors.As(err, &failed) {
		return false
	}
	allowed := trouble.IsOfUpgrade(err) && c.upgrades.Since(m.upgrades)
	switch failed.Code {
	case "40001": // another was faster with what it locks
		allowed = true
	case "55P03":
		allowed = strings.HasPrefix(failed.Message, "group g is held by another poll: ")
	case "23505": // the id of an event that is there
		allowed = c.setBacks.Since(m.setBacks) && strings.HasPrefix(failed.TableName, "outbox_"+c.outbox)
	}
	if allowed {
		c.note(failed.Code)
	}
	return allowed
}

func (c *chaos) note(code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.met[code]++
}

// nextSpecs follow the first version: another outbox, with a group, and an inbox come and go, and an outbox keeps its events for longer.
var nextSpecs = []string{
	strings.Replace(spec, "{name: feed}", "{name: feed, retention: 48h}", 1) + `
  - {name: more}
consumer_groups:
  - {name: all, outbox: more}
inboxes:
  - {name: orders}
`,
	spec + `
  - {name: more, ordering_key: aggregate_id}
`,
}

// upgrade runs an upgrade when so many events are published.
func (c *chaos) upgrade(ctx context.Context, conn *pgx.Conn, script string, at int64) error {
	c.reaches(at)
	c.upgrades.Begin()
	defer c.upgrades.End()
	return trouble.Upgrade(ctx, conn, script)
}

// reaches waits until so many events are published.
func (c *chaos) reaches(events int64) {
	for c.published.Load() < events && !c.t.Failed() {
		time.Sleep(2 * time.Millisecond)
	}
}

// failOver sets the sequence of ids back to its beginning again and again, as a failover by logical replication does: no publisher is at work at that
// moment, all events have been handled and are old, and retention has deleted them, but for those in the newest segment. The consumers of an ordered
// outbox wait for the first tick.
func (c *chaos) failOver(ctx context.Context, conn *pgx.Conn, from, to int64) error {
	all := pgtest.ShortOrLong[int64](failovers, manyFailovers)
	for n := range all {
		c.reaches(from + (to-from)*(n+1)/(all+1))
		if err := c.setBack(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

func (c *chaos) setBack(ctx context.Context, conn *pgx.Conn) error {
	c.serving.Lock()
	trouble.Await(c.t, c.ledger.count, "all is handled", func() bool {
		return c.handled.Load() >= c.published.Load()+c.left && c.dead(ctx, conn) >= c.killers.Load()
	})
	if c.keyed {
		c.polling.Lock()
		defer c.polling.Unlock()
	}
	used, repairs, err := c.stop(ctx, conn)
	defer c.setBacks.End()
	repaired := used < 2
	for ; err == nil && !repaired && !c.t.Failed(); time.Sleep(2 * time.Millisecond) {
		err = conn.QueryRow(ctx, "select coalesce(s.advanced_at > $2, false) from pgtrickle_internal.pgt_outbox_state s where s.outbox_name = $1", c.outbox, repairs).Scan(&repaired)
	}
	return err
}

// stop sets the sequence back, and lets publishers begin again. It returns the last id that is used or that the group was granted, and when a sequence was put
// right before.
func (c *chaos) stop(ctx context.Context, conn *pgx.Conn) (used int64, repairs time.Time, err error) {
	defer c.serving.Unlock()
	defer c.setBacks.Begin()
	statements := []string{
		fmt.Sprintf("update pgtrickle.outbox_%s set created_at = '2000-01-01' where created_at > '2000-01-01'", c.outbox),
		"update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'", "call pgtrickle.tick()",
	}
	for _, sql := range statements {
		if err := c.try(ctx, conn, sql); err != nil {
			return 0, repairs, err
		}
	}
	err = conn.QueryRow(ctx, `select greatest(i.last_id, (select max(cur) from pgtrickle_internal.pgt_lease_log where lane = 0)), coalesce(s.advanced_at, 'epoch')
from pgtrickle_internal.pgt_outbox_ids($1) i, pgtrickle_internal.pgt_outbox_state s where s.outbox_name = $1`, c.outbox).Scan(&used, &repairs)
	c.spare.Store(used - 1)
	if err == nil {
		err = c.try(ctx, conn, fmt.Sprintf("select setval('pgtrickle.outbox_%s_ids', 1, false)", c.outbox))
	}
	return used, repairs, err
}

// reserve waits while publishers might draw beyond the ids that are used, before a tick has put the sequence right.
func (c *chaos) reserve(ids int64) {
	for c.setBacks.On() && c.spare.Add(-ids) < 0 && !c.t.Failed() {
		time.Sleep(time.Millisecond)
	}
}

// dead counts the dead letters.
func (c *chaos) dead(ctx context.Context, on pgtest.Querier) int64 {
	rows, err := on.Query(ctx, "select count(*) from pgtrickle.pgt_consumer_dead_letters where group_name = 'g'")
	var n int64
	if err == nil {
		n, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
	}
	if err != nil && ctx.Err() == nil {
		c.t.Error(err)
	}
	return n
}
