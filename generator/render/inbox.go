package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Inbox is what templates know of one managed inbox.
type Inbox struct {
	Extension string
	Schemas
	Path        string // in the spec
	Name        string
	EventID     string // expression over payload, or empty
	WireFormat  string // empty if documents of none are decoded
	MaxRetries  int
	MaxAttempts int
	Schedule    string
	DueAfter    string   // how long after its last run the frequent work is due; empty if it always is, or by LastDue
	LastDue     *LastDue // of a cron expression
	DeadLetter  bool
	Stats       bool
	Retry       *Retry

	Notify *Notify
	Roles  Roles // beside those of the extension

	Columns Columns
	Own     *OwnTable // nil if the inbox is managed
	Any     bool      // it stands for inboxes that functions create
	Order   Order     // in which claims hand messages out

	Ordering *Ordering // of the messages of an aggregate; nil if there is none
	Priority *Priority // of messages; nil if there is none

	Tenant *Tenant // what keeps messages of tenants apart; nil if all are one's

	Journal *Journal // columns and indexes by which applications query messages; nil if there are none

	Materialize bool // pending messages and dead letters are stream tables

	ProcessedRetention string // interval constants; empty where the settings rule
	DeadRetention      string
	DegradedAge        string
	CriticalAge        string
	DegradedSeconds    string
	CriticalSeconds    string
	DegradedDLQ        int
	Window             string // for which ids are remembered; empty if as long as messages are kept

	InboxRelations
	InboxFunctions
}

// InboxRelations are the table, sequences, index and views of an inbox. What else is kept of it stands in tables that all inboxes share.
type InboxRelations struct {
	Table, OrderIndex, ClaimCursor, HighWatermark Name
	Rows                                          Name // what shows the table under the names of a managed inbox's columns: the table itself, if it is one
	PendingView, DLQView, StatsView               Name
	Pending                                       Name // the view of messages that are pending now: PendingView, unless that is a stream table
	Attempts                                      []Attempts
	PastIDs, PastIDsIndex                         Name // of an inbox with a window
	Feed                                          Name // the outbox of its change feed; empty if it has none
}

// Journal is what an inbox has more as a journal.
type Journal struct {
	Tag                         string // expression over payload; empty if applications set it
	Sequence                    Name
	PayloadIndex, CoveringIndex Name // empty for none
}

// Attempts is a sequence that counts the attempts of one message of an inbox at a time.
type Attempts struct {
	Schemas
	Sequence Name
	Inbox    string
	No       int
}

// InboxFunctions are the functions of an inbox whose statements are its own, and the shared one that says what a worker's part is.
type InboxFunctions struct {
	ClaimFn, PartitionFn    Name
	EventIDFn               Name            // of an inbox that computes ids from payloads
	Fns                     map[string]Name // that functions which users call execute, by what they do
	ChangedFn, RowChangedFn Name            // of triggers: shared, unless the table has other columns
	KnownFn                 Name            // of an inbox with a window
	FeedFn                  Name            // of an inbox with a change feed
}

// Retry is the back-off of an inbox.
type Retry struct {
	Backoff        string // exponential, linear or constant
	InitialSeconds string
	MaxSeconds     string
}

// DelaySeconds is the delay, in seconds, after one more failure than failures counts.
func (r Retry) DelaySeconds(failures string) string {
	switch r.Backoff {
	case "exponential":
		return fmt.Sprintf("%s * power(2, least(%s, 60))", r.InitialSeconds, failures)
	case "linear":
		return fmt.Sprintf("%s * (%s + 1)", r.InitialSeconds, failures)
	default:
		return r.InitialSeconds
	}
}

// IsPending is the condition that row a is neither processed nor dead.
func (i Inbox) IsPending(a string) string {
	return fmt.Sprintf("%s is null and %s < %d", i.In(a, "processed_at"), i.In(a, "retry_count"), i.MaxRetries)
}

// IsDead is the condition that row a is a dead letter.
func (i Inbox) IsDead(a string) string {
	return fmt.Sprintf("%[1]s.processed_at is null and %[1]s.retry_count >= %[2]d", a, i.MaxRetries)
}

// Shown lists the columns of row a of Rows that users see, under the names that they have in the table.
func (i Inbox) Shown(a string) string {
	switch {
	case i.Any:
		return inserted("list shown")
	case i.Own != nil:
		return i.OwnNames(a)
	}
	return i.Listed(a)
}

// Listed lists the columns of row a of Rows that views of the inbox have.
func (i Inbox) Listed(a string) string {
	var names []string
	for _, column := range i.Columns.all() {
		names = append(names, column.String())
	}
	if i.Own != nil || i.Any {
		names = []string{"event_id", "event_type", "source", "aggregate_id", "payload", "received_at", "processed_at", "error", "retry_count", "trace_id", "available_at"}
	}
	if i.Own != nil && !i.Any {
		names = append(names, i.Columns.idNames()...)
		if i.Columns.Sequence != "" {
			names = append(names, "sequence")
		}
		if i.Columns.Priority != "" {
			names = append(names, "priority_value")
		}
	}
	half := len(names) - 4
	return a + "." + strings.Join(names[:half], ", "+a+".") + ",\n       " + a + "." + strings.Join(names[half:], ", "+a+".") + i.listedID(a)
}

// listedID is what ends the list for an inbox that stands for those that functions create: some have columns more.
func (i Inbox) listedID(a string) string {
	if !i.Any {
		return ""
	}
	rest := "v_ids"
	if i.Ordering != nil {
		rest += " || coalesce(', " + a + ".' || (v_columns #>> '{sequence,row}'), '')"
	}
	if i.Priority != nil {
		rest += " || coalesce(', " + a + ".' || (v_columns #>> '{priority,row}'), '')"
	}
	return insertedIf(rest)
}

// received are the columns that receiving a message sets, by the names that a managed inbox has for them. A computed id sets itself, and a table
// of the user's may have no defaults.
func (i Inbox) received() (columns []ColumnName, names []string) {
	c := i.Columns
	add := func(column ColumnName, name string) {
		if column != "" && (strings.HasPrefix(name, "event_id") || !slices.Contains(c.IDs, column)) { // else the id sets it
			columns, names = append(columns, column), append(names, name)
		}
	}
	for n, id := range c.IDs {
		add(id, fmt.Sprintf("event_id %d", n+1))
	}
	if i.EventID == "" && c.IDs == nil {
		add(cmp.Or(c.MessageID, c.ID), "event_id")
	}
	add(c.EventType, "event_type")
	add(c.Payload, "payload")
	add(c.Source, "source")
	add(c.AggregateID, "aggregate_id")
	add(c.TraceID, "trace_id")
	if i.Retry != nil {
		add(c.AvailableAt, "available_at")
	}
	byArrival := i.Ordering != nil && i.Ordering.Sequence == c.ReceivedAt
	if i.Own != nil {
		if !byArrival {
			add(c.ReceivedAt, "received_at")
		}
		add(c.RetryCount, "retry_count")
	}
	if byArrival {
		add(c.ReceivedAt, "sequence")
	} else {
		add(c.Sequence, "sequence")
	}
	add(c.Priority, "priority")
	return columns, names
}

// Received lists the columns that receiving a message sets.
func (i Inbox) Received() string {
	if i.Any {
		return inserted("list received")
	}
	columns, _ := i.received()
	names := make([]string, len(columns))
	for n, column := range columns {
		names[n] = column.String()
	}
	return wrappedAt(names, widestLine, "                ")
}

// Values lists what receiving a message sets them to: prefix and the name of each, but for the payload.
func (i Inbox) Values(prefix, payload string) string {
	if i.Any {
		return inserted("list " + prefix)
	}
	columns, names := i.received()
	for n, name := range names {
		if id, part, of := strings.Cut(name, " "); of {
			names[n] = i.fromPart(columns[n], fmt.Sprintf("(%s)[%s]", i.SplitID(prefix+id), part))
			continue
		}
		switch name {
		case "payload":
			names[n] = payload
		case "received_at":
			names[n] = "clock_timestamp()" + i.inUTC(columns[n])
		case "retry_count":
			names[n] = "0"
		case "sequence":
			names[n] = i.Ordering.Given(prefix+name) + i.inUTC(columns[n])
		default:
			if names[n] = prefix + name + i.cast(columns[n]); names[n] == "p_event_id::uuid" { // p_event_id may be a number, which has no cast to uuid
				names[n] = "p_event_id::text::uuid"
			}
		}
	}
	return strings.Join(names, ", ")
}

// GivenID is an id that a sender gives, as the table's own type spells it.
func (i Inbox) GivenID(id string) string {
	if i.Any {
		return inserted("given " + id)
	}
	if i.Columns.IDs != nil {
		return i.joinedAgain(id)
	}
	if cast := i.cast(i.Columns.ID); cast != "" {
		return id + cast + "::text"
	}
	return id
}

// AloneFrom is how many attempts of a message are counted when it is claimed alone. Half of them have ended by then: one is counted when the
// message is claimed again.
func (i Inbox) AloneFrom() int { return (i.MaxAttempts - 1) / 2 }

// FoldTask names the row of pgt_tasks for the inbox's frequent work.
func (i Inbox) FoldTask() string { return "inbox " + i.Name + ": counts" }

// DrainTask names the row of pgt_tasks for the inbox's retention.
func (i Inbox) DrainTask() string { return "inbox " + i.Name + ": retention" }
