package render

import (
	"fmt"
	"strings"
)

// Capture is a table that stream tables in immediate mode read.
type Capture struct {
	Source           // Log is what is pending of it
	Steps     []Step // stream tables that follow each statement by themselves
	Locked    []StreamTable
	Alone     []Step        // those of them that read the table, where only one statement is open
	Stated    []StreamTable // the same, of those that have states and follow what is pending
	State     Name          // the table with a row for each stream table
	PendingFn Name          // of the maintenance group
	Counts    string        // what the name of the setting ends in where the maintenance group counts open statements
	Turn      Name          // of the maintenance group
	TurnNo    int           // the number of the maintenance group, where transactions may have to take turns; 0 where they never do
	Place     int           // among the captured tables, from 1

	OnBefore, OnEnd                     string
	BeforeFn, StatementFn, RowFn, EndFn Name

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

// FunctionList is an array of the functions that these call, in the order in which pgt_attach_source knows them, with null for one that the source does not
// have.
func (c Capture) FunctionList() string {
	if c.Made {
		return "'{}'"
	}
	functions := []Name{c.StatementFn, c.RowFn, {}, {}}
	if c.Part {
		functions[0], functions[3] = Name{}, c.EndFn
	}
	if len(c.Locked) > 0 {
		functions[2] = c.BeforeFn
	}
	items := make([]string, len(functions))
	for i, function := range functions {
		items[i] = literalOrNull(function.Name)
	}
	return "array[" + strings.Join(items, ", ") + "]"
}

// PlannedAgain is a condition, always true, by which the plan of a row trigger is one that reads the table, which an ALTER TABLE invalidates.
func (c Capture) PlannedAgain() string {
	return "not exists (select from only " + c.Table.String() + " where false)"
}

// Mark is how a transaction notes that it wrote the table.
func (c Capture) Mark() string { return fmt.Sprintf(",%d.%d,", c.TurnNo, c.Place) }

// SinceLocked is what a transaction must see of the stream tables that it locks.
func (c Capture) SinceLocked() Since {
	return Since{Schemas: c.Schemas, Tables: c.Locked, Over: c.Table.String(), Older: "another transaction did while this one waited, or before"}
}
