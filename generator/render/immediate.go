package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// ImmediateMode holds what only templates of stream tables in immediate mode need.
type ImmediateMode struct {
	Immediate       bool
	FollowsSettings bool   // what it shows may depend on settings of the session
	Bags            bool   // see package ivm
	Direct          bool   // each statement is applied by itself; otherwise pending changes are applied when the last open statement ends
	LockKey         string // of the advisory lock under which the latter is done
	Last            Name   // the sequence with the last transaction that had the lock
	MaintainFn      Name
	PendingFn       Name      // of the maintenance group; empty if it has none
	Pending         []Changes // unapplied changes, by source
	PendingDelta    []string  // lines of common table expressions over Pending
	AffectedRows    []string  // the same, which recompute the rows of affected keys; none if Direct does not need that

	Regained   []string // see package ivm
	Accumulate func(row, added string) []string
	KeyColumns []string // of the table: what rows are found by
	Extremes   []string
	Emptied    string // the condition that nothing is left of group m
	LostIf     string // the condition that group m may have lost one by change d
	ChangedIf  string // the condition that delta d changes its group; empty if each does
	PlainSame  func(a, b string) string
	RegainFn   Name // recomputes the extremes of groups; empty if it has none
}

// LockHigh is the upper half of the lock's key, as pg_locks has it.
func (n ImmediateMode) LockHigh() uint32 { return uint32(n.lock() >> 32) }

// LockLow is the lower half.
func (n ImmediateMode) LockLow() uint32 { return uint32(n.lock()) }

func (n ImmediateMode) lock() uint64 {
	key, err := strconv.ParseInt(n.LockKey, 10, 64)
	if err != nil {
		panic(err)
	}
	return uint64(key)
}

// LockOrder lists the sources in the order in which they are locked, stream tables last.
func (n ImmediateMode) LockOrder() []Name {
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

// Accumulated lists the assignments that add a row to a group.
func (n ImmediateMode) Accumulated(row, added string) string {
	return wrappedAt(n.Accumulate(row, added), widestLine, "                ")
}

// Regains lists the assignments that set the extremes of a group to those of row f.
func (n ImmediateMode) Regains(f string) string {
	var sets []string
	for _, name := range n.Extremes {
		sets = append(sets, name+" = "+f+"."+name)
	}
	return strings.Join(sets, ", ")
}

// Since describes the changes that a transaction must see of the stream tables that each statement maintains by itself.
func (c Capture) Since() Since {
	s := Since{Schemas: c.Schemas, Over: c.Table.String(), Older: "filled them"}
	for _, step := range c.Steps {
		s.Tables = append(s.Tables, step.StreamTable)
		if !step.Grouped {
			s.Computed = append(s.Computed, step)
		}
	}
	return s
}

// Since is a set of stream tables over a table, and the changes to them that a snapshot may not show.
type Since struct {
	Schemas
	Tables      []StreamTable
	Computed    []Step // those whose rows a statement recomputes
	Over, Older string
}

// Marks reports whether its triggers note in Log that those of users wrote the table.
func (c Capture) Marks() bool { return !c.Made && c.Loses() }

// Loses reports whether a step may lose an extreme.
func (c Capture) Loses() bool {
	return slices.ContainsFunc(c.Steps, func(s Step) bool { return len(s.Extremes) > 0 })
}

// FollowsSettings reports whether results depend on settings of the session.
func (c Capture) FollowsSettings() bool {
	return slices.ContainsFunc(slices.Concat(c.Steps, c.Alone), func(s Step) bool { return s.FollowsSettings })
}

// Bags reports whether the planner takes a statement for one that is worth compiling, for which it is not.
func (c Capture) Bags() bool {
	return slices.ContainsFunc(slices.Concat(c.Steps, c.Alone), func(s Step) bool { return s.Bags })
}

// FindsRows reports whether statements find rows of other tables for those that change: by their index, which the planner takes for dearer than it is.
func (c Capture) FindsRows() bool {
	return slices.ContainsFunc(slices.Concat(c.Steps, c.Alone), func(s Step) bool { return s.Few && s.Alone && !s.Rereads })
}

// CountSetting is the name of the setting with the count of open statements, as SQL.
func (c Capture) CountSetting() string {
	return fmt.Sprintf("%s.pgt_setting_name(%s)", c.Internal(), sqltext.Literal(c.Counts))
}

// OpenStatements is that count, as SQL: twice how many are open, and one more while changes of earlier ones are kept.
func (c Capture) OpenStatements() string {
	return fmt.Sprintf("coalesce(nullif(current_setting(%s, true), ''), '0')::integer", c.CountSetting())
}

// Variables are those of the function that follows statements, with their types.
func (c Capture) Variables() []string {
	var list []string
	gone := slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Grouped && len(s.Identity) > 0 })
	finds := ""
	for _, s := range c.Alone {
		for _, e := range s.Events() {
			finds += e.Finds()
		}
	}
	for _, v := range []struct {
		wanted bool
		text   string
	}{
		{gone || strings.Contains(finds, "v_gone"), "v_gone    tid[]"}, {c.Loses() || strings.Contains(finds, "v_lost"), "v_lost    tid[]"},
		{c.Loses(), "v_inner   boolean"}, {len(c.Locked) > 0, "v_open    integer"},
		{strings.Contains(finds, "v_unfound"), "v_unfound bigint"},
	} {
		if v.wanted {
			list = append(list, v.text)
		}
	}
	return list
}

// indentedEnd is Indented without the comma behind the last line.
func indentedEnd(lines []string) string { return strings.TrimSuffix(Indented(lines), ",") }
