package render

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Capture is a table that stream tables in immediate mode read.
type Capture struct {
	Source         // Log is what is pending of it
	Steps   []Step // stream tables that follow each statement by themselves
	Locked  []StreamTable
	Alone   []Step // those of them that read the table, where only one statement is open
	Chained bool   // some of them read others
	State   Name   // the table with a row for each stream table
	ApplyFn Name   // of the maintenance group
	Counts  string // what the name of the setting ends in where the maintenance group counts open statements

	Absent                                                           Name // a view whose columns say that they are gone
	PresentFn                                                        Name // reads the table
	Reread                                                           bool // it is read by PresentFn
	OnBefore, OnEnd                                                  string
	BeforeFn, InsertFn, UpdateFn, DeleteFn, TruncateFn, RowFn, EndFn Name

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

// MadeTriggers are the triggers that write what is pending, in the order in which pgt_attach_source knows them; none where refreshes do.
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
	functions := []Name{c.InsertFn, c.UpdateFn, c.DeleteFn, c.TruncateFn, c.RowFn, c.RowFn, {}, {}}
	if c.Part {
		functions[0], functions[1], functions[2], functions[7] = Name{}, Name{}, Name{}, c.EndFn
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

// SinceLocked is what a transaction must see of the stream tables that it locks.
func (c Capture) SinceLocked() Since {
	return Since{Schemas: c.Schemas, Tables: c.Locked, Over: c.Table.String(), Older: "another transaction did while this one waited, or before"}
}

// Followers names the stream tables that read the table, as a literal.
func (c Capture) Followers() string {
	var names []string
	for _, r := range c.Readers {
		names = append(names, r.Plain())
	}
	return sqltext.Literal(strings.Join(names, ", "))
}
