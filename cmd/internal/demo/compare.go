package demo

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// streamTable is a stream table and its query.
type streamTable struct{ name, query string }

// compareTables refreshes each stream table and compares it with its query.
func compareTables(ctx context.Context, conn *pgx.Conn) (map[string]Compared, error) {
	rows, err := conn.Query(ctx, "select pgt_name, query from sales.pgt_stream_tables")
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t streamTable, err error) {
		return t, row.Scan(&t.name, &t.query)
	})
	if err != nil {
		return nil, err
	}
	// Where their names mean what they mean to the stream tables.
	if _, err := conn.Exec(ctx, "set search_path = public, sales"); err != nil {
		return nil, err
	}
	found := map[string]Compared{}
	for _, t := range tables {
		if found[t.name], err = t.compare(ctx, conn); err != nil {
			return nil, fmt.Errorf("stream table %s: %w", t.name, err)
		}
	}
	return found, nil
}

// compare counts the rows that only one of the two has.
func (t streamTable) compare(ctx context.Context, conn *pgx.Conn) (c Compared, err error) {
	if _, err := conn.Exec(ctx, "select from sales.refresh_stream_table($1)", t.name); err != nil {
		return c, err
	}
	table := pgx.Identifier{"sales", t.name}.Sanitize()
	const sql = `
with is_ as (table %[1]s), should as (%[2]s)
select (select count(*) from is_),
       (select count(*) from ((table is_ except all table should) union all (table should except all table is_)) x)`
	return c, conn.QueryRow(ctx, fmt.Sprintf(sql, table, t.query)).Scan(&c.Rows, &c.Wrong)
}
