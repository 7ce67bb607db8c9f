package inboxes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/trouble"
)

// repeat does something again and again, until it is over.
func (a *actor) repeat(pause time.Duration, work func() error) error {
	for !a.isOver(pause) {
		if _, err := a.try(work); err != nil {
			return err
		}
	}
	return nil
}

// operate replays dead letters, but for those that kill.
func (c *chaos) operate(a *actor) error {
	return a.repeat(50*time.Millisecond, func() error {
		_, err := a.exec(fmt.Sprintf(`with dead as materialized (
    select d.event_id from pgtrickle.%[1]s_dlq d join sent s using (event_id) where s.kind = 'fails until replayed'
), noted as (insert into replayed select event_id from dead)
select pgtrickle.replay_inbox_messages('%[1]s', array_agg(event_id)) from dead having count(*) > 0`, c.inbox))
		return err
	})
}

// tick does background work.
func (c *chaos) tick(a *actor) error {
	return a.repeat(50*time.Millisecond, func() error {
		if _, err := a.exec("update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'"); err != nil {
			return err
		}
		_, err := a.exec("call pgtrickle.tick()")
		return err
	})
}

// kill ends the session of some worker or receiver, whatever it does.
func (c *chaos) kill(a *actor) error {
	return a.repeat(80*time.Millisecond, func() error {
		return trouble.Kill(a.ctx, a.conn, "inbox_claim|inbox_mark|inbox_receive|inbox_release|handle")
	})
}

// upgrade upgrades the extension when a third and two thirds of the messages are stored.
func (c *chaos) upgrade(a *actor, scripts []string, messages int64) error {
	for n, script := range scripts {
		for c.stored.Load() < messages*int64(n+1)/3 && !c.t.Failed() {
			time.Sleep(2 * time.Millisecond)
		}
		c.upgrades.Begin()
		err := trouble.Upgrade(a.ctx, a.db.Connect(a.t), script)
		c.upgrades.End()
		if err != nil {
			return err
		}
	}
	return nil
}

// watch looks whether the counts are those of the table, in one snapshot, and whether a message is a dead letter that should not be one.
func (c *chaos) watch(a *actor) error {
	return a.repeat(10*time.Millisecond, func() error {
		var counts, table string
		var wrong []string
		err := a.conn.QueryRow(a.ctx, fmt.Sprintf(`select
    (select format('%%s %%s %%s', sum(s.pending), sum(s.processed), sum(s.dead_letter)) from pgtrickle.%[1]s_stats s),
    (select format('%%s %%s %%s', count(*) filter (where i.processed_at is null and i.retry_count < 3), count(i.processed_at), count(*) filter (where i.processed_at is null and i.retry_count >= 3))
     from pgtrickle.%[1]s i),
    (select array_agg(d.event_id) from pgtrickle.%[1]s_dlq d join sent s using (event_id) where s.kind not in ('kills', 'fails until replayed'))`, c.inbox)).Scan(&counts, &table, &wrong)
		if err == nil && counts != table {
			err = fmt.Errorf("counted %s, and there are %s", counts, table)
		}
		if err == nil && len(wrong) > 0 {
			err = fmt.Errorf("dead letters: %v", wrong)
		}
		c.looks.Add(1)
		return err
	})
}

// look compares the dead letters with the messages that kill and whose turn came.
func (c *chaos) look(when string) {
	c.t.Helper()
	const turn = "(not $1 or (select count(*) from sent l where l.aggregate_id = s.aggregate_id and l.number < s.number) = s.number - 1)"
	got := pgtest.Rows(c.t, c.db, fmt.Sprintf(`select count(*), count(d.event_id), count(k.event_id), string_agg(distinct d.error, ', ')
from (select * from sent s where s.kind = 'kills' and %s) k full join pgtrickle.%s_dlq d using (event_id)`, turn, c.inbox), c.ordered)
	want := fmt.Sprintf("[[%s %[1]s %[1]s claimed %[2]d times, and neither processed nor failed]]", got[0][0], attempts)
	if fmt.Sprint(got) != want {
		c.t.Errorf("%s: messages that kill or are dead letters, dead letters, those that kill: %v", when, got)
	}
	c.t.Logf("%s: %s messages have killed", when, got[0][0])
}

// finish sends the messages that are missing, and gives up on those that kill in an order.
func (c *chaos) finish() {
	a := &actor{chaos: c, ctx: c.t.Context(), name: "finish"}
	until := func(work func(tx pgx.Tx) error) {
		for done := false; !done && !c.t.Failed(); {
			var err error
			done, err = a.try(func() error { return pgx.BeginFunc(a.ctx, a.conn, work) })
			if err != nil {
				c.t.Error(pgtest.ErrorText(err))
			}
		}
	}
	for some := range slices.Chunk(c.late, 20) {
		until(func(pgx.Tx) error { return c.store(a, 1, some) })
	}
	if c.ordered {
		until(func(pgx.Tx) error {
			_, err := a.exec("select advance(s), pgtrickle.inbox_mark_processed('ordered', s.event_id) from pgtrickle.ordered_dlq join sent s using (event_id) where s.kind = 'kills'")
			return err
		})
	}
}

// reckon compares what there is with what was done.
func (c *chaos) reckon() {
	c.t.Helper()
	c.t.Logf("%d messages; %d clients died, %d leases were lost, %d looks at the counts; errors that a retry cured: %v", c.stored.Load(), c.deaths.Load(), c.lost.Load(), c.looks.Load(), c.met)
	never := "s.number > (select count(*) from sent l where l.aggregate_id = s.aggregate_id)"
	if !c.ordered {
		never = "false"
		c.look("in the end")
	} else if n := pgtest.One[int](c.t, c.db, "select count(*) from pgtrickle.ordered_dlq"); n > 0 {
		c.t.Errorf("%d dead letters are left", n)
	}
	for what, sql := range map[string]string{
		"messages that were sent and not stored, or the other way round": "select count(*) from sent full join pgtrickle.%s i using (event_id) where sent is null or i is null",
		"effects that are missing, or should not be":                     "select count(*) from (select * from sent s where s.kind <> 'kills' and not " + never + ") s full join effects e using (event_id) where s is null or e is null",
		"messages that have no effect and are processed":                 "select count(*) from pgtrickle.%s i left join effects e using (event_id) join sent s using (event_id) where (i.processed_at is null) <> (e is null) and s.kind <> 'kills'",
		"tasks that failed":    "select count(*) from pgtrickle_internal.pgt_tasks where last_error is not null",
		"difference of counts": "select s.pending_count + s.dlq_count + s.processed_count - (select count(*) from pgtrickle.%s) from pgtrickle.inbox_status() s where s.inbox_name = '" + c.inbox + "'",
	} {
		if strings.Contains(sql, "%s") {
			sql = fmt.Sprintf(sql, c.inbox)
		}
		if n := pgtest.One[int](c.t, c.db, sql); n != 0 {
			c.t.Errorf("%s: %d", what, n)
		}
	}
	status := pgtest.Rows(c.t, c.db, "select pending_count, dlq_count from pgtrickle.inbox_status() where inbox_name = $1", c.inbox)
	want := pgtest.Rows(c.t, c.db, fmt.Sprintf("select count(*) filter (where processed_at is null and retry_count < 3), count(*) filter (where processed_at is null and retry_count >= 3) from pgtrickle.%s", c.inbox))
	if fmt.Sprint(status) != fmt.Sprint(want) {
		c.t.Errorf("pending and dead letters: %v in the status, %v in the table", status, want)
	}
	if c.ordered {
		gaps := pgtest.One[int](c.t, c.db, "select count(*) from pgtrickle.inbox_ordering_gaps('ordered')")
		if blocked := pgtest.One[int](c.t, c.db, "select count(*) from sent s where "+never); gaps != blocked {
			c.t.Errorf("%d gaps, and %d aggregates wait", gaps, blocked)
		}
	}
}
