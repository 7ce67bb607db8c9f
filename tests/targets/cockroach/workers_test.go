package cockroach

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const messages = 400

// TestExactlyOnce has workers claim, work and mark in one transaction, fail and roll back, and repeat what ends with 40001 from the claim on: each message
// has its effect once. The last row is what CockroachDB may do under SERIALIZABLE: it loses locks, and refuses a commit instead.
func TestExactlyOnce(t *testing.T) {
	for _, row := range []struct {
		name    string
		level   pgx.TxIsoLevel
		changes []string
	}{
		{"read committed", pgx.ReadCommitted, nil},
		{"serializable", pgx.Serializable, nil},
		{"serializable without locks", pgx.Serializable, []string{"limit p_limit\n        for update skip locked", "limit p_limit"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			db := database(t, "shop", row.changes...)
			db.Exec(t, "create table effects (event_id text)")
			db.Exec(t, fmt.Sprintf("select count(shop.inbox_receive('order_events', 'm' || i, 't', '{}')) from generate_series(1, %d) i", messages))
			var all sync.WaitGroup
			var retries atomic.Int64
			for n := range 6 {
				conn := db.Connect(t)
				all.Go(func() { work(t, conn, row.level, rand.New(rand.NewPCG(11, uint64(n))), &retries) })
			}
			all.Wait()
			effects := pgtest.One[int](t, db, "select count(*) from effects")
			distinct := pgtest.One[int](t, db, "select count(distinct event_id) from effects")
			processed := pgtest.One[int](t, db, "select count(*) from shop.order_events where processed_at is not null")
			dead := pgtest.One[int](t, db, "select count(*) from shop.order_events_dlq")
			if effects != distinct || effects != processed || processed+dead != messages {
				t.Errorf("%d messages: %d effects of %d, %d processed, %d dead", messages, effects, distinct, processed, dead)
			}
			t.Logf("%d transactions repeated", retries.Load())
		})
	}
}

// work claims until nothing is pending.
func work(t *testing.T, conn *pgx.Conn, level pgx.TxIsoLevel, r *rand.Rand, retries *atomic.Int64) {
	for {
		err := pgx.BeginTxFunc(t.Context(), conn, pgx.TxOptions{IsoLevel: level}, func(tx pgx.Tx) error { return once(t.Context(), tx, r) })
		var refused *pgconn.PgError
		switch {
		case errors.Is(err, errEmpty):
			var left int
			// Failures move messages into the future, which need not be waited for here.
			if err := conn.QueryRow(t.Context(), "with due as (update shop.order_events set available_at = now() where processed_at is null and retry_count < 3 "+
				"and available_at > now() returning 1) select count(*) from due").Scan(&left); err == nil && left == 0 && nothingLeft(t.Context(), conn) {
				return
			}
		case err == nil || errors.Is(err, errCrash):
		case errors.As(err, &refused) && (refused.Code == "40001" || refused.Code == "55006"): // 55006: a claim without a lock was of what others hold
			retries.Add(1)
		default:
			t.Error(pgtest.ErrorText(err))
			return
		}
	}
}

func nothingLeft(ctx context.Context, conn *pgx.Conn) bool {
	var left int
	err := conn.QueryRow(ctx, "select count(*) from shop.order_events where processed_at is null and retry_count < 3").Scan(&left)
	return err == nil && left == 0
}

var (
	errEmpty = errors.New("nothing is pending")
	errCrash = errors.New("the worker gave up")
	errTwice = errors.New("the message was processed before")
)

// once is one transaction of a worker: some messages fail, and some workers give up after their work.
func once(ctx context.Context, tx pgx.Tx, r *rand.Rand) error {
	rows, err := tx.Query(ctx, "select event_id from shop.inbox_claim('order_events', 3)")
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return errEmpty
	}
	for _, id := range ids {
		if r.IntN(10) == 0 {
			if _, err := tx.Exec(ctx, "select shop.inbox_mark_failed('order_events', $1, 'no luck')", id); err != nil {
				return err
			}
			continue
		}
		if _, err := tx.Exec(ctx, "insert into effects values ($1)", id); err != nil {
			return err
		}
		var marked bool
		if err := tx.QueryRow(ctx, "select shop.inbox_mark_processed('order_events', $1)", id).Scan(&marked); err != nil {
			return err
		}
		if !marked {
			return errTwice
		}
	}
	if r.IntN(8) == 0 {
		return errCrash
	}
	return nil
}
