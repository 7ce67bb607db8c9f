// Package spec reads the YAML that describes an extension into a typed, validated Spec, and keeps where everything stands.
//
// The struct tags declare the format once: `yaml` names a field, `jsonschema` holds what both the decoder and the JSON Schema
// enforce (required, enum, minimum, maximum), and `jsonschema_description` is what an editor shows.
package spec

import "github.com/pgsluice/sluice/ivm/diag"

// FormatVersion is the only version of the format so far.
const FormatVersion = 1

// Values of Extension.Target.
const (
	TargetPostgres    = "postgres"
	TargetCitus       = "citus"
	TargetCockroachDB = "cockroachdb"
)

// Spec is one extension: everything that one file, or the files of one directory, say.
type Spec struct {
	Place          `yaml:"-"`
	Files          []string        `yaml:"-"` // the files it was read from, in order
	partial        bool            `yaml:"-"` // one of them could not be read
	DDL            []diag.Block    `yaml:"-"` // the files that Schema names, read
	Version        int             `yaml:"version" jsonschema:"required,enum=1" jsonschema_description:"Version of this format: 1."`
	Extension      Extension       `yaml:"extension" jsonschema_description:"What is generated. Stands in one file of a directory."`
	Artifacts      []Text          `yaml:"artifacts" jsonschema:"minItems=1,uniqueItems=true,enum=extension,enum=migrations,enum=jobs,enum=docs,enum=tle,enum=dbt,enum=ops,enum=goose,enum=golang-migrate,enum=flyway,enum=dbmate,enum=sqitch" jsonschema_description:"What is written: extension, migrations, jobs and docs unless given. A migration tool stands in place of migrations."`
	Pulled         bool            `yaml:"-"` // DDL was read from a database, which has more than that
	Schema         []Text          `yaml:"schema" jsonschema:"nullable" jsonschema_description:"DDL files of the source tables, relative to this file."`
	Settings       Settings        `yaml:"settings" jsonschema_description:"Defaults of run-time settings in the generated code."`
	Roles          Roles           `yaml:"roles" jsonschema_description:"NOLOGIN group roles that get exactly the grants they need."`
	StreamTables   []StreamTable   `yaml:"stream_tables" jsonschema:"nullable" jsonschema_description:"Tables kept equal to a query."`
	Outboxes       []Outbox        `yaml:"outboxes" jsonschema:"nullable" jsonschema_description:"Event outboxes, published to by applications."`
	ConsumerGroups []ConsumerGroup `yaml:"consumer_groups" jsonschema:"nullable" jsonschema_description:"Consumer groups that exist from the start."`
	Inboxes        []Inbox         `yaml:"inboxes" jsonschema:"nullable" jsonschema_description:"Tables that receive each message once."`
}

// The values of artifacts that are no migration tools: the folders below the name of the extension.
const (
	ArtifactExtension  = "extension"
	ArtifactMigrations = "migrations"
	ArtifactJobs       = "jobs"
	ArtifactDocs       = "docs"
	ArtifactTLE        = "tle"
	ArtifactDBT        = "dbt"
	ArtifactOps        = "ops"
)

// Extension names what is generated.
type Extension struct {
	Place    `yaml:"-"`
	Name     string `yaml:"name" jsonschema:"required,minLength=1,maxLength=63,pattern=^[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*$" jsonschema_description:"Names the artifacts: shop gives shop.control and shop--1.0.0.sql."`
	Version  string `yaml:"version" jsonschema:"required,pattern=^[0-9]+[.][0-9]+[.][0-9]+" jsonschema_description:"Semantic version of what is generated, such as 1.0.0."`
	Schema   string `yaml:"schema" jsonschema:"default=pgtrickle,minLength=1,maxLength=63" jsonschema_description:"Where generated objects live."`
	Postgres string `yaml:"postgres" jsonschema:"default=14+,enum=14+,enum=15+,enum=16+,enum=17+,enum=18+" jsonschema_description:"Oldest server to support."`
	Target   string `yaml:"target" jsonschema:"default=postgres,enum=postgres,enum=citus,enum=cockroachdb" jsonschema_description:"The kind of server."`
	Oldest   int    `yaml:"-"` // the number in Postgres

	Imperative Imperative `yaml:"imperative" jsonschema_description:"Functions that create and drop at run time: true for inboxes (create_inbox, enable_inbox_tracking, enable_inbox_ordering, enable_inbox_priority, drop_inbox) and, in a spec that has stream tables, those (create_stream_table, drop_stream_table) and their outboxes (enable_outbox, disable_outbox); or a list of inboxes, outboxes and stream_tables. Default: false."`
}

// Roles are the group roles that receive grants, on all inboxes and outboxes or on one; an empty name means none.
type Roles struct {
	Place    `yaml:"-"`
	Producer string `yaml:"producer" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"Receives and publishes messages."`
	Consumer string `yaml:"consumer" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"Claims, polls and marks messages."`
	Monitor  string `yaml:"monitor" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"Reads status, health and statistics."`
}

// Place is where an object stands in its file, and where each field that was given stands. Every object embeds one.
type Place struct {
	At     diag.Pos
	fields map[string]diag.Pos
	meant  map[string]bool // fields that an unknown one was likely meant to be
}

// Field returns where the value of a field stands, or where the object begins if the field was not given.
func (p Place) Field(name string) diag.Pos {
	if at, ok := p.fields[name]; ok {
		return at
	}
	return p.At
}

// Given reports whether the file names the field; a field that is not given holds its default.
func (p Place) Given(name string) bool {
	_, ok := p.fields[name]
	return ok
}

// Text is a string that knows its place, for lists of strings.
type Text struct {
	At    diag.Pos
	Value string
}

// Query is SQL from a `|` block or a file; Block.Pos maps a byte offset in it to its place.
type Query struct {
	diag.Block
	At diag.Pos
}
