package render

import (
	"fmt"
	"strings"
)

// The functions of triggers read the rows of a statement. These are what they are called for managed inboxes, which share the functions.

// ChangedFn is the function of triggers for statements.
func (e Extension) ChangedFn() Name { return e.InInternal("pgt_inbox_changed") }

// RowChangedFn is the function of triggers for rows.
func (e Extension) RowChangedFn() Name { return e.InInternal("pgt_inbox_row_changed") }

// OldRows are the rows before a statement.
func (e Extension) OldRows() string { return "old_rows" }

// NewRows are the rows after a statement.
func (e Extension) NewRows() string { return "new_rows" }

// Old is a column of the row before a change.
func (e Extension) Old(column string) string { return "old." + column }

// New is a column of the row after a change.
func (e Extension) New(column string) string { return "new." + column }

// OldNamed lists the columns of the row before a change that counts follow from.
func (e Extension) OldNamed() string {
	return "old.event_type, old.received_at, old.processed_at, old.retry_count"
}

// OwnTrigger is what the functions of the triggers of an inbox over a table of the user's know: they are those of managed inboxes, but for the
// names of its columns.
type OwnTrigger struct {
	Extension
	Of Inbox
}

// ChangedFn is the function of triggers for statements.
func (o OwnTrigger) ChangedFn() Name { return o.Of.ChangedFn }

// RowChangedFn is the function of triggers for rows.
func (o OwnTrigger) RowChangedFn() Name { return o.Of.RowChangedFn }

// OldRows are the rows before a statement.
func (o OwnTrigger) OldRows() string { return o.rows("old_rows") }

// NewRows are the rows after a statement.
func (o OwnTrigger) NewRows() string { return o.rows("new_rows") }

func (o OwnTrigger) rows(from string) string {
	return fmt.Sprintf("(select %s from %s r)", strings.Join(o.Of.named(rowColumns, "r"), ", "), from)
}

// Old is a column of the row before a change.
func (o OwnTrigger) Old(column string) string { return o.Of.expression(column, "old") }

// New is a column of the row after a change.
func (o OwnTrigger) New(column string) string { return o.Of.expression(column, "new") }

// OldNamed lists the columns of the row before a change that counts follow from.
func (o OwnTrigger) OldNamed() string {
	return strings.Join(o.Of.named([]string{"event_type", "received_at", "processed_at", "retry_count"}, "old"), ", ")
}
