package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/ivm/diag"
)

// group is the consumer group that verify makes.
const group = "sluice_verify"

// follower keeps a copy of a stream table by its outbox alone.
type follower struct {
	outbox, table, deltas string         // deltas: where the rows of claim checks are
	rows                  map[string]int // how often it has each row, as JSON
}

// follow makes a group on the outbox of each stream table, before anything happens.
func (v *verifier) follow(ctx context.Context, conn *pgx.Conn) ([]*follower, error) {
	there, err := v.has(ctx, conn, v.schema()+".pgt_outbox_config")
	if err != nil || !there {
		return nil, err
	}
	rows, err := conn.Query(ctx, fmt.Sprintf(`
select o.outbox_name, o.stream_table, format('%%I.%%I', o.outbox_schema, o.delta_rows_table_name)
from %[2]s.pgt_outboxes o
join %[2]s.pgt_outbox_state s using (outbox_name)
where o.kind = 'stream_table' and not o.immediate`, v.schema(), v.internal()))
	if err != nil {
		return nil, err
	}
	followers, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*follower, error) {
		f := &follower{rows: map[string]int{}}
		return f, row.Scan(&f.outbox, &f.table, &f.deltas)
	})
	for n, f := range followers {
		if err == nil {
			_, err = conn.Exec(ctx, fmt.Sprintf("select %s.create_consumer_group($1, $2, 'earliest')", v.schema()), fmt.Sprintf("%s_%d", group, n), f.outbox)
		}
	}
	return followers, err
}

func (v *verifier) has(ctx context.Context, conn *pgx.Conn, relation string) (there bool, err error) {
	err = conn.QueryRow(ctx, "select to_regclass($1) is not null", relation).Scan(&there)
	return there, err
}

// followed reads the outboxes of stream tables to their ends, and compares the copies with the tables.
func (v *verifier) followed(ctx context.Context, conn *pgx.Conn, followers []*follower) {
	for n, f := range followers {
		v.Log("following outbox %s", f.outbox)
		count, err := v.read(ctx, conn, f, fmt.Sprintf("%s_%d", group, n))
		if err == nil {
			err = f.same(ctx, conn, v)
		}
		v.result.add("outbox of "+f.table, fmt.Sprintf("the same contents after %s", diag.Count(count, "row")), err)
	}
}

// read polls until nothing is left.
func (v *verifier) read(ctx context.Context, conn *pgx.Conn, f *follower, group string) (int, error) {
	for count := 0; ; {
		rows, err := conn.Query(ctx, fmt.Sprintf("select id, is_claim_check, payload from %s.poll_outbox($1, 'sluice verify', 10)", v.schema()), group)
		if err != nil {
			return count, err
		}
		news, err := pgx.CollectRows(rows, pgx.RowToStructByPos[refreshed])
		if err != nil || len(news) == 0 {
			return count, err
		}
		for _, r := range news {
			if err := f.apply(ctx, conn, r); err != nil {
				return count, err
			}
			count++
		}
		last := news[len(news)-1].ID
		var committed int64
		err = conn.QueryRow(ctx, fmt.Sprintf("select %s.commit_offset($1, 'sluice verify', $2)", v.schema()), group, last).Scan(&committed)
		if err != nil {
			return count, err
		}
		if committed != last {
			return count, fmt.Errorf("committing offset %d of group %s committed %d", last, group, committed)
		}
	}
}

// refreshed is a row of the outbox of a stream table.
type refreshed struct {
	ID         int64
	ClaimCheck bool
	Payload    struct {
		FullRefresh bool              `json:"full_refresh"`
		Deleted     []json.RawMessage `json:"deleted"`
		Inserted    []json.RawMessage `json:"inserted"`
	}
}

func (f *follower) apply(ctx context.Context, conn *pgx.Conn, r refreshed) error {
	if r.Payload.FullRefresh {
		clear(f.rows)
	}
	if r.ClaimCheck {
		rows, err := conn.Query(ctx, "select op::text = 'D', payload from "+f.deltas+" where outbox_id = $1", r.ID)
		if err != nil {
			return err
		}
		var deleted bool
		var payload json.RawMessage
		_, err = pgx.ForEachRow(rows, []any{&deleted, &payload}, func() error {
			if deleted {
				r.Payload.Deleted = append(r.Payload.Deleted, append(json.RawMessage{}, payload...))
			} else {
				r.Payload.Inserted = append(r.Payload.Inserted, append(json.RawMessage{}, payload...))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, row := range r.Payload.Deleted {
		f.count(row, -1)
	}
	for _, row := range r.Payload.Inserted {
		f.count(row, 1)
	}
	return nil
}

func (f *follower) count(row json.RawMessage, by int) {
	key := canonical(row)
	if f.rows[key] += by; f.rows[key] == 0 {
		delete(f.rows, key)
	}
}

// canonical writes JSON in one way. Numbers that are equal count as such.
func canonical(text json.RawMessage) string {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return string(text)
	}
	out, _ := json.Marshal(value)
	return string(out)
}

// same compares the copy with the stream table.
func (f *follower) same(ctx context.Context, conn *pgx.Conn, v *verifier) error {
	streams, err := v.readStreams(ctx, conn)
	if err != nil {
		return err
	}
	for _, s := range streams {
		if s.ID != f.table {
			continue
		}
		rows, err := conn.Query(ctx, "select to_jsonb(t) from "+s.relation()+" t")
		if err != nil {
			return err
		}
		there, err := pgx.CollectRows(rows, pgx.RowTo[json.RawMessage])
		if err != nil {
			return err
		}
		for _, row := range there {
			f.count(row, -1)
		}
	}
	if len(f.rows) == 0 {
		return nil
	}
	wrong := errors.New("who follows it has other rows than the stream table")
	for row, n := range f.rows {
		wrong = fmt.Errorf("%w\n%+d: %s", wrong, n, row)
		break
	}
	return wrong
}
