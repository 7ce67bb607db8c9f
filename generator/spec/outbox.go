package spec

// Values of TableOutbox.OnFullRefresh.
const (
	FullRefreshDelta    = "delta"
	FullRefreshSnapshot = "snapshot"
)

// Values of TableOutbox.OnColumnChange.
const (
	ColumnChangeRefuse      = "refuse"
	ColumnChangeFullRefresh = "full_refresh"
)

// TableOutbox records the rows by which each refresh changed a stream table.
type TableOutbox struct {
	Place               `yaml:"-"`
	Retention           *Duration `yaml:"retention" jsonschema_description:"How long rows are kept; default: setting outbox_retention_hours."`
	InlineThresholdRows *int      `yaml:"inline_threshold_rows" jsonschema:"minimum=0,maximum=1000000000" jsonschema_description:"Changed rows up to which the payload holds them all; default: setting outbox_inline_threshold_rows."`
	OnFullRefresh       string    `yaml:"on_full_refresh" jsonschema:"default=delta,enum=delta,enum=snapshot" jsonschema_description:"What a refresh that recomputed writes."`
	OnColumnChange      string    `yaml:"on_column_change" jsonschema:"default=refuse,enum=refuse,enum=full_refresh" jsonschema_description:"What an upgrade does that changes the stream table's columns, and so what consumers read: refuse, or write a full refresh."`
	Roles               Roles     `yaml:"roles" jsonschema_description:"NOLOGIN group roles that get grants on this outbox only, beside those of the whole extension: consumer and monitor."`
	Immediate           bool      `yaml:"immediate" jsonschema:"default=false" jsonschema_description:"Allows an outbox on a stream table in immediate mode: one row per statement."`
}

// Outbox is an event outbox: applications publish to it inside their own transactions.
type Outbox struct {
	Place       `yaml:"-"`
	Name        string     `yaml:"name" jsonschema:"required,minLength=1,maxLength=63" jsonschema_description:"The outbox's name; its table is outbox_<name>."`
	Retention   *Duration  `yaml:"retention" jsonschema_description:"How long consumed events are kept; default: setting outbox_retention_hours."`
	Notify      bool       `yaml:"notify" jsonschema:"default=false" jsonschema_description:"Notifies listeners when a transaction that publishes commits, rather than at the next tick."`
	OrderingKey string     `yaml:"ordering_key" jsonschema:"enum=aggregate_id,enum=event_type" jsonschema_description:"Events that agree in this column are handled in order, across the consumers of a group."`
	IdleGroup   *IdleGroup `yaml:"idle_group" jsonschema_description:"What happens when a consumer group stops consuming."`
	Feed        bool       `yaml:"-"` // of an inbox, which alone publishes to it
	Roles       Roles      `yaml:"roles" jsonschema_description:"NOLOGIN group roles that get grants on this outbox only, beside those of the whole extension."`
	SegmentRows *int       `yaml:"segment_rows" jsonschema:"minimum=1000,maximum=1000000000" jsonschema_description:"For very many events: its table is partitioned by this many ids, and retention drops whole partitions. To be decided when the outbox is made."`
	RenamedFrom string     `yaml:"renamed_from" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"Former name; keeps the data across the rename."`
}

// Values of IdleGroup.Policy.
const (
	IdleAlert   = "alert"
	IdleArchive = "archive"
	IdleEvict   = "evict"
)

// IdleGroup says what happens to an outbox whose group nobody consumes.
type IdleGroup struct {
	Place  `yaml:"-"`
	After  Duration `yaml:"after" jsonschema:"required" jsonschema_description:"How long a group may be idle."`
	Policy string   `yaml:"policy" jsonschema:"default=alert,enum=alert,enum=archive,enum=evict" jsonschema_description:"What to do then."`
}

// ConsumerGroup is a group that exists from the start.
type ConsumerGroup struct {
	Place           `yaml:"-"`
	Name            string `yaml:"name" jsonschema:"required,minLength=1,maxLength=63" jsonschema_description:"The group's name."`
	Outbox          string `yaml:"outbox" jsonschema:"required,minLength=1" jsonschema_description:"The outbox, stream table or change feed it consumes."`
	AutoOffsetReset string `yaml:"auto_offset_reset" jsonschema:"default=latest,enum=latest,enum=earliest" jsonschema_description:"Where the group starts."`
	MaxAttempts     *int   `yaml:"max_attempts" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"Deliveries before a row goes to the group's dead letters; default: no limit."`
	RenamedFrom     string `yaml:"renamed_from" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"Former name; keeps the offset across the rename."`
}
