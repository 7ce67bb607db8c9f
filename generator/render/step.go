package render

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Step is how a stream table follows a statement on a captured table.
type Step struct {
	StreamTable
	Event   string   // insert, update or delete
	No      int      // of the statement among those of the trigger function
	Trigger Name     // that function
	Alone   bool     // the statement is the only one open, and everybody else waits
	Of      Source   // with the columns that it reads
	Checked []Source // the tables that the stream table reads, with these
	Few     bool     // its statements have conditions by which the planner expects few rows
	Rereads bool     // they read whole groups or partitions for a row that changes

	ByEvent map[string][]string // lines of common table expressions for what a statement changed; see package ivm
	Merged  bool                // groups that they add to are found by their unique index
	Moved   bool                // so are rows that they say come and go
	Put     bool                // so are rows that they say come, and those that go by the table's key
	Effects map[string]Effect   // of each event on the rows, or on those of the groups
}

// Most is how many rows a statement has that is followed with a plan that the session keeps. Where much is read for each row, planning anew costs little
// beside it.
func (s Step) Most() int {
	if s.Rereads {
		return 200
	}
	return 1000
}

// Effect is what a change can do to rows.
type Effect struct{ Adds, Takes bool }

// Events are the step for each event.
func (s Step) Events() []Step {
	var all []Step
	for n, event := range []string{"insert", "update", "delete"} {
		e := s
		e.Event, e.No = event, 3*s.No+n+1
		all = append(all, e)
	}
	return all
}

// Branch begins the branch of the step's event.
func (s Step) Branch() string {
	switch s.Event {
	case "insert":
		return "if tg_op = 'INSERT' then"
	case "update":
		return "elsif tg_op = 'UPDATE' then"
	}
	return "else"
}

// Followed is the step with its branches, as part of a function.
func (s Step) Followed() string { return piece("followed", s) }

// Statements are those of the step's branch.
func (s Step) Statements() string { return sqltext.Deeper(4, piece("event", s)) }

// Statement computes and applies what the step's event changes.
func (s Step) Statement() string { return sqltext.Deeper(4, piece("immediate_statement", s)) }

// Changed is the transition table with as many rows as the step's event changed.
func (s Step) Changed() string {
	if s.Event == "delete" {
		return "old_rows"
	}
	return "new_rows"
}

// Affected lists the key columns of row a of a transition table.
func (s Step) Affected(a string) string { return list(a, s.KeyColumns) }

// FirstKey is the first of them.
func (s Step) FirstKey(a string) string { return list(a, s.KeyColumns[:1]) }

// Identified lists them under the names that they have in the view.
func (s Step) Identified(a string) string {
	var items []string
	for i, name := range s.KeyColumns {
		item := a + "." + sqltext.Ident(name)
		if name != s.Identity[i] {
			item += " as " + sqltext.Ident(s.Identity[i])
		}
		items = append(items, item)
	}
	return strings.Join(items, ", ")
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
	case len(s.AffectedRows) > 0 || s.Put || (s.Moved || s.Merged) && !s.Takes():
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
