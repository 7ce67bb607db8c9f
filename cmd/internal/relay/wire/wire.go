// Package wire holds what the rooms of the relay share: events, the documents that brokers carry, and the two interfaces between them.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Event is one event on its way from a source to a sink.
type Event struct {
	ID      string            // unique within Origin
	Origin  string            // what CloudEvents calls source, such as /shop/shop_events
	Type    string            // such as order.placed
	Key     string            // events of one key stay in order; empty has none
	Time    time.Time         // when it was published
	Headers map[string]string // the publisher's own
	Payload json.RawMessage   // a JSON value
	Trace   string            // traceparent of W3C Trace Context, or empty
	Row     *Row              // of a changed row of a stream table; else nil
	Outbox  *Outbox           // of an event of an outbox; else nil
	Place   Place             // in the broker that it came from
	Raw     *Document         // as the broker had it; nil from an outbox
	Problem error             // why Raw cannot be read: the event is rejected
	Attempt int               // which attempt to deliver it this is, from 1, where the source counts them; else 0
	Tag     any               // the source's own, to acknowledge it by
}

// Row is a changed row of a stream table.
type Row struct {
	Op       string // I for an inserted row, D for a deleted one, T for the removal of all
	Snapshot bool   // one of all rows, which follow a T
	Data     json.RawMessage
}

// Place is where a document stands in a broker; the zero value is nowhere.
type Place struct {
	Topic     string
	Partition int32
	Offset    int64
	Known     bool
}

// Unique is the event's id among those of all origins: the key that repeated deliveries are recognised by.
func (e *Event) Unique() string {
	if e.Origin == "" {
		return e.ID
	}
	return e.Origin + "/" + e.ID
}

// Document is an event as a broker carries it.
type Document struct {
	Event       *Event
	Address     string            // subject, topic, routing key, stream or path
	Key         string            // of a partition
	ID          string            // the idempotency key
	Headers     map[string]string // names in lower case
	Configured  map[string]bool   // names of headers that the pipeline has, which publishers have no say in
	ContentType string
	Body        []byte
}

// Source is where events come from. One goroutine uses it at a time, but for Close.
type Source interface {
	// Receive waits for events until ctx ends, and returns at least one of them unless it returns an error. After an error that is not ctx's the
	// source is closed and opened again.
	Receive(ctx context.Context) ([]*Event, error)
	// Settle says what became of all events that Receive returned last: nil for those that the sink has, a Rejected for those that it never takes,
	// another error for those that were not delivered, which come again; of a Postponing source a Postponed after a time, or ErrBehind after those before it.
	Settle(ctx context.Context, events []*Event, outcomes []error) error
	// Close gives back what was received and not settled.
	Close(ctx context.Context) error
}

// Postponing is a Source whose events can come again after a time, others first.
type Postponing interface {
	Source
	// Postpones reports whether they can, and whether the events of a key wait for one of them. If they cannot, all wait until each is delivered.
	Postpones() (can, inOrder bool)
	// Probe has Receive return one event at a time, or as many as it can again.
	Probe(one bool)
	// HasMore reports whether Receive, after Settle, returns what the source received with the events that it returned last.
	HasMore() bool
	// Wake has a Receive that waits look for events. Any goroutine may call it.
	Wake()
}

// Sink is where documents go. One goroutine uses it at a time, but for Close.
type Sink interface {
	// Send delivers documents and returns when each is stored where it goes, or will never be: then its error is a Rejected. Any other error means
	// that it may be stored, or not, and is sent again. The result has an error for each document, or is nil. Documents of one key are never in
	// one call unless the sink is InOrder.
	Send(ctx context.Context, documents []*Document) []error
	// Check says whether documents could be sent, and sends none.
	Check(ctx context.Context) error
	Close(ctx context.Context) error
}

// InOrder is a Sink that stores the documents of one call in their order, and none that follows one of its key that it did not store.
type InOrder interface{ InOrder() }

// Rejected is the error of an event that no attempt can deliver.
type Rejected struct{ Err error }

func (r Rejected) Error() string { return r.Err.Error() }
func (r Rejected) Unwrap() error { return r.Err }

// Later is the error of an event that is not to be sent before a time has passed.
type Later struct {
	Err   error
	After time.Duration
}

func (l Later) Error() string { return l.Err.Error() }
func (l Later) Unwrap() error { return l.Err }

// Postponed is the outcome of an event that comes again after a time. Where it counts, it was an attempt.
type Postponed struct {
	Later
	Counts bool
}

// ErrBehind is the error of an event that was not sent since one before it was not delivered.
var ErrBehind = errors.New("not sent, since an event before it was not delivered")

// Reject makes an error of an event that no attempt can deliver.
func Reject(format string, args ...any) error { return Rejected{fmt.Errorf(format, args...)} }

// IsRejected reports whether no attempt can deliver an event.
func IsRejected(err error) bool {
	var rejected Rejected
	return errors.As(err, &rejected)
}

// All is the same error for each of several documents or events; nil for no error.
func All[T any](all []T, err error) []error {
	if err == nil {
		return nil
	}
	errs := make([]error, len(all))
	for i := range errs {
		errs[i] = err
	}
	return errs
}
