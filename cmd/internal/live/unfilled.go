package live

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Unfilled is a stream table that holds nothing to rely on, and what the database said; nothing if another session is at it.
type Unfilled struct{ Name, Why string }

const unfilledQuery = `
select c.stream_table,
       case when t.status = 'suspended' then 'suspended: ' else '' end || coalesce(t.last_error, '')
from %[2]s.pgt_stream_table_state s
join %[2]s.pgt_stream_table_config c using (stream_table)
join %[1]s.pgt_stream_tables t using (pgt_schema, pgt_name)
where s.seen is null or s.logged
order by c.refresh_order`

// readUnfilled finds the stream tables that filling has left out.
func readUnfilled(ctx context.Context, conn *pgx.Conn, schema string) (unfilled []Unfilled, err error) {
	err = within(ctx, conn, beginReadOnly, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, fmt.Sprintf(unfilledQuery, sqltext.Ident(schema), sqltext.Ident(generator.InternalSchema(schema))))
		if err == nil {
			unfilled, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Unfilled])
		}
		return err
	})
	return unfilled, err
}
