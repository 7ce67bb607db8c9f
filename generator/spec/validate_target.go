package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/pgsluice/sluice/ivm/diag"
)

// The options that target cockroachdb has; all others are errors at their places.
var (
	onCockroachExtension = []string{"name", "version", "schema", "target"}
	onCockroachInbox     = []string{"name", "schema", "event_id", "change_feed", "dead_letter", "stats", "max_retries", "retention", "retry"}
	onCockroachOutbox    = []string{"name", "retention"}
	onCockroachSettings  = []string{"inbox_processed_retention_hours", "inbox_dlq_retention_hours", "outbox_retention_hours"}
	onCockroachArtifacts = []string{ArtifactMigrations, ArtifactDocs}
)

// insteadOnCockroach says what to do without an option that target cockroachdb does not have.
var insteadOnCockroach = map[string]string{
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
	"journal":       "leave it out; add columns by ALTER TABLE",
	"table":         "leave it out; the table of an inbox is managed on this target",
	"roles":         "name roles of the whole extension",
	"idle_group":    "leave it out; there are no consumer groups on this target",
	"ordering_key":  "leave it out; a changefeed keeps the order of each row's changes only",
	"segment_rows":  "leave it out; CockroachDB splits tables itself",
}

const elseOnCockroach = "leave it out; docs/cockroachdb.md lists what this target has"

// target reports what a target other than PostgreSQL does not have.
func (c checker) target() {
	if c.Extension.Target != TargetCockroachDB {
		return
	}
	c.lacks("the extension", c.Extension.Place, onCockroachExtension)
	if c.Extension.Schema == "crdb_internal" {
		c.report(c.Extension.Field("schema"), reservedOnCockroach, c.Extension.Schema)
	}
	for _, ddl := range c.Schema {
		c.lacking(ddl.At, "schema", "DDL of source tables")
	}
	for _, a := range c.Artifacts {
		if !slices.Contains(onCockroachArtifacts, a.Value) && a.Value != "" {
			c.report(a.At, noArtifactOnCockroach, a.Value)
		}
	}
	for _, s := range c.Settings {
		if !slices.Contains(onCockroachSettings, s.Name) {
			c.report(s.At, noSettingOnCockroach, s.Name)
		}
	}
	for _, t := range c.StreamTables {
		c.lacking(t.Field("name"), "stream_tables", "stream tables")
	}
	for _, g := range c.ConsumerGroups {
		c.lacking(g.Field("name"), "groups", "consumer groups")
	}
	for _, o := range c.Outboxes {
		c.lacks(fmt.Sprintf("outbox %q", o.Name), o.Place, onCockroachOutbox)
	}
	for _, i := range c.Inboxes {
		c.lacks(fmt.Sprintf("inbox %q", i.Name), i.Place, onCockroachInbox)
		if i.Given("schema") && i.Schema == "crdb_internal" {
			c.report(i.Field("schema"), reservedOnCockroach, i.Schema)
		}
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
	e.Hint = cmp.Or(insteadOnCockroach[option], elseOnCockroach)
	c.errs.Add(e)
}
