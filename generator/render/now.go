package render

import (
	"fmt"
	"slices"
	"strconv"
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
	ApplyFn    Name      // of the family; empty if it has none
	Pending    []Changes // what is pending, by source
	NowDelta   []string  // lines of common table expressions over Pending
	Anew       []string  // the same, where rows that changes touch are computed as they are now; none if Direct does not do so

	Regained   []string // see package ivm
	Accumulate func(row, added string) []string
	KeyColumns []string // of the table: what rows are found by
	Extremes   []string
	Emptied    string // the condition that nothing is left of group m
	LostIf     string // the condition that group m may have lost one by change d
	ChangedIf  string // the condition that delta d changes its group; empty if each does
	PlainSame  func(a, b string) string
	RegainFn   Name // computes the extremes of groups anew; empty if it has none
}

// LockHigh is the upper half of the lock's key, as pg_locks has it.
func (n Now) LockHigh() uint32 { return uint32(n.lock() >> 32) }

// LockLow is the lower half.
func (n Now) LockLow() uint32 { return uint32(n.lock()) }

func (n Now) lock() uint64 {
	key, err := strconv.ParseInt(n.LockKey, 10, 64)
	if err != nil {
		panic(err)
	}
	return uint64(key)
}

// LockOrder are the relations of Pending, stream tables last.
func (n Now) LockOrder() []Name {
	var tables, made []Name
	for _, p := range n.Pending {
		if p.Made {
			made = append(made, p.Table)
		} else {
			tables = append(tables, p.Table)
		}
	}
	return append(tables, made...)
}

// Accumulated sets group row to what it is with row added.
func (n Now) Accumulated(row, added string) string {
	return wrappedAt(n.Accumulate(row, added), widestLine, "                ")
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
	Source         // Log is what is pending of it
	Steps   []Step // stream tables that follow each statement by themselves
	Locked  []StreamTable
	Alone   []Step // those of them that read the table, where only one statement is open
	Chained bool   // some of them read others
	State   Name   // the table with a row for each stream table
	ApplyFn Name   // of the family
	Counts  string // what the name of the setting ends in where the family counts open statements

	Absent                                                                             Name // a view whose columns say that they are gone
	PresentFn                                                                          Name // reads the table
	Reread                                                                             bool // it is read by PresentFn
	OnBefore, OnEnd                                                                    string
	BeforeFn, InsertNowFn, UpdateNowFn, DeleteNowFn, TruncateNowFn, RowNowFn, EndNowFn Name

	// Part: statement triggers do not see all of its rows, as it is a partition or inherits. A statement that names a table above it fires its row triggers only, and the statement triggers
	// of the table that is named.
	Part       bool
	SearchPath string
}

// TriggerNames are those of all triggers that it makes.
func (c Capture) TriggerNames() []string {
	names := append(c.Triggers.Names(), c.OnBefore)
	if c.Part {
		names = append(names, c.OnEnd)
	}
	return names
}

// MadeTriggers are the triggers that write what is pending, in the order in which pgt_attach_triggers knows them; none where refreshes do.
func (c Capture) MadeTriggers() []string {
	if c.Made {
		return nil
	}
	return append(c.Triggers.Names(), c.OnBefore, c.OnEnd)
}

// FunctionList is an array of the functions that these call, with null for a trigger that the source does not have.
func (c Capture) FunctionList() string {
	if c.Made {
		return "'{}'"
	}
	functions := []Name{c.InsertNowFn, c.UpdateNowFn, c.DeleteNowFn, c.TruncateNowFn, c.RowNowFn, c.RowNowFn, {}, {}}
	if c.Part {
		functions[0], functions[1], functions[2], functions[7] = Name{}, Name{}, Name{}, c.EndNowFn
	}
	if len(c.Locked) > 0 {
		functions[6] = c.BeforeFn
	}
	items := make([]string, len(functions))
	for i, function := range functions {
		items[i] = literalOrNull(function.Name)
	}
	return "array[" + wrapped(items) + "]"
}

// AbsentName is the view that stands for columns that are missing; empty where the source is a stream table.
func (c Capture) AbsentName() string {
	if c.Made {
		return ""
	}
	return c.Absent.String()
}

// Present is the FROM clause for rows a of a transition table; what the table has no longer is found in Absent.
func (c Capture) Present(rows, a string) string { return present(c.Source, c.Absent, rows, a) }

// Current is the FROM clause for the rows of the table itself, always with Absent beside them.
func (c Capture) Current(a string) string {
	if len(c.ColumnList) == 0 {
		return c.Absent.String() + " absent\n    cross join " + c.Table.String() + " " + a
	}
	return c.Present(c.Table.String(), a)
}

// Since is what a transaction must see of the stream tables that follow each statement by themselves.
func (e Event) Since() Since {
	s := Since{Schemas: e.Schemas, Over: e.Table.String(), Older: "filled them"}
	for _, step := range e.Steps {
		s.Tables = append(s.Tables, step.StreamTable)
		if !step.Grouped {
			s.Computed = append(s.Computed, step)
		}
	}
	return s
}

// SinceLocked is what a transaction must see of the stream tables that it locks.
func (c Capture) SinceLocked() Since {
	return Since{Schemas: c.Schemas, Tables: c.Locked, Over: c.Table.String(), Older: "another transaction did while this one waited, or before"}
}

// Since is about stream tables over a table, and what was done to them that a snapshot may not show.
type Since struct {
	Schemas
	Tables      []StreamTable
	Computed    []Step // those whose rows a statement computes as they are now
	Over, Older string
}

// Followers names the stream tables that read the table, as a literal.
func (c Capture) Followers() string {
	var names []string
	for _, r := range c.Readers {
		names = append(names, r.Plain())
	}
	return sqltext.Literal(strings.Join(names, ", "))
}

// Present is the same for the columns that the step reads.
func (s Step) Present(rows, a string) string { return present(s.Of, s.Absent, rows, a) }

// Touched lists what rows are found by, of row a of a transition table.
func (s Step) Touched(a string) string { return list(a, s.KeyColumns) }

func present(of Source, absent Name, rows, a string) string {
	if len(of.ColumnList) == 0 {
		return "(select from " + rows + ") " + a
	}
	var columns []string
	for _, name := range of.ColumnList {
		column := sqltext.Ident(name)
		columns = append(columns, fmt.Sprintf("%s.pgt_as(%s, (__kept).%s, %s) as %s", of.Internal(), column, column, sqltext.Literal(name+" of "+of.Table.String()), column))
	}
	const indent = "            "
	columns[0] = "cross join lateral (select " + columns[0]
	columns[len(columns)-1] += " from " + rows + ") " + a
	return absent.String() + " absent\n" + indent + wrappedAt(columns, widestLine, indent+"    ")
}

// Step is one of them.
type Step struct {
	StreamTable
	Event   string // insert, update or delete
	No      int    // among the steps of the event's trigger function
	Trigger Name   // that function
	Of      Source // with the columns that it reads
	Absent  Name

	ByEvent map[string][]string // lines of common table expressions for what a statement changed; see package ivm
	Merged  bool                // groups that they add to are found by their unique index
	Moved   bool                // so are rows that they say come and go
	Effects map[string]Effect   // of each event on the rows, or on those of the groups
}

// Lines are those for the step's event.
func (s Step) Lines() []string { return s.ByEvent[s.Event] }

// Takes reports whether the step's event may take rows away.
func (s Step) Takes() bool { return s.Effects[s.Event].Takes }

// Adds reports whether it may add some.
func (s Step) Adds() bool { return s.Effects[s.Event].Adds }

// Finds lists the variables for what the step's statement has found.
func (s Step) Finds() string {
	switch {
	case len(s.Anew) > 0 || (s.Moved || s.Merged) && !s.Takes():
		return ""
	case s.Merged && s.Loses() != "":
		return "v_gone, v_lost, v_unfound"
	case s.Merged || s.Moved && s.Adds():
		return "v_gone, v_unfound"
	}
	return "v_unfound"
}

// Unless is the condition that delta d changes its group; empty if each does.
func (s Step) Unless() string {
	if s.Event == "update" {
		return s.ChangedIf
	}
	return ""
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

// Loses reports whether a step may lose an extreme.
func (e Event) Loses() bool {
	for _, s := range e.Steps {
		if s.Loses() != "" {
			return true
		}
	}
	return false
}

// FollowsSettings reports whether what it computes may hang on settings of the session.
func (e Event) FollowsSettings() bool {
	return slices.ContainsFunc(slices.Concat(e.Steps, e.Alone), func(s Step) bool { return s.FollowsSettings })
}

// Variables are those of the function, with their types.
func (e Event) Variables() []string {
	var list []string
	gone, lost := false, false
	for _, s := range e.Steps {
		gone, lost = gone || s.Grouped && len(s.Identity) > 0, lost || s.Loses() != ""
	}
	finds := ""
	if !e.Chained {
		for _, s := range e.Alone {
			finds += s.Finds()
		}
	}
	for _, v := range []struct {
		wanted bool
		text   string
	}{
		{gone || strings.Contains(finds, "v_gone"), "v_gone    tid[]"}, {lost || strings.Contains(finds, "v_lost"), "v_lost    tid[]"}, {lost, "v_inner   boolean"}, {len(e.Locked) > 0, "v_setting text"},
		{len(e.Locked) > 0, "v_open    integer"}, {len(e.Locked) > 0, "v_count   text"},
		{strings.Contains(finds, "v_unfound"), "v_unfound bigint"},
	} {
		if v.wanted {
			list = append(list, v.text)
		}
	}
	return list
}

// Loses is the condition that group m, to which change d was added, may have lost its least or greatest value; empty if it has neither.
// Where triggers write the table that they are on, inner statements come first, and what was inserted may be gone already.
func (s Step) Loses() string {
	switch {
	case len(s.Extremes) == 0:
		return ""
	case s.Merged && !s.Takes():
		return ""
	case s.Merged: // nobody else is at work
		return s.LostIf
	case !s.Takes():
		return "v_inner"
	}
	return "v_inner or " + s.LostIf
}

// indentedEnd is Indented without the comma behind the last line.
func indentedEnd(lines []string) string { return strings.TrimSuffix(Indented(lines), ",") }

// Effect is what a change can do to rows.
type Effect struct{ Adds, Takes bool }
