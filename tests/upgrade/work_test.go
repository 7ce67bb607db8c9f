package upgrade

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
)

// What sessions do while the extension is upgraded under them; each is one transaction or two.

func (r *traffic) receive(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
	err := r.named(ctx, conn, func(on session, call func(kind, first string) string) error {
		id := fmt.Sprint("m", conn.PgConn().PID(), " ", r.done.Load())
		_, err := on.Exec(ctx, "select pgtrickle.inbox_receive($1, $2, 't', '{}')", call("inbox", "payments"), id)
		return err
	})
	if err == nil {
		r.received.Add(1)
	}
	return err
}

func (r *traffic) claim(ctx context.Context, conn *pgx.Conn, random *rand.Rand) error {
	return r.named(ctx, conn, func(on session, call func(kind, first string) string) error {
		return claimAndMark(ctx, on, call("inbox", "payments"), 1+random.IntN(5))
	})
}

func claimAndMark(ctx context.Context, on session, inbox string, count int) error {
	return pgx.BeginFunc(ctx, on, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "select event_id from pgtrickle.inbox_claim($1, $2::int)", inbox, count)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, id := range ids {
			if _, err = tx.Exec(ctx, "insert into effects values ($1)", id); err == nil {
				_, err = tx.Exec(ctx, "select pgtrickle.inbox_mark_processed($1, $2)", inbox, id)
			}
			if err != nil {
				return err
			}
		}
		return err
	})
}

func (r *traffic) publish(ctx context.Context, conn *pgx.Conn, random *rand.Rand) error {
	if len(r.has.outboxes) == 0 {
		return nil
	}
	outbox, n := r.has.outboxes[random.IntN(len(r.has.outboxes))], r.published.Add(1)
	return r.named(ctx, conn, func(on session, call func(kind, first string) string) error {
		return pgx.BeginFunc(ctx, on, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "select pgtrickle.outbox_publish($1, 't' || $2::bigint % 2, jsonb_build_object('n', $2::bigint), 'k' || $2::bigint % 5)", call("outbox", outbox), n)
			if err == nil {
				_, err = tx.Exec(ctx, "insert into published values ($1, $2)", outbox, n)
			}
			return err
		})
	})
}

// consume polls, and commits together with its effect. After a failure it goes on under another name, since a poll whose answer was lost may hold rows.
func (r *traffic) consume(ctx context.Context, conn *pgx.Conn, random *rand.Rand) (failed error) {
	if len(r.has.groups) == 0 {
		return nil
	}
	failures, _ := conn.PgConn().CustomData()["failures"].(int)
	defer func() {
		if failed != nil {
			conn.PgConn().CustomData()["failures"] = failures + 1
		}
	}()
	group, name := r.has.groups[random.IntN(len(r.has.groups))], fmt.Sprint(conn.PgConn().PID(), " ", failures)
	var ids []int64
	err := r.named(ctx, conn, func(on session, call func(kind, first string) string) error {
		rows, err := on.Query(ctx, "select id from pgtrickle.poll_outbox($1, $2, $3::int, 10000)", call("consumer group", group), name, 1+random.IntN(9))
		if err == nil {
			ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		}
		return err
	})
	for tries := 0; err == nil && len(ids) > 0; tries++ {
		if err := r.commit(ctx, conn, group, name, ids); err == nil || tries == 50 {
			return err
		} else {
			r.note(r.errors, "commit: "+plain(err))
		}
	}
	return err
}

func (r *traffic) commit(ctx context.Context, conn *pgx.Conn, group, name string, ids []int64) error {
	return r.named(ctx, conn, func(on session, call func(kind, first string) string) error {
		return pgx.BeginFunc(ctx, on, func(tx pgx.Tx) error {
			var last int64
			if err := tx.QueryRow(ctx, "select pgtrickle.commit_offset($1, $2, $3)", call("consumer group", group), name, ids[len(ids)-1]).Scan(&last); err != nil || last == 0 {
				return err // 0: another will be granted them
			}
			_, err := tx.Exec(ctx, "insert into consumed as c (group_name, id) select $1, id from unnest($2::bigint[]) id on conflict (group_name, id) do update set times = c.times + 1", group, ids)
			return err
		})
	})
}

func (r *traffic) write(ctx context.Context, conn *pgx.Conn, random *rand.Rand) error {
	id, other := 1_000_000+r.published.Add(1), random.IntN(300)
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "insert into orders values ($1, $2, $3, 'paid')", id, 1+random.IntN(10), random.IntN(100))
		if err == nil {
			_, err = tx.Exec(ctx, "update orders set amount = amount + 1, status = case status when 'new' then 'paid' else 'new' end where id = $1", other)
		}
		if err == nil && random.IntN(3) == 0 {
			_, err = tx.Exec(ctx, "delete from orders where id = $1", 1_000_000+random.IntN(int(id-1_000_000)+1))
		}
		return err
	})
}

func (r *traffic) read(ctx context.Context, conn *pgx.Conn, random *rand.Rand) error {
	return r.named(ctx, conn, func(on session, call func(kind, first string) string) error {
		inbox := call("inbox", "payments")
		messages, pending := pgx.Identifier{"pgtrickle", inbox}.Sanitize(), pgx.Identifier{"pgtrickle", spec.DerivedName(inbox + "_pending")}.Sanitize()
		queries := []string{
			"select count(*) from " + pending, "select inbox_name, pending_count from pgtrickle.inbox_status()", "select name, version from pgtrickle.pgt_extension",
			"select event_id, payload from " + messages + " limit 3", "select pgtrickle.inbox_health('" + strings.ReplaceAll(inbox, "'", "''") + "')",
		}
		for _, table := range r.has.tables {
			schema, name, _ := strings.Cut(call("stream table", table), ".")
			queries = append(queries, "select count(*) from "+pgx.Identifier{schema, name}.Sanitize())
		}
		if len(r.has.groups) > 0 {
			queries = append(queries, "select group_name, lag_rows from pgtrickle.consumer_lag()")
		}
		rows, err := on.Query(ctx, queries[random.IntN(len(queries))])
		if err == nil {
			rows.Close()
			err = rows.Err()
		}
		return err
	})
}

func (r *traffic) refresh(ctx context.Context, conn *pgx.Conn, random *rand.Rand) error {
	if len(r.has.tables) == 0 {
		return nil
	}
	table := r.has.tables[random.IntN(len(r.has.tables))]
	return r.named(ctx, conn, func(on session, call func(kind, first string) string) error {
		_, err := on.Exec(ctx, "select from pgtrickle.refresh_stream_table($1)", call("stream table", table))
		return err
	})
}

func (r *traffic) tick(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
	_, err := conn.Exec(ctx, "call pgtrickle.tick()")
	return err
}

// tablesOf lists the stream tables of a version.
func tablesOf(t *testing.T, e *generator.Extension) []string {
	t.Helper()
	var tables []string
	for _, m := range e.Manifest().Made {
		if m.Kind == "stream table" {
			tables = append(tables, m.Name)
		}
	}
	return tables
}
