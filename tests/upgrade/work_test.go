package upgrade

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
)

// What sessions do while the extension is upgraded under them; each is one transaction or two.

func (r *traffic) receive(ctx context.Context, conn *pgx.Conn, _ *rand.Rand) error {
	_, err := conn.Exec(ctx, "select pgtrickle.inbox_receive('payments', 'm' || $1::text, 't', '{}')", fmt.Sprint(conn.PgConn().PID(), " ", r.done.Load()))
	if err == nil {
		r.received.Add(1)
	}
	return err
}

func (r *traffic) claim(ctx context.Context, conn *pgx.Conn, random *rand.Rand) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "select event_id from pgtrickle.inbox_claim('payments', $1::int)", 1+random.IntN(5))
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, id := range ids {
			if _, err = tx.Exec(ctx, "insert into effects values ($1)", id); err == nil {
				_, err = tx.Exec(ctx, "select pgtrickle.inbox_mark_processed('payments', $1)", id)
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
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "select pgtrickle.outbox_publish($1, 't' || $2::bigint % 2, jsonb_build_object('n', $2::bigint), 'k' || $2::bigint % 5)", outbox, n)
		if err == nil {
			_, err = tx.Exec(ctx, "insert into published values ($1, $2)", outbox, n)
		}
		return err
	})
}

// consume polls, and commits together with its effect. Each turn has a name of its own, since a poll whose answer was lost may hold rows.
func (r *traffic) consume(ctx context.Context, conn *pgx.Conn, random *rand.Rand) error {
	if len(r.has.groups) == 0 {
		return nil
	}
	group, name := r.has.groups[random.IntN(len(r.has.groups))], fmt.Sprint(conn.PgConn().PID(), " ", r.done.Load())
	rows, err := conn.Query(ctx, "select id from pgtrickle.poll_outbox($1, $2, $3::int, 10000)", group, name, 1+random.IntN(9))
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
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
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var last int64
		if err := tx.QueryRow(ctx, "select pgtrickle.commit_offset($1, $2, $3)", group, name, ids[len(ids)-1]).Scan(&last); err != nil || last == 0 {
			return err // 0: another will be granted them
		}
		_, err := tx.Exec(ctx, "insert into consumed as c (group_name, id) select $1, id from unnest($2::bigint[]) id on conflict (group_name, id) do update set times = c.times + 1", group, ids)
		return err
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
	queries := []string{
		"select count(*) from pgtrickle.payments_pending", "select inbox_name, pending_count from pgtrickle.inbox_status()", "select pgtrickle.inbox_health('payments')",
		"select name, version from pgtrickle.pgt_extension", "select event_id, payload from pgtrickle.payments limit 3",
	}
	for _, table := range r.has.tables {
		queries = append(queries, "select count(*) from "+table)
	}
	if len(r.has.groups) > 0 {
		queries = append(queries, "select group_name, lag_rows from pgtrickle.consumer_lag()")
	}
	rows, err := conn.Query(ctx, queries[random.IntN(len(queries))])
	if err == nil {
		rows.Close()
		err = rows.Err()
	}
	return err
}

func (r *traffic) refresh(ctx context.Context, conn *pgx.Conn, random *rand.Rand) error {
	if len(r.has.tables) == 0 {
		return nil
	}
	_, err := conn.Exec(ctx, "select from pgtrickle.refresh_stream_table($1)", r.has.tables[random.IntN(len(r.has.tables))])
	return err
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
