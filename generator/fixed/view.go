package fixed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
)

// Extension is what templates know of a spec.
type Extension struct {
	Name, Version string
	Target        string
	Schemas       []string // of all objects, as SQL; the extension's first
	Inboxes       []Inbox
	Outboxes      []Outbox
	Groups        []spec.ConsumerGroup
	StreamTables  []render.Sharded
	InternalName  string // the schema of what users do not call
	SchemaName    string // the extension's
}

// Inbox is what templates know of an inbox.
type Inbox struct {
	Name       string
	EventID    string // the expression over payload that computes the id, as the spec gives it; or empty
	MaxRetries int
	Expiration string // when row-level TTL deletes a row, as SQL; empty for never
	DeadLetter bool
	Stats      bool
	ChangeFeed bool

	Table, DueIndex, DeadIndex, PayloadIndex Name
	PendingView, DLQView, StatsView          Name

	ProcessedKept, DeadKept string // how long rows are kept, as SQL; empty if forever
	ClaimAt, StatsOf        Name   // functions that claim from one shard, and that read statistics

	ErrorColumn string // has the latest error

	Journal        *spec.Journal // or null
	Numbers        Name          // of a journal, the sequence of its messages
	CoveringIndex  Name          // of a journal; with no name: none
	IndexesPayload bool
	retry          *spec.Retry // null: a failure delays no message
}

// Outbox is what templates know of an event outbox.
type Outbox struct {
	Name       string
	Expiration string // as an inbox's
	Table      Name

	Kept                 string // how long an event that no group awaits is kept, as SQL; empty if forever
	IDs, Deliveries, Due Name   // the sequence of ids; what groups await, and its index
	PollAt               Name   // the function that polls one shard
}

func viewOf(s *spec.Spec) Extension {
	view := Extension{
		Name: s.Extension.Name, Version: s.Extension.Version, Target: s.Extension.Target, Schemas: []string{ident(s.Extension.Schema)}, Groups: s.ConsumerGroups,
		InternalName: spec.InternalSchema(s.Extension.Schema), SchemaName: s.Extension.Schema,
	}
	for n := range s.Inboxes {
		i := &s.Inboxes[n]
		view.Inboxes = append(view.Inboxes, viewOfInbox(s, i, view.InternalName))
		if schema := ident(i.Schema); !slices.Contains(view.Schemas, schema) {
			view.Schemas = append(view.Schemas, schema)
		}
	}
	for n := range s.Outboxes {
		o := &s.Outboxes[n]
		view.Outboxes = append(view.Outboxes, viewOfOutbox(s, o, view.InternalName))
	}
	return view
}

func viewOfOutbox(s *spec.Spec, o *spec.Outbox, internal string) Outbox {
	in := func(suffix string) Name { return Name{internal, spec.DerivedName("outbox_" + o.Name + suffix)} }
	kept := kept(s, o.Retention, "outbox_retention_hours")
	return Outbox{
		Name: o.Name, Table: Name{s.Extension.Schema, spec.DerivedName("outbox_" + o.Name)}, Expiration: after("created_at", kept), Kept: interval(kept),
		IDs: in("_ids"), Deliveries: in("_deliveries"), Due: in("_due"), PollAt: in("_poll_at"),
	}
}

func viewOfInbox(s *spec.Spec, i *spec.Inbox, internal string) Inbox {
	in := func(suffix string) Name { return Name{i.Schema, spec.DerivedName(i.Name + suffix)} }
	own := func(suffix string) Name { return Name{i.Schema, spec.DerivedName("pgt_" + i.Name + suffix)} } // as no inbox is called
	view := Inbox{
		Name: i.Name, EventID: i.EventID, MaxRetries: i.MaxRetries, DeadLetter: i.DeadLetter, Stats: i.Stats, ChangeFeed: i.ChangeFeed,
		Table: Name(i.Relation), DueIndex: own("_due"), DeadIndex: own("_dead"), PayloadIndex: own("_payload"),
		PendingView: in("_pending"), DLQView: in("_dlq"), StatsView: in("_stats"),
		retry: i.BackOff(), ClaimAt: Name{internal, spec.DerivedName(i.Name + "_claim_at")}, StatsOf: Name{internal, spec.DerivedName(i.Name + "_stats_of")},
	}
	view.IndexesPayload = i.EventID != "" && s.Extension.Target == spec.TargetCockroachDB // as the inbox pattern of CockroachDB has it
	view.ErrorColumn = "error"
	if s.Extension.Target == spec.TargetCockroachDB {
		view.ErrorColumn = "last_error" // its plpgsql lexer takes the word error for an error of its own
	}
	if j := i.Journal; j != nil {
		view.IndexesPayload = j.PayloadIndex
		view.Journal, view.Numbers = j, own("_sequence_no")
		if j.CoveringIndex {
			view.CoveringIndex = own("_journal")
		}
	}
	keptProcessed, keptDead := kept(s, i.Retention.Processed, "inbox_processed_retention_hours"), kept(s, i.Retention.DeadLetter, "inbox_dlq_retention_hours")
	view.ProcessedKept, view.DeadKept = interval(keptProcessed), interval(keptDead)
	processed, dead := after("processed_at", keptProcessed), after("available_at", keptDead)
	switch {
	case dead == "":
		view.Expiration = processed // null, and so kept, while a message is not processed
	case processed == "":
		view.Expiration = fmt.Sprintf("case when processed_at is null and retry_count >= %d then %s end", i.MaxRetries, dead)
	default:
		view.Expiration = fmt.Sprintf("case when processed_at is not null then %s\n        when retry_count >= %d then %s end", processed, i.MaxRetries, dead)
	}
	return view
}

// kept is how long rows are kept, by an option or else a setting.
func kept(s *spec.Spec, option *spec.Duration, setting string) spec.Duration {
	if option != nil {
		return *option
	}
	hours, _ := strconv.Atoi(s.Settings.Value(setting))
	return spec.Duration(hours) * spec.Duration(time.Hour)
}

// interval is how long rows are kept, as SQL; empty if forever.
func interval(kept spec.Duration) string {
	if kept == 0 {
		return ""
	}
	return kept.Interval()
}

// after is a moment after that of a column, as SQL; empty if rows are kept forever.
func after(column string, kept spec.Duration) string {
	if kept == 0 {
		return ""
	}
	return column + " + " + interval(kept)
}

// Delay is by how much one more failure than a column or variable counts delays a message, as SQL; empty for no delay. All numbers are floats, because CockroachDB's
// power of integers overflows.
func (i Inbox) Delay(failures string) string {
	r := i.retry
	if r == nil {
		return ""
	}
	seconds := r.Initial.Seconds() + "::float8"
	switch r.Backoff {
	case spec.BackoffExponential:
		seconds = fmt.Sprintf("least(%s::float8, %s * 2::float8 ^ least(%s, 60)::float8)", r.Max.Seconds(), seconds, failures)
	case spec.BackoffLinear:
		seconds = fmt.Sprintf("least(%s::float8, %s * (%s + 1)::float8)", r.Max.Seconds(), seconds, failures)
	}
	return seconds + " * interval '1 second'"
}

// SetsPath reports whether functions have a SET clause for their search_path, which CockroachDB does not know.
func (e Extension) SetsPath() bool { return e.Target == spec.TargetCitus }

// Schema is the schema of functions and outboxes, as SQL.
func (e Extension) Schema() string { return e.Schemas[0] }

// Computed are the inboxes whose ids are computed.
func (e Extension) Computed() []Inbox {
	return slices.DeleteFunc(slices.Clone(e.Inboxes), func(i Inbox) bool { return i.EventID == "" })
}

// InboxNames lists the inboxes, for hints.
func (e Extension) InboxNames() string {
	names := make([]string, len(e.Inboxes))
	for n, i := range e.Inboxes {
		names[n] = i.Name
	}
	return strings.Join(names, ", ")
}

// OutboxNames lists the outboxes, for hints.
func (e Extension) OutboxNames() string {
	names := make([]string, len(e.Outboxes))
	for n, o := range e.Outboxes {
		names[n] = o.Name
	}
	return strings.Join(names, ", ")
}

// ComputedID is the expression for the id, as text, so that SQL can go on behind it, whatever comment it ends in.
func (i Inbox) ComputedID() string {
	if strings.Contains(i.EventID, "--") {
		return "(" + i.EventID + "\n)::text"
	}
	return "(" + i.EventID + ")::text"
}

// TagText is the expression for the tag of a journal, as text; empty if applications set it.
func (i Inbox) TagText() string {
	switch {
	case i.Journal.Tag == "":
		return ""
	case strings.Contains(i.Journal.Tag, "--"):
		return "pg_catalog.left((" + i.Journal.Tag + "\n)::text, 64)"
	}
	return "pg_catalog.left((" + i.Journal.Tag + ")::text, 64)"
}

// IsPending is the condition that row a is neither processed nor dead; the same words define the index of such rows.
func (i Inbox) IsPending(a string) string {
	return fmt.Sprintf("%[1]sprocessed_at is null and %[1]sretry_count < %[2]d", a, i.MaxRetries)
}

// IsDead is the condition that row a is a dead letter.
func (i Inbox) IsDead(a string) string {
	return fmt.Sprintf("%[1]sprocessed_at is null and %[1]sretry_count >= %[2]d", a, i.MaxRetries)
}
