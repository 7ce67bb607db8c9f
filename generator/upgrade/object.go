// Package upgrade compares two versions of an extension, each a list of objects, and derives the steps that lead from one to the other.
package upgrade

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Policy is the kind of an object that is all policies of a table, which its signature names.
const Policy = "policy"

// Object is one database object. Upgrade steps come from comparing two lists of them, so an object holds all that must be
// known to create, comment, compare and drop it.
type Object struct {
	Kind      string   `json:"kind"`                 // schema, table, sequence, index, function, procedure, trigger, view, row, role, grant or policy
	Signature string   `json:"signature"`            // as COMMENT ON and DROP name it: pgtrickle.f(text), t on pgtrickle.orders
	SQL       string   `json:"sql"`                  // the statement that creates it, with its header
	Drop      string   `json:"drop,omitempty"`       // the statement that removes it; empty if it goes with what it needs
	Comment   string   `json:"comment,omitempty"`    // for COMMENT ON; empty if it takes none
	Section   string   `json:"section,omitempty"`    // of the script
	Of        string   `json:"of,omitempty"`         // what the spec names that it belongs to: inbox orders; empty if all share it
	Needs     []string `json:"needs,omitempty"`      // ids of earlier objects that the definition names
	Dump      bool     `json:"dump,omitempty"`       // holds data that a dump of the extension must keep
	DumpWhere string   `json:"dump_where,omitempty"` // the condition on the rows that it keeps; empty for all
	Holds     bool     `json:"holds,omitempty"`      // holds users' data, which a drop loses
	Attached  bool     `json:"attached,omitempty"`   // a view that attach() replaces by one over a table of users
	Resume    string   `json:"resume,omitempty"`     // the statement that has a sequence that was lost go on after all numbers that it gave
	Takes     string   `json:"takes,omitempty"`      // the id of a table of an older version that an upgrade takes the rows of this table from
	Fill      string   `json:"fill,omitempty"`       // the statement that does it

	// As if all that was renamed had the names that it was released under first: what is the same then differs in names alone. Empty where
	// that makes no difference.
	OriginID     string `json:"origin_id,omitempty"`
	OriginDigest string `json:"origin_digest,omitempty"` // of the statement
	OriginSQL    string `json:"origin_sql,omitempty"`    // of tables

	Template string `json:"-"` // that it was made of, below templates/ and without .sql.tmpl
	Shared   bool   `json:"-"` // is not of a single inbox, outbox or stream table
}

// ID identifies the object within an extension.
func (o Object) ID() string { return o.Kind + " " + o.Signature }

// identity is the same in all versions, whatever the object is called in them.
func (o Object) identity() string { return cmp.Or(o.OriginID, o.ID()) }

// essence changes whenever the statement does in more than names.
func (o Object) essence() string { return cmp.Or(o.OriginDigest, digestOf(statementOf(o.SQL))) }

// From notes what the object is by the names that everything was released under first.
func (o *Object) From(origin Object) {
	if o.ID() != origin.ID() {
		o.OriginID = origin.ID()
	}
	if o.SQL != origin.SQL {
		o.OriginDigest = digestOf(statementOf(origin.SQL))
		if o.Kind == "table" {
			o.OriginSQL = origin.SQL
		}
	}
}

// statementOf is a definition without the comment above it.
func statementOf(sql string) string {
	for strings.HasPrefix(sql, "--") {
		_, sql, _ = strings.Cut(sql, "\n")
	}
	return sql
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Digest changes whenever the installed object would.
func (o Object) Digest() string {
	sum := sha256.New()
	for _, part := range []string{o.ID(), o.SQL, o.Comment} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	if o.Dump {
		sum.Write([]byte("dump" + o.DumpWhere))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// CommentSQL is the statement that comments the object. It is empty for indexes and triggers, which are known by their tables; the header in the script
// describes them.
func (o Object) CommentSQL() string {
	if o.Comment == "" || o.Kind == "index" || o.Kind == "trigger" {
		return ""
	}
	return sqltext.Wrap("comment on " + o.Kind + " " + o.Signature + " is " + sqltext.Literal(o.Comment) + ";\n")
}

// Create is the statements that make the object, as a member of an extension or not.
func (o Object) Create(member bool) string {
	sql := o.SQL + o.CommentSQL()
	if member && o.Dump {
		sql += o.keptSQL()
	}
	return sql
}

// keptSQL is the statement that has a dump keep the rows of a table that is a member of an extension.
func (o Object) keptSQL() string {
	return "select pg_catalog.pg_extension_config_dump(" + sqltext.Literal(o.Signature) + ", " + sqltext.Literal(o.DumpWhere) + ");\n"
}

// Made is what functions of the extension make on users' tables or at run time, so that no statement of a script creates it.
type Made struct {
	Kind       string   `json:"kind"`                 // stream table, change log, publication, …
	Name       string   `json:"name"`                 // as the catalog has it
	OriginID   string   `json:"origin_id,omitempty"`  // as an object's
	Definition string   `json:"definition,omitempty"` // changes whenever it must be recreated
	Drop       string   `json:"drop,omitempty"`       // the statements that remove it
	Recreate   string   `json:"recreate,omitempty"`   // the statement by which it is recreated, at once or by attach()
	Lock       string   `json:"lock,omitempty"`       // what that keeps waiting
	Holds      bool     `json:"holds,omitempty"`      // users' data, which a drop loses
	On         []string `json:"on,omitempty"`         // tables whose triggers write it, or that it is an index of
	First      []string `json:"first,omitempty"`      // what sessions lock before its tables, where it is dropped: a name, and a mode of pgt_lock_for_upgrade
	Triggers   []string `json:"triggers,omitempty"`   // that the first of On gets
	Table      string   `json:"table,omitempty"`      // that may have data; where it is not there, or empty, none is lost
	Loses      string   `json:"loses,omitempty"`      // what a drop loses, where that is no table's rows

	Shadow string `json:"shadow,omitempty"` // a function that creates its relations elsewhere, empty: drift is found by comparing with them

	Columns   []string   `json:"columns,omitempty"`   // of what users see of a stream table
	Lenient   bool       `json:"lenient,omitempty"`   // an outbox whose consumers take other columns
	Relations []Relation `json:"relations,omitempty"` // that it may consist of
	PartOf    string     `json:"part_of,omitempty"`   // the id of what is never recreated without it
	Beside    bool       `json:"beside,omitempty"`    // the old one stays until the new one is filled, so that the upgrade does not lock it
}

// loss is what a drop loses.
func (m Made) loss() string {
	if m.Holds {
		return "all rows of " + cmp.Or(m.Table, m.Name)
	}
	return m.Loses
}

// Relation is a table, view, sequence or index that is made at run time.
type Relation struct {
	Kind        string   `json:"kind"`
	Schema      string   `json:"schema"`
	Name        string   `json:"name"`
	Comment     string   `json:"comment,omitempty"`
	Constraints []string `json:"constraints,omitempty"` // names that PostgreSQL made from the table's
}

// ID identifies it within an extension.
func (m Made) ID() string { return m.Kind + " " + m.Name }

func (m Made) identity() string { return cmp.Or(m.OriginID, m.ID()) }
