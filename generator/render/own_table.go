package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// OwnTable is the table of a user that an inbox is over. It is never altered: Rows, a view, shows it under the names of a managed inbox's
// columns, and what the inbox needs on the table itself is created by AttachFn and dropped by DetachFn.
type OwnTable struct {
	Shapes   []Shape           // of the columns that the inbox uses, in the order of a managed inbox's
	IDIndex  Name              // by which a message is found by its id as a text; empty if the unique key serves
	Triggers map[string]string // by events: those of a managed inbox might be another extension's

	Partitioned bool // rows are written through partitions, too

	AttachFn, DetachFn Name

	Roles []OwnRole // of columns, where it stands for tables that functions put inboxes over
}

// Shape is a column of a user's table.
type Shape struct {
	Name      ColumnName
	Type      string // as format_type spells it
	Collation string // quoted and qualified; empty for the default, or for none
	Nullable  bool   // it has to take nulls; others must not
	Either    bool   // it may do either
}

// OwnTables lists the inboxes over tables of users.
func (e Extension) OwnTables() []Inbox {
	return slices.DeleteFunc(slices.Clone(e.Inboxes), func(i Inbox) bool { return i.Own == nil })
}

func (o OwnTable) shape(c ColumnName) Shape {
	return o.Shapes[slices.IndexFunc(o.Shapes, func(s Shape) bool { return s.Name == c })]
}

// TypeOf is the type of a column, as format_type spells it.
func (o OwnTable) TypeOf(c ColumnName) string { return o.shape(c).Type }

// of is a column of row a, or by itself.
func of(a string, c ColumnName) string {
	if a == "" {
		return c.String()
	}
	return a + "." + c.String()
}

// Text is a column of row a as a text that is compared and grouped by its bytes; null if the table has none.
func (i Inbox) Text(c ColumnName, a string) string {
	if i.Any { // which nothing asks for another
		return i.expression("event_type", a)
	}
	if c == "" {
		return "null::text"
	}
	column := of(a, c)
	if i.Own == nil {
		return column
	}
	switch s := i.Own.shape(c); {
	case s.Type != "text":
		return column + "::text"
	case s.Collation != "":
		return "(" + column + ` collate pg_catalog."default")`
	}
	return column
}

// bytewise is the collation of ids.
const bytewise = `pg_catalog."C"`

// IDText is the id of row a as a text, which is how all other tables hold it.
func (i Inbox) IDText(a string) string {
	if i.Any {
		return i.expression("event_id", a)
	}
	if i.Columns.IDs != nil {
		return "((" + i.joinedID(a) + ") collate " + bytewise + ")"
	}
	column := of(a, i.Columns.ID)
	if i.Own == nil {
		return column
	}
	switch s := i.Own.shape(i.Columns.ID); {
	case s.Type != "text":
		return "((" + column + ")::text collate " + bytewise + ")"
	case s.Collation != bytewise:
		return "(" + column + " collate " + bytewise + ")"
	}
	return column
}

// cast is the cast of a parameter, a text, to the type of a column; empty if it needs none.
func (i Inbox) cast(c ColumnName) string {
	if i.Own == nil || c == "" {
		return ""
	}
	if typ := i.Own.shape(c).Type; typ != "text" && !strings.HasPrefix(typ, "character varying") {
		return "::" + typ
	}
	return ""
}

// rowColumns are the columns of Rows by which what is derived of an inbox is kept.
var rowColumns = []string{"event_id", "event_type", "received_at", "processed_at", "retry_count", "available_at"}

// places are columns of each table.
var places = []string{"ctid", "xmin", "xmax", "tableoid"}

// expression is a column of Rows, of row a of the table.
func (i Inbox) expression(column, a string) string {
	if i.Any && !slices.Contains(places, column) {
		return inserted(a + "." + column)
	}
	own := func(c ColumnName, absent string) string {
		if c == "" {
			return absent
		}
		return of(a, c)
	}
	if n := slices.Index(i.Columns.idNames(), column); n >= 0 {
		return of(a, i.Columns.IDColumns()[n])
	}
	switch c := i.Columns; column {
	case "event_id":
		return i.IDText(a)
	case "event_type":
		if c.EventType == "" {
			return "''::text"
		}
		return "coalesce(" + i.Text(c.EventType, a) + ", '')"
	case "source":
		return i.Text(c.Source, a)
	case "aggregate_id":
		return i.Text(c.AggregateID, a)
	case "payload":
		return own(c.Payload, "")
	case "received_at":
		return i.moment(c.ReceivedAt, a)
	case "processed_at":
		return own(c.ProcessedAt, "")
	case "error":
		return own(c.Error, "")
	case "retry_count":
		return own(c.RetryCount, "")
	case "trace_id":
		return i.Text(c.TraceID, a)
	case "available_at":
		return own(c.AvailableAt, "null::timestamptz")
	case "order_key":
		return i.Text(i.Ordering.Aggregate, a)
	case "sequence":
		if i.Ordering.Timestamps || i.Own.shape(i.Ordering.Sequence).Type == "bigint" {
			return i.moment(i.Ordering.Sequence, a)
		}
		return of(a, i.Ordering.Sequence) + "::bigint"
	case "priority_value":
		if len(i.Priority.Tiers) == 0 {
			return i.Text(i.Priority.Column, a)
		}
		if i.Own.shape(i.Priority.Column).Type != "integer" {
			return of(a, i.Priority.Column) + "::integer"
		}
		return of(a, i.Priority.Column)
	}
	return a + "." + column
}

// RowList lists all columns of Rows, of row i of the table. A claim reads what locked a row, and an attempt is counted by its place.
func (i Inbox) RowList() string {
	columns := []string{
		"event_id", "event_type", "source", "aggregate_id", "payload", "received_at", "processed_at", "error", "retry_count", "trace_id", "available_at",
	}
	columns = append(append(columns, i.Columns.idNames()...), "ctid", "xmin", "xmax", "tableoid")
	if i.Ordering != nil {
		columns = append(columns, "order_key", "sequence")
	}
	if i.Priority != nil {
		columns = append(columns, "priority_value")
	}
	return wrappedAt(i.named(columns, "i"), widest, "       ")
}

// named are columns of Rows, of row a of the table, under their names.
func (i Inbox) named(columns []string, a string) []string {
	items := make([]string, len(columns))
	for n, column := range columns {
		items[n] = i.expression(column, a) + " as " + column
		if i.Any && column == "id" {
			items[n] = inserted("list ids")
		}
	}
	return items
}

// Nothing lists nulls of the types that the columns of the table have.
func (i Inbox) Nothing() string {
	items := []string{"null::tid as ctid", "null::xid as xmin", "null::xid as xmax", "null::oid as tableoid"}
	for _, s := range i.Own.Shapes {
		item := "null::" + s.Type
		if s.Collation != "" {
			item += " collate " + s.Collation
		}
		items = append(items, item+" as "+s.Name.String())
	}
	return wrappedAt(items, widest, "           ")
}

// IDKey is what an index on ids as texts is on.
func (i Inbox) IDKey() string {
	if i.Any {
		return inserted(".key")
	}
	if i.Columns.IDs != nil {
		return "(" + i.joinedID("") + ") collate " + bytewise
	}
	column := i.Columns.ID.String()
	if i.Own == nil || i.IDText("") == column {
		return column
	}
	if i.Own.shape(i.Columns.ID).Type != "text" {
		column = "((" + column + ")::text)"
	}
	return column + " collate " + bytewise
}

// OrderKeys lists what the order index is on.
func (i Inbox) OrderKeys() string {
	if i.Own == nil {
		return i.Order.Index()
	}
	keys := slices.Clone(i.Order)
	for n, key := range keys {
		if key == "event_id" {
			keys[n] = i.IDKey()
		} else {
			keys[n] = i.expression(key, "")
		}
	}
	return strings.Join(keys, ", ")
}

// Expected are arrays of the names of the columns, of their types, and of whether they have to take nulls; null if they may do either.
func (o OwnTable) Expected() string {
	var names, types, nulls []string
	for _, s := range o.Shapes {
		names, types = append(names, sqltext.Literal(string(s.Name))), append(types, sqltext.Literal(s.Type))
		null := fmt.Sprint(s.Nullable)
		if s.Either {
			null = "null"
		}
		nulls = append(nulls, null)
	}
	array := func(items []string, typ string) string {
		return "array[" + wrappedAt(items, widest, "            ") + "]::" + typ + "[]"
	}
	return array(names, "name") + ",\n        " + array(types, "text") + ",\n        " + array(nulls, "boolean")
}
