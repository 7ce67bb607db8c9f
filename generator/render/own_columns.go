package render

import (
	"fmt"
	"slices"
)

// What an inbox shows of the table of a user.

// Used is a column of a user's table, with the name that a managed inbox has for it.
type Used struct {
	Shape
	As string
}

// Used lists the columns of a user's table that the inbox uses.
func (i Inbox) Used() []Used {
	c := i.Columns
	var used []Used
	for _, id := range c.IDColumns() {
		used = append(used, Used{i.Own.shape(id), "event_id"})
	}
	for _, column := range []struct {
		name ColumnName
		as   string
	}{
		{c.EventType, "event_type"}, {c.Source, "source"}, {c.AggregateID, "aggregate_id"}, {c.Payload, "payload"},
		{c.ReceivedAt, "received_at"}, {c.ProcessedAt, "processed_at"}, {c.Error, "error"}, {c.RetryCount, "retry_count"}, {c.TraceID, "trace_id"},
		{c.AvailableAt, "available_at"}, {c.Sequence, "sequence"}, {c.Priority, "priority_value"},
	} {
		if column.name != "" && !slices.Contains(c.IDs, column.name) {
			used = append(used, Used{i.Own.shape(column.name), column.as})
		}
	}
	return used
}

// OwnNames lists columns of row a of Rows under the names that they have in the table.
func (i Inbox) OwnNames(a string) string {
	var items []string
	ids := i.Columns.idNames()
	for n, used := range i.Used() {
		column := used.As
		if n < len(ids) {
			column = ids[n]
		}
		items = append(items, fmt.Sprintf("%s.%s as %s", a, column, used.Name))
	}
	return wrappedAt(items, widest, "       ")
}

// Messages is the table of the inbox as what stream tables read: under the names that Rows has, with the columns that users see.
func (i Inbox) Messages() string {
	if i.Own == nil {
		return i.Table.String()
	}
	columns := i.Columns.idNames()
	for _, used := range i.Used()[len(columns):] {
		columns = append(columns, used.As)
	}
	return fmt.Sprintf("(\n    select %s\n    from %s i\n)", wrappedAt(i.named(columns, "i"), widest, "           "), i.Table)
}
