package render

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Inbox is what templates know of one managed inbox.
type Inbox struct {
	Extension   string
	SchemaName  string // of the extension
	Path        string // in the spec
	Name        string
	EventID     string // expression over payload, or empty
	MaxRetries  int
	MaxAttempts int
	Schedule    string
	Due         string   // condition that row t of pgt_tasks is due; empty if it always is
	LastDue     *LastDue // of a cron expression
	DeadLetter  bool
	Stats       bool
	Retry       *Retry

	Materialize bool // pending messages and dead letters are stream tables

	ProcessedRetention string // interval constants; empty where the settings rule
	DeadRetention      string
	DegradedAge        string
	CriticalAge        string
	DegradedSeconds    string
	CriticalSeconds    string
	DegradedDLQ        int

	InboxRelations
	InboxFunctions
}

// InboxRelations are the tables, sequences, indexes and views of an inbox.
type InboxRelations struct {
	Table, OrderIndex, ClaimCursor, RescanAfter, AloneUntil, Fence, Received, DeltaNo, Deltas, DeltasLast, Totals, Expired, Rates Name
	Requeue, RequeueDue, RequeueReceived, Dead, DeadNew, DeadAge, Alerted                                                         Name
	PendingView, DLQView, CountedView, CountsView, StatsView                                                                      Name
}

// InboxFunctions are the functions of an inbox.
type InboxFunctions struct {
	InsertedFn, UpdatedFn, MovedFn, DeletedFn, TruncatedFn, AppliedFn, RevivedFn          Name
	ClaimFn, PendingFn, ReceiveFn, MarkProcessedFn, MarkFailedFn, ReplayFn                Name
	SummaryFn, HealthFn, StatusFn, ErrorsFn                                               Name
	FoldFn, SettleFn, AuditFn, AlertFn, DrainFn, TidyFn, RebuildFn, PartitionFn, Progress Name
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

// Stored is an array of the tables and sequences, as SQL names them.
func (i Inbox) Stored() string {
	var names []string
	for _, name := range []Name{i.Table, i.Deltas, i.Totals, i.Expired, i.Rates, i.Requeue, i.Dead, i.Alerted, i.ClaimCursor, i.RescanAfter, i.Fence, i.DeltaNo} {
		names = append(names, name.String())
	}
	return arrayOf(names, "text")
}

// Schema returns the extension's schema as SQL.
func (i Inbox) Schema() string { return sqltext.Ident(i.SchemaName) }

// IsPending is the condition that row a is neither processed nor dead.
func (i Inbox) IsPending(a string) string {
	return fmt.Sprintf("%[1]s.processed_at is null and %[1]s.retry_count < %[2]d", a, i.MaxRetries)
}

// IsDead is the condition that row a is a dead letter.
func (i Inbox) IsDead(a string) string {
	return fmt.Sprintf("%[1]s.processed_at is null and %[1]s.retry_count >= %[2]d", a, i.MaxRetries)
}

// IsOver is the condition that row a is no longer pending.
func (i Inbox) IsOver(a string) string {
	return fmt.Sprintf("(%[1]s.processed_at is not null or %[1]s.retry_count >= %[2]d)", a, i.MaxRetries)
}

// DueAt is when a requeued row a may be claimed: the clock of a sender may be ahead of ours, which delays nothing.
func (i Inbox) DueAt(a string) string {
	arrived := fmt.Sprintf("least(%s.received_at, clock_timestamp())", a)
	if i.Retry == nil {
		return arrived
	}
	return fmt.Sprintf("coalesce(%s.available_at, %s)", a, arrived)
}

// ProcessingTime is how long row a took, in whole microseconds: a sum of integers is exact, one of floats drifts.
// Infinite timestamps must not fail an application's statement.
func (i Inbox) ProcessingTime(a string) string {
	return fmt.Sprintf("(case when isfinite(%[1]s.processed_at) and isfinite(%[1]s.received_at)"+
		" then least(greatest(date_part('epoch', %[1]s.processed_at - %[1]s.received_at), 0), 1e12) else 0 end * 1000000)::bigint", a)
}

// Micros is a timestamp as microseconds since 1970.
func (i Inbox) Micros(timestamp string) string { return micros(timestamp) }

// Columns lists the table's columns of row a.
func (i Inbox) Columns(a string) string {
	names := []string{"event_id", "event_type", "source", "aggregate_id", "payload", "received_at", "processed_at", "error", "retry_count", "trace_id"}
	if i.Retry != nil {
		names = append(names, "available_at")
	}
	return a + "." + strings.Join(names, ", "+a+".")
}

// FoldTask names the row of pgt_tasks for the inbox's frequent work.
func (i Inbox) FoldTask() string { return "inbox " + i.Name + ": counts" }

// DrainTask names the row of pgt_tasks for the inbox's retention.
func (i Inbox) DrainTask() string { return "inbox " + i.Name + ": retention" }

// ProcessedRetentionExpr is how long processed messages stay.
func (i Inbox) ProcessedRetentionExpr() string {
	return i.retention(i.ProcessedRetention, "inbox_processed_retention_hours")
}

// DeadRetentionExpr is how long dead letters stay.
func (i Inbox) DeadRetentionExpr() string {
	return i.retention(i.DeadRetention, "inbox_dlq_retention_hours")
}

func (i Inbox) retention(own, setting string) string {
	if own != "" {
		return own
	}
	// A thousand years at most: further back than timestamps reach, now() minus this fails.
	return fmt.Sprintf("make_interval(hours => least(%s.pgt_setting(%s)::integer, 8766000))", i.Schema(), sqltext.Literal(setting))
}
