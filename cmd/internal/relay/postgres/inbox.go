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

// Send implements wire.Sink. If the server refuses a message, each is tried alone.
func (i *Inbox) Send(ctx context.Context, documents []*wire.Document) []error {
	if len(documents) == 0 {
		return nil
	}
	err := i.store(ctx, documents)
	switch {
	case err == nil:
		return nil
	case !isRefused(err) && !isOfMessage(err):
		return wire.All(documents, err)
	}
	errs, failed := make([]error, len(documents)), map[string]bool{}
	for n, d := range documents {
		if failed[d.Key] && d.Key != "" {
			errs[n] = wire.ErrBehind
			continue
		}
		err := i.store(ctx, []*wire.Document{d})
		switch {
		case err == nil:
		case isRefused(err):
			errs[n] = wire.Rejected{Err: err}
		case isOfMessage(err):
			errs[n], failed[d.Key] = err, true
		default:
			copy(errs[n:], wire.All(documents[n:], err))
			return errs
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

// isOfMessage reports whether the server may store other messages: a trigger of the application raised an error, or has a fault that this message meets.
func isOfMessage(err error) bool {
	var failed Failure
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Code[:2] {
	case "P0", "21", "38", "39", "42":
		return true
	}
	return false
}

func (i *Inbox) store(ctx context.Context, documents []*wire.Document) error {
	if i.asDocument {
		return i.storeDocuments(ctx, documents)
	}
	messages := make([]message, len(documents))
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
type message struct {
	ID       string          `json:"event_id"`
	Type     string          `json:"event_type"`
	Payload  json.RawMessage `json:"payload"`
	Origin   string          `json:"source,omitempty"`
	Key      string          `json:"aggregate_id,omitempty"`
	Trace    string          `json:"trace_id,omitempty"`
	Sequence string          `json:"sequence,omitempty"`
	Priority *int            `json:"priority,omitempty"`
}

func (i *Inbox) message(e *wire.Event) (message, error) {
	m := message{ID: e.Unique(), Type: e.Type, Payload: e.Body(), Origin: e.Origin, Key: e.Key, Trace: e.Trace}
	var err error
	if m.Sequence, err = i.sequence.Execute(e); err != nil {
		return m, err
	}
	priority, err := i.priority.Execute(e)
	if err == nil && priority != "" {
		n, isWrong := strconv.Atoi(priority)
		if isWrong != nil {
			return m, wire.Reject("the priority %q is no whole number", priority)
		}
		m.Priority = &n
	}
	return m, err
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
