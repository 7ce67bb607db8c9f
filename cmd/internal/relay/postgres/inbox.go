package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Inbox stores events in an inbox, each id once. It is a wire.Sink, and in order.
type Inbox struct {
	db                 *Database
	name               string
	asDocument         bool
	sequence, priority wire.Template
	own                bool                // closes its database
	Duplicates         func(duplicate int) // is told how many events were there before
}

// NewInbox makes a sink. It closes the database when it is closed if it is its own.
func NewInbox(db *Database, c *config.Inbox, own bool) (*Inbox, error) {
	i := &Inbox{db: db, name: c.Name, asDocument: c.As == config.AsDocument, own: own, Duplicates: func(int) {}}
	var err error
	if i.sequence, err = wire.ParseTemplate(c.Sequence); err != nil {
		return nil, err
	}
	i.priority, err = wire.ParseTemplate(c.Priority)
	return i, err
}

// InOrder implements wire.InOrder: a call is one transaction.
func (i *Inbox) InOrder() {}

// Check implements wire.Sink. It stores no message, and a document that cannot be read, in a transaction that it rolls back.
func (i *Inbox) Check(ctx context.Context) error {
	return i.db.try(ctx, func(tx session) error {
		var name string
		err := tx.QueryRow(ctx, i.db.sql("select c.inbox_name from %s.pgt_inbox_config c where c.inbox_name operator(pg_catalog.=) $1"), i.name).Scan(&name)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("inbox not found: %s, in schema %s", i.name, i.db.schema)
		}
		if err == nil {
			_, err = tx.Exec(ctx, i.db.sql("select from %s.inbox_receive_many($1, '[]')"), i.name)
		}
		if err == nil && i.asDocument {
			_, err = tx.Exec(ctx, i.db.sql("select %s.inbox_receive_wire($1, '')"), i.name)
		}
		return plain(err)
	})
}

// Close implements wire.Sink.
func (i *Inbox) Close(context.Context) error {
	if i.own {
		i.db.Close()
	}
	return nil
}

// Send implements wire.Sink. If the server refuses the values of a message, those of each are tried alone.
func (i *Inbox) Send(ctx context.Context, documents []*wire.Document) []error {
	if len(documents) == 0 {
		return nil
	}
	err := i.store(ctx, documents)
	switch {
	case err == nil:
		return nil
	case !isRefused(err):
		return wire.All(documents, err)
	case len(documents) == 1:
		return []error{wire.Rejected{Err: err}}
	}
	errs := make([]error, len(documents))
	for n, d := range documents {
		if errs[n] = i.store(ctx, []*wire.Document{d}); isRefused(errs[n]) {
			errs[n] = wire.Rejected{Err: errs[n]}
		} else if errs[n] != nil { // none behind it is stored before it
			copy(errs[n:], wire.All(documents[n:], errs[n]))
			break
		}
	}
	return errs
}

// isRefused reports whether no attempt can store the same values: they are no values of a type, too long, or violate a constraint.
func isRefused(err error) bool {
	var failed Failure
	if !errors.As(err, &failed) {
		return wire.IsRejected(err)
	}
	switch failed.Code[:2] {
	case "22", "23":
		return true
	}
	return failed.Code == "54000" // a limit, such as the depth or the size of a document
}

func (i *Inbox) store(ctx context.Context, documents []*wire.Document) error {
	if i.asDocument {
		return i.storeDocuments(ctx, documents)
	}
	messages := make([]map[string]any, len(documents))
	for n, d := range documents {
		m, err := i.message(d.Event)
		if err != nil {
			return err
		}
		messages[n] = m
	}
	text, err := json.Marshal(messages)
	if err != nil {
		return wire.Rejected{Err: err}
	}
	var stored int
	err = i.db.pool.QueryRow(ctx, i.db.sql("select pg_catalog.count(*) filter (where r.stored) from %s.inbox_receive_many($1, $2::pg_catalog.jsonb) r"), i.name, string(text)).Scan(&stored)
	if err == nil && stored < len(documents) {
		i.Duplicates(len(documents) - stored)
	}
	return plain(err)
}

// message is an event as inbox_receive_many takes it.
func (i *Inbox) message(e *wire.Event) (map[string]any, error) {
	m := map[string]any{"event_id": e.Unique(), "event_type": e.Type, "payload": e.Body()}
	for name, value := range map[string]string{"source": e.Origin, "aggregate_id": e.Key, "trace_id": e.Trace} {
		if value != "" {
			m[name] = value
		}
	}
	sequence, err := i.sequence.Execute(e)
	if err != nil {
		return nil, err
	}
	if sequence != "" {
		m["sequence"] = sequence
	}
	priority, err := i.priority.Execute(e)
	if err != nil {
		return nil, err
	}
	if priority != "" {
		n, err := strconv.Atoi(priority)
		if err != nil {
			return nil, wire.Reject("the priority %q is no whole number", priority)
		}
		m["priority"] = n
	}
	return m, nil
}

// storeDocuments gives documents to the inbox as the broker had them. Those that it cannot read go to its quarantine.
func (i *Inbox) storeDocuments(ctx context.Context, documents []*wire.Document) error {
	statements := &pgx.Batch{}
	duplicates := 0
	for _, d := range documents {
		place := d.Event.Place
		if d.Event.Raw != nil {
			d = d.Event.Raw
		}
		headers, err := json.Marshal(d.Headers)
		if err != nil {
			return wire.Rejected{Err: err}
		}
		var key, topic, partition, offset any
		if d.Key != "" {
			key = d.Key
		}
		if place.Known {
			topic, partition, offset = place.Topic, place.Partition, place.Offset
		}
		statements.Queue(i.db.sql("select %s.inbox_receive_wire($1, $2, $3, $4, $5, $6, $7)"), i.name, string(d.Body), key, string(headers), topic, partition, offset).
			QueryRow(func(row pgx.Row) error {
				var stored bool
				err := row.Scan(&stored)
				if err == nil && !stored {
					duplicates++
				}
				return err
			})
	}
	err := i.db.pool.SendBatch(ctx, statements).Close()
	if err == nil && duplicates > 0 {
		i.Duplicates(duplicates)
	}
	return plain(err)
}
