package examples

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Copy keeps table customer_totals_copy of another database equal to stream table customer_totals, by its outbox.
//
// How far it has come is kept beside the copy, in copy_position, and changes in the same transaction: a row that comes again is passed over.
type Copy struct {
	Source   *pgxpool.Pool
	Target   *pgxpool.Pool
	Group    string // the copy's own
	Consumer string // its name, also when it starts again
	Batch    int
	Lease    time.Duration
	Pause    time.Duration
}

// Begin fills an empty copy from the stream table: its rows and the newest row of its outbox, at one moment.
func (c *Copy) Begin(ctx context.Context) error {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, c.Source, snapshot, func(source pgx.Tx) error {
		return pgx.BeginFunc(ctx, c.Target, func(target pgx.Tx) error {
			var last int64
			if err := source.QueryRow(ctx, `select coalesce(max(id), 0) from totals.outbox_customer_totals`).Scan(&last); err != nil {
				return err
			}
			if _, err := target.Exec(ctx, `insert into copy_position (copy, last_id) values ('customer_totals', $1)`, last); err != nil {
				return err
			}
			return inChunks(ctx, source, `select 'I', to_jsonb(t)::text from customer_totals t`, func(op, rows string) error {
				return change(ctx, target, op, rows)
			})
		})
	})
}

// Run follows the stream table until ctx ends.
func (c *Copy) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := c.follow(ctx); err != nil {
			slog.Warn("copy begins again where it stands", "group", c.Group, "error", err)
			c.rest(ctx)
		}
	}
}

// follow begins where the copy stands, whatever another process was granted and did not finish: a copy wants all rows in order.
// It returns at the first error.
func (c *Copy) follow(ctx context.Context) error {
	var position int64
	if err := c.Target.QueryRow(ctx, `select last_id from copy_position where copy = 'customer_totals'`).Scan(&position); err != nil {
		return err
	}
	if _, err := c.Source.Exec(ctx, `select totals.seek_offset($1, $2, $3)`, c.Group, c.Consumer, position); err != nil {
		return err
	}
	work := context.WithoutCancel(ctx) // a batch is finished
	for ctx.Err() == nil {
		rows, err := c.Source.Query(work, `select id, is_claim_check, payload, lease_id from totals.poll_outbox($1, $2, $3, $4)`,
			c.Group, c.Consumer, c.Batch, int(c.Lease.Seconds()))
		if err != nil {
			return err
		}
		news, err := pgx.CollectRows(rows, pgx.RowToStructByPos[refreshed])
		if err != nil {
			return err
		}
		for _, r := range news {
			if err := c.apply(work, r); err != nil {
				return err
			}
			if err := c.commit(work, r); err != nil {
				return err
			}
		}
		if len(news) == 0 {
			c.rest(ctx)
		}
	}
	return nil
}

// refreshed is a row of the outbox: what a refresh changed.
type refreshed struct {
	ID         int64
	ClaimCheck bool
	Payload    struct {
		Version     int             `json:"v"`
		FullRefresh bool            `json:"full_refresh"`
		Deleted     json.RawMessage `json:"deleted"`
		Inserted    json.RawMessage `json:"inserted"`
	}
	LeaseID int64
}

// errOutOfOrder says that another process was granted a row before this one.
var errOutOfOrder = errors.New("a row before this one was not applied")

// apply changes the copy in one transaction, once and in the order of the outbox.
func (c *Copy) apply(ctx context.Context, r refreshed) error {
	if r.Payload.Version != 1 {
		return fmt.Errorf("outbox row %d has version %d", r.ID, r.Payload.Version)
	}
	var position, previous int64
	err := c.Source.QueryRow(ctx, `select coalesce(max(id), 0) from totals.outbox_customer_totals where id < $1`, r.ID).Scan(&previous)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, c.Target, func(target pgx.Tx) error {
		err := target.QueryRow(ctx, `select last_id from copy_position where copy = 'customer_totals' for update`).Scan(&position)
		switch {
		case err != nil:
			return err
		case position >= r.ID:
			return nil // it comes again
		case position < previous:
			return errOutOfOrder
		}
		if _, err := target.Exec(ctx, `update copy_position set last_id = $1 where copy = 'customer_totals'`, r.ID); err != nil {
			return err
		}
		if r.Payload.FullRefresh { // all rows follow
			if _, err := target.Exec(ctx, `delete from customer_totals_copy`); err != nil {
				return err
			}
		}
		if r.ClaimCheck {
			return c.claim(ctx, target, r.ID)
		}
		if err := change(ctx, target, "D", string(r.Payload.Deleted)); err != nil {
			return err
		}
		return change(ctx, target, "I", string(r.Payload.Inserted))
	})
}

// claim reads the rows of a claim check from the outbox's delta table, in order, through a cursor.
func (c *Copy) claim(ctx context.Context, target pgx.Tx, id int64) error {
	return pgx.BeginFunc(ctx, c.Source, func(source pgx.Tx) error {
		query := fmt.Sprintf(`select op::text, payload::text from totals.outbox_delta_rows_customer_totals where outbox_id = %d order by row_num`, id)
		return inChunks(ctx, source, query, func(op, rows string) error { return change(ctx, target, op, rows) })
	})
}

// commit acknowledges a row; of a claim check, that its rows were read to the end.
func (c *Copy) commit(ctx context.Context, r refreshed) error {
	return pgx.BeginFunc(ctx, c.Source, func(tx pgx.Tx) error {
		if r.ClaimCheck {
			if _, err := tx.Exec(ctx, `select totals.outbox_rows_consumed('customer_totals', $1, $2)`, r.ID, c.Group); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `select totals.commit_offset($1, $2, $3, $4)`, c.Group, c.Consumer, r.ID, r.LeaseID)
		return err
	})
}

// change deletes or inserts rows of the copy, which come as a JSON array.
func change(ctx context.Context, target pgx.Tx, op, rows string) error {
	sql := `insert into customer_totals_copy select * from jsonb_populate_recordset(null::customer_totals_copy, $1::jsonb)`
	if op == "D" {
		sql = `
			delete from customer_totals_copy c
			using jsonb_populate_recordset(null::customer_totals_copy, $1::jsonb) d
			where c.customer = d.customer`
	}
	_, err := target.Exec(ctx, sql, rows)
	return err
}

// inChunks hands on what a query of operations and rows returns, a thousand rows at a time and each array of one operation.
func inChunks(ctx context.Context, tx pgx.Tx, query string, use func(op, rows string) error) error {
	if _, err := tx.Exec(ctx, `declare chunks no scroll cursor for `+query, pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	for {
		fetched, err := tx.Query(ctx, `fetch 1000 from chunks`, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return err
		}
		rows, err := pgx.CollectRows(fetched, pgx.RowToStructByPos[struct{ Op, Row string }])
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			_, err := tx.Exec(ctx, `close chunks`)
			return err
		}
		for start := 0; start < len(rows); {
			var same []string
			for _, row := range rows[start:] {
				if row.Op != rows[start].Op {
					break
				}
				same = append(same, row.Row)
			}
			if err := use(rows[start].Op, "["+strings.Join(same, ",")+"]"); err != nil {
				return err
			}
			start += len(same)
		}
	}
}

func (c *Copy) rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(c.Pause):
	}
}
