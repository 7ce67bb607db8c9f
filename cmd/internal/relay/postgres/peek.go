package postgres

import (
	"context"
	"fmt"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Peek returns the next events above the committed offset of a group, leased ones included, and takes no lease.
func (d *Database) Peek(ctx context.Context, c *config.Outbox, atMost int) ([]*wire.Event, error) {
	look := *c
	look.Create, look.Notifications = "", false
	o, err := NewOutbox(ctx, d, &look, "", atMost, nil, nil)
	if err != nil {
		return nil, err
	}
	columns, types := "o.event_type, o.aggregate_id, o.headers::pg_catalog.text, null::boolean", " and ($3::pg_catalog.text[] is null or o.event_type operator(pg_catalog.=) any ($3))"
	if o.catalog.streamTable != "" {
		columns, types = "null::pg_catalog.text, null::pg_catalog.text, null::pg_catalog.text, o.is_claim_check", " and $3::pg_catalog.text[] is null"
	}
	rows, err := d.pool.Query(ctx, fmt.Sprintf(`
		select o.id, o.created_at, %s
		from %s o
		where o.id operator(pg_catalog.>) coalesce((select g.committed_offset from %s.pgt_consumer_group_lag g where g.group_name operator(pg_catalog.=) $1), 0)%s
		order by o.id limit $2`, columns, o.catalog.table, d.schema, types), c.Group, atMost, o.types())
	if err != nil {
		return nil, plain(err)
	}
	defer rows.Close()
	for rows.Next() {
		r := &row{}
		if err := rows.Scan(&r.id, &r.createdAt, &r.eventType, &r.key, &r.headers, &r.isClaim); err != nil {
			return nil, err
		}
		o.rows = append(o.rows, r)
	}
	rows.Close()
	if rows.Err() != nil {
		return nil, plain(rows.Err())
	}
	return o.next(ctx)
}
