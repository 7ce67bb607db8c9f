package render

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Now is what templates know of a stream table in immediate mode besides.
type Now struct {
	Immediate  bool
	Direct     bool   // each statement follows by itself; otherwise what is pending is applied when the last open statement ends
	LockKey    string // of the advisory lock under which the latter is done
	Last       Name   // the sequence with the last transaction that had the lock
	MaintainFn Name
	Pending    []Changes // what is pending, by source
	NowDelta   []string  // lines of common table expressions over Pending

	GroupsDelta, Regained, RowsAnew []string // see package ivm
	Accumulate                      func(row, added string) []string
	Extremes                        []string
	PlainSame                       func(a, b string) string
}

// Accumulated sets group row to what it is with row added.
func (n Now) Accumulated(row, added string) string {
	return strings.Join(n.Accumulate(row, added), ",\n                ")
}

// Regains sets the extremes to those of row f.
func (n Now) Regains(f string) string {
	var sets []string
	for _, name := range n.Extremes {
		sets = append(sets, name+" = "+f+"."+name)
	}
	return strings.Join(sets, ", ")
}

// Capture is a table that stream tables in immediate mode read.
type Capture struct {
	Source        // Log is what is pending of it
	Steps  []Step // stream tables that follow each statement by themselves
	Locked []StreamTable
	Open   string // the setting that counts open statements

	OnBefore                                                                              string
	BeforeFn, InsertNowFn, UpdateNowFn, DeleteNowFn, TruncateNowFn, RowNowFn, AttachNowFn Name
	SearchPath                                                                            string
}

// Step is one of them.
type Step struct {
	StreamTable
	Event string // insert, update or delete
	Of    Source // with the columns that it reads
}

// Read lists the columns of row a that it reads, each with a comma behind it.
func (s Step) Read(a string) string {
	var out strings.Builder
	for _, name := range s.Of.ColumnList {
		out.WriteString(a + "." + sqltext.Ident(name) + ", ")
	}
	return out.String()
}

// Event is what a trigger function of a Capture is for.
type Event struct {
	Capture
	Event string
	Fn    Name
}

// indentedEnd is Indented without the comma behind the last line.
func indentedEnd(lines []string) string { return strings.TrimSuffix(Indented(lines), ",") }
