package cockroach

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Extension is what templates know of a spec.
type Extension struct {
	Name, Version string
	Schemas       []string // of all objects, as SQL; the extension's first
	Inboxes       []Inbox
	Outboxes      []Outbox
}

// Inbox is what templates know of an inbox.
type Inbox struct {
	Name       string
	EventID    string // the expression over payload that computes the id, as the spec gives it; or empty
	MaxRetries int
	Delay      string // by which a failure delays a message, as SQL; empty for none
	Expiration string // when row-level TTL deletes a row, as SQL; empty for never
	DeadLetter bool
	Stats      bool
	ChangeFeed bool

	Table, DueIndex, DeadIndex, PayloadIndex Name
	PendingView, DLQView, StatsView          Name
}

// Outbox is what templates know of an event outbox.
type Outbox struct {
	Name       string
	Expiration string // as an inbox's
	Table      Name
}

func viewOf(s *spec.Spec) Extension {
	view := Extension{Name: s.Extension.Name, Version: s.Extension.Version, Schemas: []string{ident(s.Extension.Schema)}}
	for n := range s.Inboxes {
		i := &s.Inboxes[n]
		view.Inboxes = append(view.Inboxes, viewOfInbox(s, i))
		if schema := ident(i.Schema); !slices.Contains(view.Schemas, schema) {
			view.Schemas = append(view.Schemas, schema)
		}
	}
	for n := range s.Outboxes {
		o := &s.Outboxes[n]
		view.Outboxes = append(view.Outboxes, Outbox{
			Name: o.Name, Table: Name{s.Extension.Schema, spec.DerivedName("outbox_" + o.Name)},
			Expiration: after("created_at", kept(s, o.Retention, "outbox_retention_hours")),
		})
	}
	return view
}

func viewOfInbox(s *spec.Spec, i *spec.Inbox) Inbox {
	in := func(suffix string) Name { return Name{i.Schema, spec.DerivedName(i.Name + suffix)} }
	view := Inbox{
		Name: i.Name, EventID: i.EventID, MaxRetries: i.MaxRetries, DeadLetter: i.DeadLetter, Stats: i.Stats, ChangeFeed: i.ChangeFeed,
		Table: Name(i.Relation), DueIndex: in("_due"), DeadIndex: in("_dead"), PayloadIndex: in("_payload"),
		PendingView: in("_pending"), DLQView: in("_dlq"), StatsView: in("_stats"),
		Delay: delay(i.BackOff()),
	}
	processed := after("processed_at", kept(s, i.Retention.Processed, "inbox_processed_retention_hours"))
	dead := after("available_at", kept(s, i.Retention.DeadLetter, "inbox_dlq_retention_hours"))
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

// after is a moment after that of a column, as SQL; empty if rows are kept forever.
func after(column string, kept spec.Duration) string {
	if kept == 0 {
		return ""
	}
	return column + " + " + kept.Interval()
}

// delay is by how much one more failure than row i counts delays it. All numbers are floats, because CockroachDB's power of integers overflows.
func delay(r *spec.Retry) string {
	if r == nil {
		return ""
	}
	seconds := r.Initial.Seconds() + "::float8"
	switch r.Backoff {
	case spec.BackoffExponential:
		seconds = fmt.Sprintf("least(%s::float8, %s * power(2::float8, least(i.retry_count, 60)::float8))", r.Max.Seconds(), seconds)
	case spec.BackoffLinear:
		seconds = fmt.Sprintf("least(%s::float8, %s * (i.retry_count + 1)::float8)", r.Max.Seconds(), seconds)
	}
	return seconds + " * interval '1 second'"
}

// Schema is the schema of functions and outboxes, as SQL.
func (e Extension) Schema() string { return e.Schemas[0] }

// Computed are the inboxes whose ids are computed.
func (e Extension) Computed() []Inbox {
	return slices.DeleteFunc(slices.Clone(e.Inboxes), func(i Inbox) bool { return i.EventID == "" })
}

// Feeds reports whether anything is read by a changefeed.
func (e Extension) Feeds() bool {
	return len(e.Outboxes) > 0 || slices.ContainsFunc(e.Inboxes, func(i Inbox) bool { return i.ChangeFeed })
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

// IsPending is the condition that row a is neither processed nor dead; the same words define the index of such rows.
func (i Inbox) IsPending(a string) string {
	return fmt.Sprintf("%[1]sprocessed_at is null and %[1]sretry_count < %[2]d", a, i.MaxRetries)
}

// IsDead is the condition that row a is a dead letter.
func (i Inbox) IsDead(a string) string {
	return fmt.Sprintf("%[1]sprocessed_at is null and %[1]sretry_count >= %[2]d", a, i.MaxRetries)
}

// Connection is the external connection of that name, as SQL.
func (e Extension) Connection() string { return ident(e.Name) }

// Sink is the URI of the external connection that changefeeds write to.
func (e Extension) Sink() string { return sqltext.Literal("external://" + e.Name) }
