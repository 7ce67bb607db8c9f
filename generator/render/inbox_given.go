package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// OwnFunctions are what functions of an inbox do, beside claiming, for those that users call. Their names are made from that of the inbox.
var OwnFunctions = []string{"receive", "receive_many", "pending", "mark_processed", "mark_failed", "lease"}

// Fn names a function of the inbox by what it does, as the functions that users call know it.
func (i Inbox) Fn(does string) Name { return i.Fns[does] }

// SequenceKind is what the sequences of its messages are: times, numbers, or numbers that the id holds; null if there are none.
func (i Inbox) SequenceKind() string {
	switch {
	case i.Ordering == nil:
		return "null"
	case i.Ordering.Timestamps:
		return sqltext.Literal("time")
	case i.sequenceInID():
		return sqltext.Literal("id")
	}
	return sqltext.Literal("number")
}

// sequenceInID reports whether the id holds the sequence.
func (i Inbox) sequenceInID() bool {
	return i.Ordering != nil && slices.Contains(i.Columns.IDs, i.Ordering.Sequence)
}

// NoNumber is the condition that a message that is given lacks the number which it needs; empty if it needs none.
func (i Inbox) NoNumber() string {
	const isNone = "p_sequence !~ '^-?[0-9]{1,18}$'"
	switch {
	case i.Ordering == nil || i.Ordering.Timestamps:
		return ""
	case i.sequenceInID():
		return isNone
	}
	return "coalesce(" + isNone + ", p_aggregate_id is not null)"
}

// TakesPriority says whether messages bring a priority.
func (i Inbox) TakesPriority() string {
	if i.Any && i.Priority != nil {
		return inserted("(v_priority.tiers is not null)::text")
	}
	return strconv.FormatBool(i.Carries())
}

// Delays says whether messages may be delayed.
func (i Inbox) Delays() string {
	if i.Any {
		return inserted("v_inbox.has_delay::text")
	}
	return strconv.FormatBool(i.Retry != nil)
}

// SetAvailable leases the messages of v_leased, if the inbox delays messages.
func (i Inbox) SetAvailable() string {
	const set = " i set available_at = p_until where i.event_id = any (v_leased);"
	if i.Any {
		return insertedIf("case when v_inbox.has_delay then 'update ' || quote_ident(v_inbox.rows_schema) || '.' || quote_ident(v_inbox.rows_table) || " +
			sqltext.Literal(set) + " else 'null;' end")
	}
	return "update " + i.Rows.String() + set
}

// Neither is the condition that a message that is given has a sequence or a priority, of which the inbox has none.
func (i Inbox) Neither() string {
	var given []string
	if i.Ordering == nil {
		given = append(given, "p_sequence is not null")
	}
	if i.Priority == nil {
		given = append(given, "p_priority is not null")
	}
	return strings.Join(given, " or ")
}

// ByMap is the condition that a message that is given has a priority, which follows from a column.
func (i Inbox) ByMap() string {
	switch {
	case i.Priority == nil:
		return "false"
	case i.Any:
		return "p_priority is not null and not " + i.TakesPriority()
	case i.Carries():
		return "false"
	}
	return "p_priority is not null"
}

// Refused is the condition that a message that is given has what the inbox does not take.
func (i Inbox) Refused() string {
	given := i.Neither()
	if by := i.ByMap(); by != "false" {
		given += " or " + by
	}
	switch {
	case i.Any:
		given += " or p_available_at is not null and not " + i.Delays()
	case i.Retry == nil:
		given += " or p_available_at is not null"
	}
	return given
}
