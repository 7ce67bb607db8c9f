package spec

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// Values of Inbox.WireFormat.
const (
	WireNative         = "native"
	WireCloudEvents    = "cloudevents"
	WireDebezium       = "debezium"
	WireDebeziumOutbox = "debezium_outbox"
	WireMaxwell        = "maxwell"
)

// Inbox receives each message once. It is managed (the generator owns the table) unless Table names a table of the user's.
type Inbox struct {
	Place       `yaml:"-"`
	Name        string    `yaml:"name" jsonschema:"required,minLength=1,maxLength=63" jsonschema_description:"The inbox's name, and that of its table."`
	Schema      string    `yaml:"schema" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"Where the table lives; default: the extension's schema."`
	Table       string    `yaml:"table" jsonschema:"minLength=1" jsonschema_description:"A table of yours to use instead of a managed one; it is never altered or dropped."`
	Columns     *Columns  `yaml:"columns" jsonschema_description:"The names of your table's columns; only with table."`
	EventID     string    `yaml:"event_id" jsonschema:"minLength=1" jsonschema_description:"An expression over payload that computes the id, such as payload->>'id'."`
	WireFormat  string    `yaml:"wire_format" jsonschema:"default=native,enum=native,enum=cloudevents,enum=debezium,enum=debezium_outbox,enum=maxwell" jsonschema_description:"The format of documents that inbox_receive_wire takes for the inbox; native: it takes none."`
	Tenant      string    `yaml:"tenant" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"Adds this column, and keeps the messages of each tenant apart by row-level security: a session sees those of the tenant that pg_trickle.tenant names."`
	Materialize bool      `yaml:"materialize" jsonschema:"default=false" jsonschema_description:"Makes pending and dead letters stream tables rather than views."`
	ChangeFeed  bool      `yaml:"change_feed" jsonschema:"default=false" jsonschema_description:"An event outbox of the inbox's own inserts, in the same transaction."`
	Journal     *Journal  `yaml:"journal" spec:"switch" jsonschema_description:"Keeps the inbox as a journal that others query: columns sequence_no, tag, status and updated_at, and indexes; true, or options."`
	DeadLetter  bool      `yaml:"dead_letter" jsonschema:"default=true" jsonschema_description:"Creates <inbox>_dlq."`
	Stats       bool      `yaml:"stats" jsonschema:"default=true" jsonschema_description:"Creates <inbox>_stats."`
	Notify      bool      `yaml:"notify" jsonschema:"default=false" jsonschema_description:"Notifies listeners when a transaction that stores messages commits."`
	MaxRetries  int       `yaml:"max_retries" jsonschema:"default=3,minimum=1,maximum=1000" jsonschema_description:"Failures after which a message is a dead letter."`
	MaxAttempts int       `yaml:"max_attempts" jsonschema:"default=20,minimum=2,maximum=1000" jsonschema_description:"Claims that ended without a mark or a failure after which a message is a dead letter: it kills its workers."`
	Schedule    Schedule  `yaml:"schedule" jsonschema:"default=1s" jsonschema_description:"How often background work looks at the inbox: a duration or a cron expression (in UTC)."`
	DedupWindow *Duration `yaml:"dedup_window" jsonschema_description:"How long ids are remembered after messages are processed, if longer than messages are kept: a message that comes again is a duplicate."`
	Retention   Retention `yaml:"retention" jsonschema_description:"How long finished messages are kept; 0s keeps them forever."`
	Retry       *Retry    `yaml:"retry" jsonschema_description:"Back-off after a failure, or none: the message is due again at once. Default: {backoff: exponential, initial: 1s, max: 5m}."`
	Ordering    *Ordering `yaml:"ordering" jsonschema_description:"Processes the messages of an aggregate in sequence; not together with priority."`
	Priority    *Priority `yaml:"priority" jsonschema_description:"Processes urgent messages first; not together with ordering."`
	Health      Health    `yaml:"health" jsonschema_description:"Thresholds of inbox_health."`
	Roles       Roles     `yaml:"roles" jsonschema_description:"NOLOGIN group roles that get grants on this inbox only, beside those of the whole extension."`
	RenamedFrom string    `yaml:"renamed_from" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"Former name; keeps the data across the rename."`
	Relation    Name      `yaml:"-"` // the table, managed or not
	Feed        string    `yaml:"-"` // the outbox of its change feed, once that is one of the spec's
}

// Journal adds columns and indexes to a managed inbox by which applications query its messages.
type Journal struct {
	Place         `yaml:"-"`
	Tag           string `yaml:"tag" jsonschema:"minLength=1" jsonschema_description:"An expression over payload that computes the tag, such as payload->>'region'; default: applications set it."`
	PayloadIndex  bool   `yaml:"payload_index" jsonschema:"default=true" jsonschema_description:"A GIN index on payload, for queries by @>."`
	CoveringIndex bool   `yaml:"covering_index" jsonschema:"default=true" jsonschema_description:"An index on event_type that includes the journal's columns. Marking a message then writes every index of the table."`
}

// NewInbox is a managed inbox with a default for every option.
func NewInbox(name, schema string) Inbox {
	i := Inbox{Name: name}
	setDefaults(reflect.ValueOf(&i).Elem())
	i.complete(schema)
	return i
}

// NewPriority is the priority by a column of an inbox that a function created.
func NewPriority(column string) *Priority {
	p := &Priority{Column: column}
	setDefaults(reflect.ValueOf(p).Elem())
	return p
}

// Managed reports whether the generator owns the inbox's table.
func (i *Inbox) Managed() bool { return i.Table == "" }

// Retention says how long an inbox keeps finished messages. Nil leaves it to the settings; zero keeps them forever.
type Retention struct {
	Place      `yaml:"-"`
	Processed  *Duration `yaml:"processed" jsonschema_description:"Of processed messages; default: setting inbox_processed_retention_hours."`
	DeadLetter *Duration `yaml:"dead_letter" jsonschema_description:"Of dead letters; default: setting inbox_dlq_retention_hours."`
}

// BackOff returns how long failures delay a message; nil if it is due again at once.
func (i *Inbox) BackOff() *Retry {
	if i.Retry == nil || i.Retry.Backoff == BackoffNone {
		return nil
	}
	return i.Retry
}

// Values of Retry.Backoff.
const (
	BackoffExponential = "exponential"
	BackoffLinear      = "linear"
	BackoffConstant    = "constant"
	BackoffNone        = "none"
)

// Retry is the back-off of an inbox: failure n delays a message by Initial times 2^(n-1), n or 1, and by Max at most. A spec may write none
// in place of {backoff: none}.
type Retry struct {
	Place   `yaml:"-"`
	Backoff string   `yaml:"backoff" jsonschema:"default=exponential,enum=exponential,enum=linear,enum=constant,enum=none" jsonschema_description:"How the delay grows from failure to failure; none: the message is due again at once."`
	Initial Duration `yaml:"initial" jsonschema:"default=1s" jsonschema_description:"Delay after the first failure."`
	Max     Duration `yaml:"max" jsonschema_description:"Longest delay; default 5m, or initial if that is longer."`
}

// read takes options, or none.
func (r *Retry) read(d *decoder, n *yaml.Node, f field) {
	v := reflect.ValueOf(r).Elem()
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.object(n, v, f.name)
		return
	}
	setDefaults(v)
	setPlace(v, Place{At: d.pos(n)})
	if n.Value != BackoffNone {
		d.errs.Add(wrongType(d.pos(n), f.name, "none or a map of fields", n))
	}
	r.Backoff = BackoffNone
}

// Values of Ordering.Mode and Ordering.OnDeadLetter.
const (
	OrderingContiguous = "contiguous"
	OrderingMonotonic  = "monotonic"
	DeadLetterBlock    = "block"
	DeadLetterSkip     = "skip"
)

// Ordering makes an inbox hand out the messages of an aggregate in sequence.
type Ordering struct {
	Place         `yaml:"-"`
	Aggregate     string    `yaml:"aggregate" jsonschema:"default=aggregate_id,minLength=1,maxLength=63" jsonschema_description:"The column whose messages are ordered among each other."`
	Sequence      string    `yaml:"sequence" jsonschema:"default=received_at,minLength=1,maxLength=63" jsonschema_description:"The column that orders them; a new name adds a bigint column to a managed inbox."`
	Start         int       `yaml:"start" jsonschema:"default=1,minimum=0" jsonschema_description:"First sequence of an aggregate; only with mode contiguous."`
	Mode          string    `yaml:"mode" jsonschema:"enum=contiguous,enum=monotonic" jsonschema_description:"contiguous waits for missing numbers (default for numbers), monotonic does not (default for timestamps)."`
	OnDeadLetter  string    `yaml:"on_dead_letter" jsonschema:"default=block,enum=block,enum=skip" jsonschema_description:"Whether a dead letter holds up its aggregate."`
	GapAlertAfter *Duration `yaml:"gap_alert_after" jsonschema_description:"Age of a gap that raises an alert; default: setting ordering_gap_alert_seconds."`
}

// Priority makes an inbox hand out urgent messages first. It has either a Map or Tiers.
type Priority struct {
	Place   `yaml:"-"`
	Column  string      `yaml:"column" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"The column that decides; default event_type with map, priority with tiers, which add an integer column of that name to a managed inbox."`
	Map     PriorityMap `yaml:"map" jsonschema_description:"Priority of each value of the column, lower first; 999 where absent."`
	Tiers   Tiers       `yaml:"tiers" jsonschema_description:"Ranges of the column, each with a pending view and a schedule of its own; default: critical 1-2 (1s), normal 3-6 (5s), background 7-9 (30s)."`
	MaxWait Duration    `yaml:"max_wait" jsonschema:"default=10m" jsonschema_description:"Every fourth claim begins with messages that have been due for longer, whatever their priority."`
}

// Tier is a range of priorities, both ends included.
type Tier struct {
	Place    `yaml:"-"`
	Name     string   `yaml:"name" jsonschema:"required,minLength=1,maxLength=63" jsonschema_description:"Names the view pending_<inbox>_<tier>."`
	Min      int      `yaml:"min" jsonschema:"required,minimum=0,maximum=999" jsonschema_description:"Lowest priority of the tier."`
	Max      int      `yaml:"max" jsonschema:"required,minimum=0,maximum=999" jsonschema_description:"Highest priority of the tier."`
	Schedule Schedule `yaml:"schedule" jsonschema_description:"How often its workers are to look, and a materialized pending view is refreshed; default: the inbox's schedule."`
}

// Health holds the thresholds at which an inbox stops being healthy.
type Health struct {
	Place              `yaml:"-"`
	DegradedPendingAge Duration `yaml:"degraded_pending_age" jsonschema:"default=30s" jsonschema_description:"Age of the oldest pending message that is degraded."`
	CriticalPendingAge Duration `yaml:"critical_pending_age" jsonschema:"default=120s" jsonschema_description:"Age of the oldest pending message that is critical."`
	DegradedDLQ        int      `yaml:"degraded_dlq" jsonschema:"default=10,minimum=1,maximum=1000000000" jsonschema_description:"Number of dead letters."`
}

// Columns names the columns of a table that the user brings. Fields that are not given have the managed inbox's names;
// optional columns that the table does not have are found out from its DDL.
type Columns struct {
	Place       `yaml:"-"`
	ID          IDColumns `yaml:"id" jsonschema:"default=event_id,minLength=1,maxLength=63" jsonschema_description:"Unique id of a message: a column, or a list of those over which the table has a unique key."`
	EventType   string    `yaml:"event_type" jsonschema:"default=event_type,minLength=1,maxLength=63" jsonschema_description:"Type of the event."`
	Source      string    `yaml:"source" jsonschema:"default=source,minLength=1,maxLength=63" jsonschema_description:"Where the message comes from."`
	AggregateID string    `yaml:"aggregate_id" jsonschema:"default=aggregate_id,minLength=1,maxLength=63" jsonschema_description:"What the event is about."`
	Payload     string    `yaml:"payload" jsonschema:"default=payload,minLength=1,maxLength=63" jsonschema_description:"The message."`
	ReceivedAt  string    `yaml:"received_at" jsonschema:"default=received_at,minLength=1,maxLength=63" jsonschema_description:"When it arrived."`
	ProcessedAt string    `yaml:"processed_at" jsonschema:"default=processed_at,minLength=1,maxLength=63" jsonschema_description:"When it was processed; NULL while pending."`
	Error       string    `yaml:"error" jsonschema:"default=error,minLength=1,maxLength=63" jsonschema_description:"The latest error."`
	RetryCount  string    `yaml:"retry_count" jsonschema:"default=retry_count,minLength=1,maxLength=63" jsonschema_description:"Failures so far."`
	TraceID     string    `yaml:"trace_id" jsonschema:"default=trace_id,minLength=1,maxLength=63" jsonschema_description:"For distributed tracing."`
	AvailableAt string    `yaml:"available_at" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"When it is due again; needed for retry."`
}
