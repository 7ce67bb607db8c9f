package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// leaser claims with a lease, works outside of a transaction, sometimes for too long, and marks with its effect. It extends some leases, gives
// some messages back, and forgets others, as if it had died.
func (w *work) leaser(ctx context.Context, conn *pgx.Conn, n int, r *rand.Rand) error {
	for done := false; !done && !w.t.Failed(); {
		visibility := time.Duration(50+r.IntN(300)) * time.Millisecond
		ids, lease, err := w.lease(ctx, conn, 1+r.IntN(30), visibility)
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(r.Int64N(int64(visibility) * 4 / 3)))
		if len(ids) > 0 && r.IntN(4) == 0 {
			err = w.change(ctx, conn, "update holds set until = now() + interval '1 s' where event_id = any ($1)", ids, "inbox_extend($1, $2, $3, '1 s')", lease)
			if err != nil {
				return err
			}
		}
		switch end := r.IntN(10); {
		case len(ids) == 0 || end == 0:
		case end == 1:
			err = w.change(ctx, conn, "delete from holds where event_id = any ($1)", ids, "inbox_release($1, $2, $3)", lease)
		default:
			effect := fmt.Sprintf("with had as (insert into effects select unnest($1::text[]), %d) delete from holds where event_id = any ($1)", workers+n)
			err = w.change(ctx, conn, effect, ids, "inbox_mark_processed($1, $2::text[], $3)", lease)
		}
		if err != nil {
			return err
		}
		var pending int64
		if err := conn.QueryRow(ctx, "select (pgtrickle.inbox_health($1) ->> 'pending_count')::bigint", w.inbox).Scan(&pending); err != nil {
			return err
		}
		done = pending == 0 && w.writing.Load() == 0
	}
	return nil
}

// lease claims messages, and notes them as held.
func (w *work) lease(ctx context.Context, conn *pgx.Conn, limit int, visibility time.Duration) (ids []string, lease int64, err error) {
	rows, err := conn.Query(ctx, `with leased as materialized (select event_id, lease_id from pgtrickle.inbox_claim_lease($1, $2, $3)),
held as (insert into holds select event_id, now() + $3::interval from leased on conflict (event_id) do update set until = excluded.until)
select event_id, lease_id from leased`, w.inbox, limit, visibility)
	if err != nil {
		return nil, 0, err
	}
	var id string
	_, err = pgx.ForEachRow(rows, []any{&id, &lease}, func() error {
		ids = append(ids, id)
		return nil
	})
	return ids, lease, err
}

// change does something with a lease and what goes with it in one transaction; neither if the lease is lost.
func (w *work) change(ctx context.Context, conn *pgx.Conn, with string, ids []string, call string, lease int64) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select pgtrickle."+call, w.inbox, ids, lease); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, with, ids)
		return err
	})
	var failed *pgconn.PgError
	if errors.As(err, &failed) && failed.Code == "55000" && strings.HasPrefix(failed.Message, "lease lost: ") {
		return nil
	}
	return err
}
