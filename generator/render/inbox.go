package render

import (
	"fmt"
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

	Columns Columns
	Order   Order // in which claims hand messages out

	Materialize bool // pending messages and dead letters are stream tables

	ProcessedRetention string // interval constants; empty where the settings rule
	DeadRetention      string
	DegradedAge        string
	CriticalAge        string
	DegradedSeconds    string
	CriticalSeconds    string
	DegradedDLQ        int
	Window             string // for which ids are remembered; empty if as long as messages are kept
	Windows            bool   // an inbox of the extension has one

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

// Attempts is a sequence that counts the attempts of one message of an inbox at a time.
type Attempts struct {
	Schemas
	Sequence Name
	Inbox    string
	No       int
}

// InboxFunctions are the functions of an inbox whose statements are its own, and the shared one that says what a worker's part is.
type InboxFunctions struct {
	ClaimFn, PartitionFn Name
	KnownFn              Name // of an inbox with a window
	FeedFn               Name // of an inbox with a change feed
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
	return fmt.Sprintf("%[1]s.processed_at is null and %[1]s.retry_count < %[2]d", a, i.MaxRetries)
}

// IsDead is the condition that row a is a dead letter.
func (i Inbox) IsDead(a string) string {
	return fmt.Sprintf("%[1]s.processed_at is null and %[1]s.retry_count >= %[2]d", a, i.MaxRetries)
}

// DueAt is when row a of the retry queue may be claimed: the clock of a sender may be ahead of the server's, which delays nothing.
func (e Extension) DueAt(a string) string {
	arrived := fmt.Sprintf("least(%s.received_at, clock_timestamp())", a)
	switch len(e.WithoutDelay()) {
	case 0:
		return fmt.Sprintf("coalesce(%s.available_at, %s)", a, arrived)
	case len(e.Inboxes):
		return arrived
	default: // not all inboxes have the column
		return fmt.Sprintf("coalesce((to_jsonb(%s) ->> 'available_at')::timestamptz, %s)", a, arrived)
	}
}

// Micros is a timestamp as microseconds since 1970.
func (i Inbox) Micros(timestamp string) string { return micros(timestamp) }

// Listed lists the columns of row a that views of the inbox have.
func (i Inbox) Listed(a string) string {
	var names []string
	for _, column := range i.Columns.all() {
		names = append(names, column.String())
	}
	half := len(names) - 4
	return a + "." + strings.Join(names[:half], ", "+a+".") + ",\n       " + a + "." + strings.Join(names[half:], ", "+a+".")
}

// Received lists the columns that receiving a message sets. A computed id sets itself.
func (i Inbox) Received() string {
	c := i.Columns
	var names []string
	for _, column := range []ColumnName{c.ID, c.EventType, c.Payload, c.Source, c.AggregateID, c.TraceID, c.AvailableAt} {
		if column != "" && (column != c.ID || i.EventID == "") {
			names = append(names, column.String())
		}
	}
	return strings.Join(names, ", ")
}

// AloneFrom is the number of attempts, half of them but one, from which on a message is claimed alone.
func (i Inbox) AloneFrom() int { return max(1, (i.MaxAttempts-1)/2) }

// FoldTask names the row of pgt_tasks for the inbox's frequent work.
func (i Inbox) FoldTask() string { return "inbox " + i.Name + ": counts" }

// DrainTask names the row of pgt_tasks for the inbox's retention.
func (i Inbox) DrainTask() string { return "inbox " + i.Name + ": retention" }
