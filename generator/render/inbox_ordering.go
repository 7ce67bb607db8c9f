package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Ordering makes claims hand out the messages of an aggregate in sequence.
//
// The unprocessed messages of an inbox stand in its backlog, in the order of their aggregates, so the next one of an aggregate is its first.
// One that waits, for the one before it or for a number, stands where claims do not look. due_at says when a claim, or a tick at one that
// waits, is to look at it.
type Ordering struct {
	Aggregate, Sequence ColumnName
	Timestamps          bool // the sequence is received_at rather than a number
	Contiguous          bool // missing numbers are waited for
	Start               int  // the first number of an aggregate
	Skips               bool // a dead letter does not hold up its aggregate
	AlertAfter          string
	Lock                string // first key of the advisory locks of aggregates

	Backlog, DueIndex, GapIndex Name
	ChangedFn, MarkedFn, FillFn Name
	NextView, GapsView          Name
}

// Type is the data type of the sequence.
func (o Ordering) Type() string {
	if o.Timestamps {
		return "timestamptz"
	}
	return "bigint"
}

// Mode is the name of what happens to missing numbers, as in the spec.
func (o Ordering) Mode() string {
	if o.Contiguous {
		return "contiguous"
	}
	return "monotonic"
}

// OnDeadLetter is the name of what a dead letter does to its aggregate, as in the spec.
func (o Ordering) OnDeadLetter() string {
	if o.Skips {
		return "skip"
	}
	return "block"
}

// MostLocks is how many aggregates a claim takes at most: each is a lock in shared memory, of which a server has some thousand.
func (o Ordering) MostLocks() int { return 500 }

// Given is the sequence that a sender gives, as a value of the column.
func (o Ordering) Given(text string) string {
	if o.Timestamps {
		return fmt.Sprintf("coalesce(%s::timestamptz, clock_timestamp())", text)
	}
	return text + "::bigint"
}

// AggregateOf is the aggregate of row a, a text; old and new are rows of the table, others rows of Rows.
func (i Inbox) AggregateOf(a string) string { return i.column(a, "order_key", i.Ordering.Aggregate) }

// SequenceOf is the sequence of row a, as AggregateOf.
func (i Inbox) SequenceOf(a string) string { return i.column(a, "sequence", i.Ordering.Sequence) }

// In is a column of row a, by the name that Rows has for it.
func (i Inbox) In(a, column string) string { return i.column(a, column, ColumnName(column)) }

func (i Inbox) column(a, column string, managed ColumnName) string {
	switch {
	case a != "old" && a != "new" && i.Any && (column == "order_key" || column == "sequence" || column == "priority_value"):
		return of(a, ColumnName("~row_"+column+"~"))
	case i.Own == nil && !i.Any:
		return of(a, managed)
	case a == "old" || a == "new":
		return i.expression(column, a)
	}
	return a + "." + column
}

// Marked are the rows after a statement that marks messages.
func (i Inbox) Marked() string {
	if i.Own == nil {
		return "new_rows"
	}
	return fmt.Sprintf("(select %s from new_rows r)", strings.Join(i.named([]string{"event_id", "processed_at", "order_key", "sequence"}, "r"), ", "))
}

// HasKey is the condition that row a is in sequence with others: it has an aggregate and a sequence.
func (i Inbox) HasKey(a string) string {
	condition := i.AggregateOf(a) + " is not null"
	if !i.Ordering.Timestamps {
		condition += " and " + i.SequenceOf(a) + " is not null"
	}
	return condition
}

// Key is the aggregate of row a as the backlog holds it; a message that is in sequence with no other has one of its own.
func (i Inbox) Key(a string) string {
	bytes := ""
	if i.Own != nil || i.Any { // whose columns may each have a collation of its own
		bytes = " collate " + bytewise
	}
	return fmt.Sprintf("case when %s then 'a' || %s%s else 'm' || md5(%s)%[3]s end", i.HasKey(a), i.AggregateOf(a), bytes, i.In(a, "event_id"))
}

// Number is the sequence of row a as the backlog holds it.
func (i Inbox) Number(a string) string {
	if i.Ordering.Timestamps {
		return i.SequenceOf(a)
	}
	return fmt.Sprintf("coalesce(%s, 0)", i.SequenceOf(a))
}

// BacklogID is all that the backlog goes by: it is filled anew when any of that changes.
func (i Inbox) BacklogID() string {
	o := i.Ordering
	return fmt.Sprintf("%s: %s, %s, %s from %d, %s", o.Backlog, o.Aggregate, o.Sequence, o.Mode(), o.Start, o.OnDeadLetter())
}

// IsOpen is the condition that row a is in the backlog.
func (i Inbox) IsOpen(a string) string {
	condition := i.In(a, "processed_at") + " is null"
	if i.Ordering.Skips {
		condition += fmt.Sprintf(" and %s < %d", i.In(a, "retry_count"), i.MaxRetries)
	}
	return condition
}

// IsMark is the condition that an update does no more, as far as the backlog is concerned, than mark a message as processed.
func (i Inbox) IsMark() string {
	o := i.Ordering
	condition := fmt.Sprintf("%s is null and %s is not null", i.In("old", "processed_at"), i.In("new", "processed_at"))
	columns := slices.Clone(i.Columns.IDColumns())
	for _, column := range []ColumnName{o.Aggregate, o.Sequence} {
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
	}
	if i.Any { // its id may have several
		columns = columns[1:]
		condition += " and " + inserted("list kept")
	}
	for _, column := range columns {
		condition += fmt.Sprintf(" and old.%s is not distinct from new.%[1]s", column)
	}
	return condition
}

// IsNext is the condition that row b of the backlog, the first of its aggregate, may be handed out as far as its number goes.
func (i Inbox) IsNext(b string) string {
	o := i.Ordering
	if !o.Contiguous {
		return "true"
	}
	return fmt.Sprintf("(%[1]s.sequence <= %[2]s + 1 or left(%[1]s.aggregate_key, 1) = 'm')", b, i.LastOf(b+".aggregate_key"))
}

// LastOf is the last number of an aggregate that was processed, or the number before the first.
func (i Inbox) LastOf(key string) string {
	return fmt.Sprintf("coalesce((select max(s.last_sequence) from %s.pgt_inbox_sequences s where s.inbox_name = %s and s.aggregate_key = %s), %d)",
		i.Internal(), sqltext.Literal(i.Name), key, i.Ordering.Start-1)
}

// WireNumbers says whether messages get their numbers from documents in a wire format; null if there are no such documents.
func (i Inbox) WireNumbers() string {
	if i.WireFormat == "" {
		return "null"
	}
	return strconv.FormatBool(i.Ordering != nil && !i.Ordering.Timestamps)
}
