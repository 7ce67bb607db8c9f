package render

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Inboxes that functions create at run time have the statements of an inbox of the spec. They are rendered for an inbox whose names and number of failures
// are words; a function puts those of a real one in their places.
const (
	AnyInbox   = "~inbox~"
	AnySchema  = "~schema~" // of what is made from the name
	AnyRetries = 1_000_000_007
	AnyLowest  = 1_000_000_009 // priority of a tier
	AnyHighest = 1_000_000_021
)

// ByPriority is the mode of inboxes that hand out urgent messages first.
const ByPriority = "priority"

// PriorityKind stands for the inboxes that hand out urgent messages first.
func (e Extension) PriorityKind() Priority {
	return *e.Kinds[slices.IndexFunc(e.Kinds, func(k CreatedKind) bool { return k.Priority != nil })].Priority
}

// FiredBy are the events of the triggers that functions add to tables of users for an option, ordering or priority, after those that all have.
func (e Extension) FiredBy(option string) []string {
	all := e.Kinds[1].Fired()
	for _, kind := range e.Kinds {
		if kind.Tracked && (option == "ordering" && kind.Ordering != nil || option == "priority" && kind.Priority != nil) {
			return kind.Fired()[len(all):]
		}
	}
	return nil
}

// ByStatement are the events of triggers that partitioned tables do not have.
func (e Extension) ByStatement() []string { return byStatement }

// kinds are the inboxes of the spec and, where functions create others, one that stands for those.
func (e Extension) kinds() []Inbox {
	if e.FromSQL == nil {
		return e.Inboxes
	}
	return append([]Inbox{*e.FromSQL}, e.Inboxes...)
}

// HasInboxes reports whether there are inboxes, or may be.
func (e Extension) HasInboxes() bool { return len(e.kinds()) > 0 }

// CreatedKind is a kind of inboxes that functions create, with one that stands for them. Another way to hand out messages is another mode.
type CreatedKind struct {
	Inbox
	Tracked bool   // over tables of users, which are partitioned if all its triggers are for rows
	Mode    string // of ordering, or ByPriority; empty for none
}

// StandIn makes an inbox one that stands for those that functions create with tables of their own.
func (i Inbox) StandIn() Inbox {
	i.Any = true
	i.Table, i.Rows = Name{"~at~", "~table~"}, Name{"~rows_schema~", "~rows_table~"}
	i.Pending.Schema = "~pending_schema~"
	i.Columns = Columns{
		ID: "~id_column~", EventType: "~event_type_column~", ReceivedAt: "~received_at_column~", ProcessedAt: "~processed_at_column~", Error: "~error_column~",
		RetryCount: "~retry_count_column~", AvailableAt: "available_at",
	}
	if i.Ordering != nil {
		o := *i.Ordering
		o.Lock = inserted("v_lock::text")
		o.Backlog.Name, o.DueIndex.Name = "~backlog~", "~backlog_due~"
		i.Ordering = &o
	}
	if i.Priority != nil {
		p := *i.Priority
		p.Any, p.Levels = true, nil
		i.Priority = &p
	}
	return i
}

// StandInOver is the same for those over tables of users. What they have in common with the others has the same text.
func (i Inbox) StandInOver(partitioned bool) Inbox {
	i = i.StandIn()
	i.ChangedFn, i.RowChangedFn = i.InInternal(AnyInbox+"_changed"), i.InInternal(AnyInbox+"_row_changed")
	i.OrderIndex = Name{"~at~", "~order_index~"}
	i.Own = &OwnTable{Partitioned: partitioned, Triggers: map[string]string{}}
	for _, event := range TriggerEvents {
		i.Own.Triggers[event] = "~" + event + "_trigger~"
	}
	return i
}

// inserted is text that the function puts in, as an expression that a parser takes for a column.
func inserted(what string) string { return sqltext.Ident("~=" + what + "~") }

// insertedIf is the same for text that is not always there, which stands in a comment.
func insertedIf(what string) string { return "/*~=" + what + "~*/" }

// OrDelayed is the condition that a new message is delayed, behind others; empty if none is.
func (i Inbox) OrDelayed() string {
	text := fmt.Sprintf(" or new.%s is not null", i.Columns.AvailableAt)
	switch {
	case i.Retry == nil:
		return ""
	case i.Any:
		return insertedIf(ifDelayed(text))
	}
	return text
}

// ifDelayed is a text that is there for an inbox that delays messages.
func ifDelayed(text string) string {
	return fmt.Sprintf("case when v_inbox.has_delay then %s else '' end", sqltext.Literal(text))
}

// Delay is what a failure sets beside the count, if it delays the message.
func (i Inbox) Delay() string {
	if i.Retry == nil {
		return ""
	}
	text := fmt.Sprintf(",\n        available_at = clock_timestamp() + make_interval(secs => least(%s, %s))", i.Retry.MaxSeconds, i.Retry.DelaySeconds("i.retry_count"))
	if i.Any {
		return insertedIf(ifDelayed(text))
	}
	return text
}
