package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/diag"
)

// target is what a server other than PostgreSQL has of what a spec can say; all else is an error at its place.
type target struct {
	server                                    string // its name, as errors have it
	runs                                      string // what runs a script
	extension, inbox, outbox, group, settings []string
	table                                     []string // of stream tables
	artifacts                                 []string
	reserved                                  string            // a schema that belongs to the server; or empty
	unread                                    string            // a word that no body of a function may hold as a name; or empty
	instead                                   map[string]string // what to do without an option
	orElse                                    string
}

// FixedTarget reports whether a spec is for a server for which there are files only, and no upgrades.
func (s *Spec) FixedTarget() bool {
	_, is := targets[s.Extension.Target]
	return is
}

// ScriptsRunBy is what runs the scripts of such a spec.
func (s *Spec) ScriptsRunBy() string { return targets[s.Extension.Target].runs }

var targets = map[string]target{
	TargetCockroachDB: {
		server:    "CockroachDB",
		runs:      `"cockroach sql --file"`,
		extension: []string{"name", "version", "schema", "target"},
		inbox:     []string{"name", "schema", "event_id", "change_feed", "journal", "dead_letter", "stats", "max_retries", "retention", "retry"},
		outbox:    []string{"name", "retention"},
		settings:  []string{"inbox_processed_retention_hours", "inbox_dlq_retention_hours", "outbox_retention_hours"},
		artifacts: []string{ArtifactMigrations, ArtifactDocs},
		reserved:  "crdb_internal",
		unread:    "error",
		instead: map[string]string{
			"postgres":      "leave it out; the SQL is for CockroachDB 25.2 and later",
			"stream_tables": "CockroachDB has neither transition tables nor snapshots that a query can compare; keep derived tables by a changefeed",
			"groups":        "CockroachDB has neither session locks nor transaction ids that a query can read; a changefeed delivers what is published",
			"schema":        "leave it out; DDL is read for stream tables, which this target does not have",
			"notify":        "CockroachDB has no LISTEN; poll, or let a changefeed tell",
			"schedule":      "leave it out; nothing runs in the background except row-level TTL",
			"max_attempts":  "leave it out; a claim that rolls back leaves no trace to count",
			"health":        "leave it out, and read <inbox>_stats",
			"renamed_from":  "no upgrades are generated for this target; rename the tables by ALTER TABLE",
			"ordering":      "leave it out; messages are claimed in the order in which they are due",
			"priority":      "leave it out; messages are claimed in the order in which they are due",
			"table":         "leave it out; the table of an inbox is managed on this target",
			"roles":         "name roles of the whole extension",
			"idle_group":    "leave it out; there are no consumer groups on this target",
			"ordering_key":  "leave it out; a changefeed keeps the order of each row's changes only",
			"segment_rows":  "leave it out; CockroachDB splits tables itself",
		},
		orElse: "leave it out; docs/cockroachdb.md lists what this target has",
	},
	TargetCitus: {
		server:    "Citus",
		runs:      "psql, connected to the coordinator,",
		extension: []string{"name", "version", "schema", "target"},
		inbox:     []string{"name", "schema", "event_id", "journal", "dead_letter", "stats", "max_retries", "retention", "retry"},
		outbox:    []string{"name", "retention"},
		group:     []string{"name", "outbox", "auto_offset_reset", "max_attempts"},
		table:     []string{"name", "query", "query_file", "refresh_mode", "schedule"},
		settings:  []string{"inbox_processed_retention_hours", "inbox_dlq_retention_hours", "outbox_retention_hours"},
		artifacts: []string{ArtifactMigrations, ArtifactDocs},
		instead: map[string]string{
			"postgres":     "leave it out; the SQL is for Citus 11.1 and later",
			"immediate":    "use refresh_mode differential; the tables are on other servers than the statement that changes them",
			"cron":         "use a duration, such as 1m",
			"outbox":       "leave it out; publish events of your own into an outbox of this target",
			"indexes":      "leave it out, and create the index on the stream table's table of rows, which docs/citus.md names",
			"notify":       "leave it out, and poll; notifications of a worker do not reach other servers",
			"schedule":     "leave it out; call tick() as often as retention is to run",
			"max_attempts": "leave it out; a claim that rolls back leaves no trace to count",
			"health":       "leave it out, and read <inbox>_stats",
			"renamed_from": "no upgrades are generated for this target; rename the tables by ALTER TABLE",
			"ordering":     "leave it out; messages of a shard are claimed in the order in which they are due",
			"priority":     "leave it out; messages of a shard are claimed in the order in which they are due",
			"table":        "leave it out; the table of an inbox is managed on this target",
			"roles":        "name roles of the whole extension",
			"segment_rows": "leave it out; the table is distributed",
		},
		orElse: "leave it out; docs/citus.md lists what this target has",
	},
}

// target reports what a target other than PostgreSQL does not have.
func (c checker) target() {
	on, is := targets[c.Extension.Target]
	if !is {
		return
	}
	c.lacks("the extension", c.Extension.Place, on.extension)
	if c.Extension.Schema == on.reserved {
		c.report(c.Extension.Field("schema"), reservedOnTarget, c.Extension.Schema, on.server)
	}
	if c.Extension.Schema == on.unread {
		c.report(c.Extension.Field("schema"), unreadOnTarget, "the schema", on.unread, on.server)
	}
	for _, ddl := range c.Schema {
		if on.table == nil {
			c.lacking(ddl.At, "schema", "DDL of source tables")
		}
	}
	for _, a := range c.Artifacts {
		if !slices.Contains(on.artifacts, a.Value) && a.Value != "" {
			c.report(a.At, noArtifactOnTarget, c.Extension.Target, a.Value)
		}
	}
	for _, s := range c.Settings {
		if !slices.Contains(on.settings, s.Name) {
			e := noSettingOnTarget.at(s.At, s.Name, c.Extension.Target)
			e.Hint = "its settings are " + strings.Join(on.settings, ", ")
			c.errs.Add(e)
		}
	}
	for _, t := range c.StreamTables {
		c.tableOnTarget(t, on.table)
	}
	for _, g := range c.ConsumerGroups {
		if on.group == nil {
			c.lacking(g.Field("name"), "groups", "consumer groups")
		} else {
			c.lacks(fmt.Sprintf("consumer group %q", g.Name), g.Place, on.group)
		}
	}
	for _, o := range c.Outboxes {
		c.lacks(fmt.Sprintf("outbox %q", o.Name), o.Place, on.outbox)
	}
	for _, i := range c.Inboxes {
		c.lacks(fmt.Sprintf("inbox %q", i.Name), i.Place, on.inbox)
		if i.Given("schema") && i.Schema == on.reserved {
			c.report(i.Field("schema"), reservedOnTarget, i.Schema, on.server)
		}
		if i.Given("schema") && i.Schema == on.unread {
			c.report(i.Field("schema"), unreadOnTarget, "the schema", on.unread, on.server)
		}
		if i.Name != "" && i.Name == on.unread {
			c.report(i.Field("name"), unreadOnTarget, "an inbox", on.unread, on.server)
		}
	}
}

// tableOnTarget reports what a target does not have of a stream table.
func (c checker) tableOnTarget(t StreamTable, has []string) {
	if has == nil {
		c.lacking(t.Field("name"), "stream_tables", "stream tables")
		return
	}
	c.lacks(fmt.Sprintf("stream table %q", t.Name), t.Place, has)
	if t.RefreshMode == RefreshImmediate || t.RefreshMode == RefreshAtCommit {
		c.lacking(t.Field("refresh_mode"), RefreshImmediate, "refresh mode "+t.RefreshMode)
	}
	if t.Schedule.Cron != "" || t.Schedule.Calculated {
		c.lacking(t.Field("schedule"), "cron", "schedule "+t.Schedule.String())
	}
}

// lacks reports the options of an object, in file order, that a target does not have.
func (c checker) lacks(object string, p Place, has []string) {
	given := slices.SortedFunc(maps.Keys(p.fields), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.fields[a].Line, p.fields[b].Line), cmp.Compare(p.fields[a].Col, p.fields[b].Col))
	})
	for _, option := range given {
		if !slices.Contains(has, option) {
			c.lacking(p.fields[option], option, fmt.Sprintf("option %q of %s", option, object))
		}
	}
}

// lacking reports one thing that the target does not have.
func (c checker) lacking(at diag.Pos, option, what string) {
	e := notOnTarget.at(at, c.Extension.Target, what)
	on := targets[c.Extension.Target]
	e.Hint = cmp.Or(on.instead[option], on.orElse)
	c.errs.Add(e)
}
