package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Outbox is a consumer of a group of an outbox. It is a wire.Source.
type Outbox struct {
	db       *Database
	c        *config.Outbox
	consumer string
	batch    int
	one      bool // event at a time
	wake     <-chan struct{}
	log      *slog.Logger
	catalog  catalogRow
	origin   string

	rows   []*row // granted and not settled, in the order of ids
	lease  int64
	holder holder
	woken  chan struct{} // by Wake
}

// catalogRow is what the catalog says of an outbox.
type catalogRow struct {
	name, kind, table, schema, tableName, deltas string
	streamTable                                  string // its name alone; empty for events
	isOrdered                                    bool
}

// NewOutbox looks at the outbox and its group. Notifications that the listener gets end the pause between polls that find nothing.
func NewOutbox(ctx context.Context, db *Database, c *config.Outbox, consumer string, batch int, listener *Listener, log *slog.Logger) (*Outbox, error) {
	catalog, err := db.outbox(ctx, db.pool, c)
	if err != nil {
		return nil, err
	}
	o := &Outbox{db: db, c: c, consumer: consumer, batch: batch, log: log, catalog: catalog, origin: c.Origin, woken: make(chan struct{}, 1)}
	if o.origin == "" {
		if o.origin, err = db.origin(ctx, db.pool, catalog); err != nil {
			return nil, err
		}
	}
	if c.Notifications {
		o.wake = listener.wakes(catalog.tableName, c.Group+"/"+consumer)
	}
	o.holder.extend = o.extend
	o.hold()
	return o, nil
}

// origin is what the outbox's view of CloudEvents has as their source.
func (d *Database) origin(ctx context.Context, in session, o catalogRow) (string, error) {
	var extension string
	if err := in.QueryRow(ctx, d.sql("select e.name from %s.pgt_extension e")).Scan(&extension); err != nil {
		return "", fmt.Errorf("the extension's name, for the events' origin: %w; set origin: of the outbox if its role may not read it", plain(err))
	}
	return "/" + extension + "/" + o.name, nil
}

// checks call all that a consumer calls, with nothing to do.
const checks = `
	select %s.ack_rows($1, $2, '{}'), %s.reject_rows($1, $2, '{}', 'check'), %s.release_rows($1, $2, '{}'), %s.extend_lease($1, $2, 1), %s.consumer_heartbeat($1, $2),
	       %s.leave_group($1, $2)`

// CheckOutbox creates the group of an outbox where the configuration says so, polls it, reads the outbox and calls what settles rows, in a transaction that it
// rolls back.
func (d *Database) CheckOutbox(ctx context.Context, c *config.Outbox) error {
	return d.try(ctx, func(tx session) error {
		o, err := d.outbox(ctx, tx, c)
		if err == nil && c.Origin == "" {
			_, err = d.origin(ctx, tx, o)
		}
		if err == nil {
			look := Outbox{c: c}
			_, err = tx.Exec(ctx, d.sql("select from %s.poll_outbox($1, 'sluice relay check', 1, 1, $2)"), c.Group, look.types())
		}
		for _, table := range []string{o.table, o.deltas} {
			if err == nil && table != "" {
				_, err = tx.Exec(ctx, "select from "+table+" limit 0")
			}
		}
		if err == nil {
			_, err = tx.Exec(ctx, d.sql(checks), c.Group, "sluice relay check")
		}
		return plain(err)
	})
}

// outbox reads the catalog, by the name of an outbox or of a stream table that has one, and has the group.
func (d *Database) outbox(ctx context.Context, in session, c *config.Outbox) (o catalogRow, err error) {
	err = in.QueryRow(ctx, d.sql(`
		select c.outbox_name, c.kind, pg_catalog.format('%I.%I', c.outbox_schema, c.outbox_table_name), c.outbox_schema::pg_catalog.text, c.outbox_table_name::pg_catalog.text,
		       case when c.delta_rows_table_name is not null then pg_catalog.format('%I.%I', c.outbox_schema, c.delta_rows_table_name) else '' end,
		       coalesce(c.pgt_name, ''), c.ordering_key is not null
		from %s.pgt_outbox_config c
		where $1 operator(pg_catalog.=) any (array[c.outbox_name, c.stream_table, c.pgt_name]::pg_catalog.text[])`), c.Name).Scan(&o.name, &o.kind, &o.table, &o.schema, &o.tableName, &o.deltas, &o.streamTable, &o.isOrdered)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, fmt.Errorf("outbox not found: %s, in schema %s", c.Name, d.schema)
	}
	if err != nil {
		return o, plain(err)
	}
	var of string
	err = in.QueryRow(ctx, d.sql("select g.outbox_name from %s.pgt_consumer_groups g where g.group_name operator(pg_catalog.=) $1"), c.Group).Scan(&of)
	switch {
	case errors.Is(err, pgx.ErrNoRows) && c.Create != "":
		_, err = in.Exec(ctx, d.sql("select %s.create_consumer_group($1, $2, $3)"), c.Group, o.name, c.Create)
		return o, plain(err)
	case errors.Is(err, pgx.ErrNoRows):
		return o, fmt.Errorf("consumer group not found: %s; create it by create_consumer_group(), in the spec, or by create: in the configuration", c.Group)
	case err == nil && of != o.name:
		return o, fmt.Errorf("consumer group %s is one of outbox %s, not of %s", c.Group, of, o.name)
	}
	return o, plain(err)
}

// Postpones implements wire.Postponing: events are given back to the group for a time. The parts of a refresh stay in order.
func (o *Outbox) Postpones() (can, inOrder bool) {
	return o.catalog.streamTable == "", o.catalog.isOrdered
}

// Probe implements wire.Postponing.
func (o *Outbox) Probe(one bool) { o.one = one }

// atMost is how many events Receive returns, at most.
func (o *Outbox) atMost() int {
	if o.one {
		return 1
	}
	return o.batch
}

// Receive implements wire.Source.
func (o *Outbox) Receive(ctx context.Context) ([]*wire.Event, error) {
	for {
		events, err := o.next(ctx)
		if err != nil || len(events) > 0 {
			return events, err
		}
		if err := o.poll(ctx); err != nil {
			return nil, err
		}
		if len(o.rows) > 0 {
			continue
		}
		if err := o.rest(ctx); err != nil {
			return nil, err
		}
	}
}

// HasMore implements wire.Postponing: it received rows with more text than Receive returns at once.
func (o *Outbox) HasMore() bool {
	return slices.ContainsFunc(o.rows, func(r *row) bool { return !r.read })
}

// Wake implements wire.Postponing.
func (o *Outbox) Wake() {
	select {
	case o.woken <- struct{}{}:
	default:
	}
}

// rest waits for a notification, Wake or the next poll.
func (o *Outbox) rest(ctx context.Context) error {
	timer := time.NewTimer(time.Duration(o.c.PollEvery))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-o.wake:
	case <-o.woken:
	case <-timer.C:
	}
	return nil
}

// Close gives back what is not settled and leaves the group, so that no alert expects this consumer.
func (o *Outbox) Close(ctx context.Context) error {
	o.holder.stop()
	o.rows = nil
	return o.db.exec(ctx, "select %s.leave_group($1, $2)", o.c.Group, o.consumer)
}

// hold shows that the consumer is alive, and holds the lease of the rows in progress, if there are any.
func (o *Outbox) hold() {
	if len(o.rows) == 0 {
		o.holder.start(0, beatEvery)
		return
	}
	o.holder.start(o.lease, min(time.Duration(o.c.Visibility)/3, beatEvery))
}

// extend extends the lease of the rows in progress, if there are any. Polls that find nothing leave no trace, so a heartbeat shows that the consumer is alive.
func (o *Outbox) extend(ctx context.Context, lease int64) error {
	if lease == 0 {
		return o.db.exec(ctx, "select %s.consumer_heartbeat($1, $2)", o.c.Group, o.consumer)
	}
	err := o.db.exec(ctx, "select %s.extend_lease($1, $2, $3, $4), %s.consumer_heartbeat($1, $2)", o.c.Group, o.consumer, o.seconds(), lease)
	if err != nil && !isLost(err) && ctx.Err() == nil {
		o.log.Warn("lease not extended", "error", err)
	}
	return err
}

// seconds is the visibility of leases.
func (o *Outbox) seconds() int { return int(time.Duration(o.c.Visibility) / time.Second) }
