package inboxes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/trouble"
)

// handed is a message as a worker gets it.
type handed struct {
	ID       string
	Kind     string
	Failures int
	Replayed bool
	Lease    *int64
}

func (m handed) String() string { return m.ID + " " + m.Kind }

func (m handed) fails() bool {
	return m.Kind == "fails" && m.Failures < 2 || m.Kind == "fails until replayed" && !m.Replayed
}

// ask claims some messages, in some claims of a part of the aggregates.
func (c *chaos) ask(ctx context.Context, on pgtest.Querier, r *rand.Rand, call, lease string, args ...any) ([]handed, error) {
	part := ""
	if r.IntN(4) == 0 {
		part = fmt.Sprintf(", p_worker_id => %d, p_total_workers => 3", r.IntN(3))
	}
	rows, err := on.Query(ctx, fmt.Sprintf(`select c.event_id, c.payload ->> 'kind', c.retry_count, exists (select from replayed r where r.event_id = c.event_id), %s
from pgtrickle.%s('%s', %s%s) c`, lease, call, c.inbox, strings.TrimSuffix(fmt.Sprintln(args...), "\n"), part), pgx.QueryExecModeCacheDescribe)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[handed])
}

// kills reports whether some of the messages kill.
func kills(messages []handed) bool {
	for _, m := range messages {
		if m.Kind == "kills" {
			return true
		}
	}
	return false
}

// claim is a worker that claims, works and marks in one transaction, of which some are rolled back. Now and then it dies before it commits, with a
// message that kills it always. One that is alone may have killed others: it must not become a dead letter by chance.
func (c *chaos) claim(a *actor) error {
	r := trouble.Random(c.seed, "claimer", a.n)
	for !c.isOver(time.Duration(r.IntN(5)) * time.Millisecond) {
		count, end, first := 2+r.IntN(20), r.IntN(25), r.IntN(2) == 0
		var messages []handed
		done, err := a.try(func() error {
			return pgx.BeginFunc(a.ctx, a.conn, func(tx pgx.Tx) (err error) {
				messages, err = c.ask(a.ctx, tx, r, "inbox_claim", "null::bigint", count)
				if err != nil || len(messages) == 0 {
					return err
				}
				dies := kills(messages) || end == 0 && len(messages) > 1
				if !dies || !first && !kills(messages) {
					if err := c.mark(a.ctx, tx, r, messages); err != nil {
						return err
					}
				}
				if dies {
					a.conn.PgConn().Conn().Close()
					return errDied
				}
				if end == 1 && len(messages) > 1 {
					return errRolledBack
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		if done {
			c.handled.Add(int64(len(messages)))
		}
		if len(messages) == 0 && c.isOver(time.Duration(r.IntN(20))*time.Millisecond) {
			return nil
		}
	}
	return nil
}

// lease is a worker with leases. It dies with some, forgets or gives back others, and is too slow for some.
func (c *chaos) lease(a *actor) error {
	r := trouble.Random(c.seed, "leaser", a.n)
	for !c.isOver(time.Duration(r.IntN(5)) * time.Millisecond) {
		count, how := 2+r.IntN(20), r.IntN(40)
		var messages []handed
		began := time.Now()
		done, err := a.try(func() (err error) {
			messages, err = c.ask(a.ctx, a.conn, r, "inbox_claim_lease", "c.lease_id", count, fmt.Sprintf(", '%d ms'", visibility.Milliseconds()))
			return err
		})
		if err != nil {
			return err
		}
		if !done || len(messages) == 0 {
			if c.isOver(time.Duration(r.IntN(20)) * time.Millisecond) {
				return nil
			}
			continue
		}
		if len(messages) == 1 {
			how = 39
		}
		done, err = a.try(func() error { return c.end(a, r, messages, how) })
		switch {
		case leaseLost(err) && time.Since(began) >= visibility:
			c.lost.Add(1)
		case err != nil:
			return fmt.Errorf("a lease of %v that began %v ago: %s", messages, time.Since(began), pgtest.ErrorText(err))
		case done:
			c.handled.Add(int64(len(messages)))
		}
	}
	return nil
}

// end is what becomes of a lease.
func (c *chaos) end(a *actor, r *rand.Rand, messages []handed, how int) error {
	switch {
	case kills(messages), how == 0:
		a.conn.PgConn().Conn().Close()
		return errDied
	case how == 1: // forgets them
		return errRolledBack
	case how < 4:
		var ids []string
		for _, m := range messages {
			ids = append(ids, m.ID)
		}
		_, err := a.exec("select pgtrickle.inbox_release($1, $2, $3, $4)", c.inbox, ids, messages[0].Lease, time.Duration(r.IntN(50))*time.Millisecond)
		if err == nil {
			err = errRolledBack
		}
		return err
	case how == 4:
		time.Sleep(visibility - 100*time.Millisecond + time.Duration(r.IntN(300))*time.Millisecond)
	default:
		time.Sleep(time.Duration(r.IntN(10)) * time.Millisecond)
	}
	return pgx.BeginFunc(a.ctx, a.conn, func(tx pgx.Tx) error { return c.mark(a.ctx, tx, r, messages) })
}

func leaseLost(err error) bool {
	return trouble.Code(err) == "55000" && strings.Contains(err.Error(), "lease lost: inbox ")
}

// mark marks messages, each by itself or all at once, and has their effects; some fail.
func (c *chaos) mark(ctx context.Context, tx pgx.Tx, r *rand.Rand, messages []handed) error {
	var ids []string
	for _, m := range messages {
		if !m.fails() {
			ids = append(ids, m.ID)
			continue
		}
		if _, err := tx.Exec(ctx, "select pgtrickle.inbox_mark_failed($1, $2::text, 'not now', $3)", c.inbox, m.ID, m.Lease); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	sql := "select pgtrickle.inbox_mark_processed($1, $2::text[], $3)"
	if r.IntN(2) == 0 {
		sql = "select count(*) from unnest($2::text[]) i where pgtrickle.inbox_mark_processed($1, i, $3)"
	}
	var marked int // first: a lease that is lost is found before the effect that another worker had
	if err := tx.QueryRow(ctx, sql, c.inbox, ids, messages[0].Lease).Scan(&marked); err != nil {
		return err
	}
	if marked != len(ids) {
		return fmt.Errorf("%d of %d messages were not processed before", marked, len(ids))
	}
	_, err := tx.Exec(ctx, "select handle($1, $2)", ids, c.ordered)
	return err
}
