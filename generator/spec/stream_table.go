package spec

// Values of StreamTable.RefreshMode.
const (
	RefreshAuto         = "auto"
	RefreshDifferential = "differential"
	RefreshImmediate    = "immediate"
	RefreshAtCommit     = "at_commit"
	RefreshFull         = "full"
)

// Values of StreamTable.Rebuild.
const (
	RebuildAuto   = "auto"
	RebuildOnline = "online"
	RebuildLocked = "locked"
)

// StreamTable is a table that is kept equal to its query.
type StreamTable struct {
	Place       `yaml:"-"`
	Name        string       `yaml:"name" jsonschema:"required,minLength=1" jsonschema_description:"The table's name, optionally with its schema: public.order_totals."`
	Query       Query        `yaml:"query" jsonschema_description:"The defining select."`
	QueryFile   string       `yaml:"query_file" jsonschema_description:"A file that holds the query, relative to this one; instead of query."`
	RefreshMode string       `yaml:"refresh_mode" jsonschema:"default=auto,enum=auto,enum=differential,enum=immediate,enum=at_commit,enum=full" jsonschema_description:"How the table is kept up to date."`
	Schedule    Schedule     `yaml:"schedule" jsonschema:"default=1s" jsonschema_description:"How often to refresh: a duration, a cron expression (in UTC), or calculated: as often as what reads it."`
	Indexes     [][]Text     `yaml:"indexes" jsonschema:"nullable" jsonschema_description:"Column lists to index beside the key."`
	Outbox      *TableOutbox `yaml:"outbox" spec:"switch" jsonschema_description:"Records what each refresh changed: true, or options."`
	RenamedFrom string       `yaml:"renamed_from" jsonschema:"minLength=1" jsonschema_description:"Former name; keeps the data across the rename."`
	Rebuild     string       `yaml:"rebuild" jsonschema:"default=auto,enum=auto,enum=online,enum=locked" jsonschema_description:"How an upgrade recreates it: online, beside the old rows, which are shown until the new ones are filled; locked, in the upgrade's transaction; auto: online if possible."`
	Fuse        *int         `yaml:"fuse" jsonschema:"minimum=1,maximum=2000000000" jsonschema_description:"More changed rows of a source than this suspend the table until resume_stream_table."`
	Check       *Duration    `yaml:"check" jsonschema_description:"How often background work compares the table with its query, which takes as long as the query: 1d, say. A difference raises the alert stream_table_differs. Default: never."`
	Relation    Name         `yaml:"-"` // Name split into schema and table; the extension's schema where none is given
}
