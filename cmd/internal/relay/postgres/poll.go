package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const (
	inlineBytes = 64 << 10 // a payload above is read when its turn comes, so that a batch of large ones does not fill the memory
	batchBytes  = 4 << 20  // of payloads that Receive returns at once, unless one is larger
)

// row is a granted row of the outbox.
type row struct {
	id        int64
	createdAt time.Time
	eventType *string
	key       *string
	headers   []byte
	payload   []byte // nil if it is large
	isClaim   *bool
	attempt   int

	parts   *parts          // of a stream table, once the row was begun
	open    int             // events of it that were received and are not settled
	read    bool            // there are no more events of it
	problem error           // of an event that was rejected
	left    bool            // an event of it was not delivered
	again   *wire.Postponed // when it comes again; nil: at once
}

const pollQuery = `
	select p.id, p.created_at, p.event_type, p.aggregate_id, p.headers::pg_catalog.text, t.text, p.is_claim_check, p.attempts, p.lease_id
	from (select pg_catalog.set_config('synchronous_commit', 'off', true)) s -- rows of a lease that a crash forgets are granted again
	cross join lateral %s.poll_outbox($1, $2, $3, $4, $5) p
	cross join lateral (select case when pg_catalog.octet_length(x.text) operator(pg_catalog.<=) $6 then x.text end as text from (select p.payload::pg_catalog.text as text offset 0) x) t`

// poll asks for rows. What it got before an error comes again with the next poll.
func (o *Outbox) poll(ctx context.Context) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	rows, err := o.db.pool.Query(ctx, o.db.sql(pollQuery), o.c.Group, o.consumer, o.atMost(), o.seconds(), o.types(), inlineBytes)
	if err != nil {
		return plain(err)
	}
	defer rows.Close()
	o.rows = nil
	for rows.Next() {
		r := &row{}
		if err := rows.Scan(&r.id, &r.createdAt, &r.eventType, &r.key, &r.headers, &r.payload, &r.isClaim, &r.attempt, &o.lease); err != nil {
			return err
		}
		o.rows = append(o.rows, r)
	}
	if rows.Err() == nil && len(o.rows) > 0 {
		o.hold()
	}
	return plain(rows.Err())
}

// types are those that are asked for; nil is all.
func (o *Outbox) types() (types []string) {
	for _, t := range o.c.EventTypes {
		types = append(types, t.Value)
	}
	return types
}

// next makes events of the rows that are held and not read, up to a batch.
func (o *Outbox) next(ctx context.Context) (events []*wire.Event, err error) {
	bytes := 0
	for _, r := range o.rows {
		for !r.read && len(events) < o.atMost() && bytes < batchBytes {
			e, err := o.event(ctx, r)
			if err != nil {
				return nil, err
			}
			e.Tag = r
			r.open++
			bytes += len(e.Payload)
			if e.Row != nil {
				bytes += len(e.Row.Data)
			}
			events = append(events, e)
		}
		if !r.read {
			break
		}
	}
	return events, nil
}

// event makes the next event of a row that is not read.
func (o *Outbox) event(ctx context.Context, r *row) (*wire.Event, error) {
	if o.catalog.streamTable != "" {
		return o.part(ctx, r)
	}
	payload, err := o.payload(ctx, r)
	if err != nil {
		return nil, err
	}
	r.read = true
	e := &wire.Event{ID: strconv.FormatInt(r.id, 10), Origin: o.origin, Time: r.createdAt, Payload: payload, Headers: headers(r.headers), Attempt: r.attempt,
		Outbox: &wire.Outbox{Schema: o.catalog.schema, Table: o.catalog.tableName}}
	if r.eventType != nil {
		e.Type = *r.eventType
	}
	if r.key != nil {
		e.Key = *r.key
	}
	if source := e.Headers["source"]; source != "" && o.c.Origin == "" {
		e.Origin, e.Outbox.IsNamed = source, true
		delete(e.Headers, "source")
	}
	e.Trace = e.Headers["traceparent"]
	delete(e.Headers, "traceparent")
	return e, nil
}

// payload reads what the poll left out.
func (o *Outbox) payload(ctx context.Context, r *row) (json.RawMessage, error) {
	if r.payload != nil {
		return r.payload, nil
	}
	var payload []byte
	err := o.db.pool.QueryRow(ctx, fmt.Sprintf("select o.payload::pg_catalog.text from %s o where o.id operator(pg_catalog.=) $1", o.catalog.table), r.id).Scan(&payload)
	return payload, plain(err)
}

// headers are those of a publisher; values that are no text are kept as JSON.
func headers(text []byte) map[string]string {
	var values map[string]json.RawMessage
	if len(text) <= len("{}") || json.Unmarshal(text, &values) != nil {
		return nil
	}
	all := make(map[string]string, len(values))
	for name, value := range values {
		var s string
		if json.Unmarshal(value, &s) != nil {
			s = string(value)
		}
		all[name] = s
	}
	return all
}
