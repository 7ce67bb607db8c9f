// Package generator turns a spec into an ordered list of database objects, and that list into files. It is pure: it reads no
// file and talks to no server, and the same spec gives the same bytes.
package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Object is one database object. Upgrade steps come from comparing two lists of them, so an object holds all that must be
// known to create, comment, compare and drop it.
type Object struct {
	Kind      string   // schema, table, sequence, index, function, procedure, trigger, view, row or grant
	Signature string   // as COMMENT ON and DROP name it: pgtrickle.f(text), t on pgtrickle.orders
	SQL       string   // the statement that creates it, with its header
	Drop      string   // the statement that removes it; empty if it goes with what it needs
	Comment   string   // for COMMENT ON; empty if it takes none
	Needs     []string // ids of earlier objects that the definition names
	Dump      bool     // holds data that a dump of the extension must keep
	Holds     bool     // holds users' data, which a drop loses
}

// ID identifies the object within an extension.
func (o Object) ID() string { return o.Kind + " " + o.Signature }

// Digest changes whenever the installed object would.
func (o Object) Digest() string {
	sum := sha256.New()
	for _, part := range []string{o.ID(), o.SQL, o.Comment} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	if o.Dump {
		sum.Write([]byte("dump"))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// CommentSQL is the statement that comments the object, or nothing.
func (o Object) CommentSQL() string {
	if o.Comment == "" {
		return ""
	}
	return "comment on " + o.Kind + " " + o.Signature + " is " + sqltext.Literal(o.Comment) + ";\n"
}

// Extension is everything that is generated for one spec.
type Extension struct {
	Name, Version, Schema string
	Objects               []Object // in an order in which they can be created
	jobs                  map[string]string
	fills                 bool // has stream tables
	logs                  bool // has some in immediate mode

	Every time.Duration // between two ticks
}

// Digest changes whenever any object does.
func (e *Extension) Digest() string {
	sum := sha256.New()
	for _, o := range e.Objects {
		sum.Write([]byte(o.Digest()))
	}
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

// header splits a rendered object into the first sentence group of its leading comment, which documents it in the catalog too.
func header(sql string) string {
	var lines []string
	for _, line := range strings.Split(sql, "\n") {
		text, isComment := strings.CutPrefix(line, "--")
		text = strings.TrimSpace(text)
		if !isComment || text == "" || strings.HasPrefix(text, "Reads ") || strings.HasPrefix(text, "Writes ") || strings.HasPrefix(text, "From ") {
			break
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, " ")
}
