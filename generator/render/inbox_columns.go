package render

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Columns maps the columns of an inbox to those of its table. A column that the table does not have is empty.
//
// Only what writes or declares something on the table itself names its columns: inserts, triggers and indexes. All else reads Rows, which
// shows the table under the names that a managed inbox has, so it is the same text for every inbox.
type Columns struct {
	ID, EventType, Source, AggregateID, Payload, ReceivedAt, ProcessedAt, Error, RetryCount, TraceID, AvailableAt, Sequence, Priority ColumnName
	IDs                                                                                                                               []ColumnName // of an id of several columns, in place of ID
	Tenant, MessageID                                                                                                                 ColumnName   // of an inbox with tenants, whose event_id is made of both
}

// IDColumns are the columns that identify a message.
func (c Columns) IDColumns() []ColumnName {
	if c.IDs != nil {
		return c.IDs
	}
	return []ColumnName{c.ID}
}

// ColumnName is a column's name in the table; empty if the table has none.
type ColumnName string

// String is the name as SQL.
func (c ColumnName) String() string { return sqltext.Ident(string(c)) }

// Name is the name as the catalog has it.
func (c ColumnName) Name() string { return string(c) }

// ManagedColumns are the columns of an inbox's own table; available_at is there for a back-off only.
func ManagedColumns(delays bool) Columns {
	c := Columns{
		ID: "event_id", EventType: "event_type", Source: "source", AggregateID: "aggregate_id", Payload: "payload", ReceivedAt: "received_at",
		ProcessedAt: "processed_at", Error: "error", RetryCount: "retry_count", TraceID: "trace_id",
	}
	if delays {
		c.AvailableAt = "available_at"
	}
	return c
}

// all lists the columns that the table has, in the order of a managed inbox's.
func (c Columns) all() []ColumnName {
	var all []ColumnName
	for _, column := range []ColumnName{
		c.ID, c.EventType, c.Source, c.AggregateID, c.Payload, c.ReceivedAt, c.ProcessedAt, c.Error, c.RetryCount, c.TraceID, c.AvailableAt, c.Sequence, c.Priority, c.Tenant, c.MessageID,
	} {
		if column != "" {
			all = append(all, column)
		}
	}
	return all
}

// Order is an order of the rows of an inbox: its keys by the names that Rows has, the most significant first.
type Order []string

// Arrival is the order in which messages arrived. Watermarks, counts and the retry queue follow it, in whatever order claims hand messages out.
var Arrival = Order{"received_at", "event_id"}

// By lists the keys of row a, as ORDER BY takes them.
func (o Order) By(a string) string { return a + "." + strings.Join(o, ", "+a+".") }

// From is the condition that row a is not before a cursor, of which there is one value a key.
func (o Order) From(a string, cursor ...string) string {
	return "(" + o.By(a) + ") >= (" + strings.Join(cursor, ", ") + ")"
}

// Index lists what an index in this order is on.
func (o Order) Index() string { return strings.Join(o, ", ") }
