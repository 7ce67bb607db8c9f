package render

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Source is a table that stream tables read, and its change log.
type Source struct {
	Extension string
	Schemas
	Table          Name     // the user's, or a stream table's
	ColumnList     []string // that some stream table reads
	TypeList       []string // of those, as far as they are known
	VariedList     []bool   // of which of those equal values may differ
	ComparableList []bool   // which of those have an equality that is known
	Whole          bool     // rows of it are values: those columns are all that it has
	Log            Name
	XidIndex       Name
	MarkIndex      Name
	ChangeNo       Name   // the sequence that numbers what is logged
	Readers        []Name // stream tables that read it
	Triggers

	CaptureFn  Name   // called by its triggers
	UnreadFn   Name   // reads what is new in Log
	CountFn    Name   // counts it
	State      Name   // the table with a row for each stream table
	CommitMark string // what stands for it where a transaction lists what it wrote; empty if no stream table in mode at_commit reads it
	Bounded    bool   // it is read by the frontier in variables of the function
	Refreshed  bool   // a stream table reads its log by UnreadFn
	Followed   bool   // changes are applied; otherwise its readers are recomputed after any, so a row for each statement is enough
	Watched    bool   // a reader is recomputed after any change, whichever columns it reads
	Made       bool   // a stream table: its refresh writes the log, no trigger does
}

// Triggers are the names of a source's triggers; OnRoute is one of partitioned tables.
type Triggers struct{ OnInsert, OnUpdate, OnDelete, OnTruncate, OnRow, OnRoute string }

// Names lists them.
func (t Triggers) Names() []string {
	return []string{t.OnInsert, t.OnUpdate, t.OnDelete, t.OnTruncate, t.OnRow, t.OnRoute}
}

// Columns lists the columns of the log that come from the table, each with a comma before it, of row a.
func (s Source) Columns(a string) string { return commaBefore(a, s.ColumnList) }

// Names are Columns without a row.
func (s Source) Names() string { return commaBefore("", s.ColumnList) }

// Unread reads the rows of the log that stream table __self has not applied; few: a variable or null, see UnreadFn.
func (s Source) Unread(few string, atMost int) string {
	if s.Bounded {
		return fmt.Sprintf(bounded, s.Log)
	}
	return fmt.Sprintf("%s(null::%s, __self, %s, %d)", s.UnreadFn, s.Log, few, atMost)
}

// bounded reads a log by the frontier in variables of the function: whoever calls it holds the lock under which that changes. Conditions that are always
// true make a generic plan expect few rows.
const bounded = `(
            select c.*
            from %s c
            where c.__xid >= apply.__from and case when c.__xid = apply.__own then c.__no > apply.__own_no else not pg_visible_in_snapshot(c.__xid, apply.__seen) end
              and (apply.__few is null or (c.__mult is null)::integer = 0) and (apply.__few is null or (c.__no is null)::integer = 0)
        )`

// ID is the source's name as the catalog has it.
func (s Source) ID() string { return s.Table.Plain() }

// Fits lists the columns as the log stores them, each with a comma before it, of row r of the table beside row absent.
func (s Source) Fits() string {
	items := []string{""}
	for _, name := range s.ColumnList {
		column := sqltext.Ident(name)
		items = append(items, fmt.Sprintf("%s.pgt_fit(r.%s, absent.%s, 1)", s.Internal(), column, column))
	}
	return wrappedAt(items, widestLine, "            ")
}

// Checked is the condition that the columns have the types for which the table of pending changes was made; empty if there are no columns.
func (s Source) Checked() string {
	if len(s.ColumnList) == 0 {
		return ""
	}
	return s.checked("")
}

// checked is the condition with more arguments.
func (s Source) checked(more string) string {
	if s.Whole {
		more += ", p_whole => true"
	}
	return fmt.Sprintf("%s.checked_types(%s, %s%s)", s.Internal(), s.Table.Regclass(), texts(s.ColumnList), more)
}

// CheckedLog is Checked for its change log.
func (s Source) CheckedLog() string {
	if len(s.ColumnList) == 0 {
		return ""
	}
	return s.checked(", " + s.Log.Regclass())
}

// LogNames are Names in lines that are not too long.
func (s Source) LogNames() string {
	items := []string{""}
	for _, name := range s.ColumnList {
		items = append(items, sqltext.Ident(name))
	}
	return wrapped(items)
}

// LogColumns are Fits of row t of the table itself. A log's columns have no lengths: a longer one may come.
func (s Source) LogColumns() string { return lengthless(s.InternalName, "t", s.ColumnList) }

// lengthless lists columns of row a without the lengths of their types, each with a comma before it.
func lengthless(schema, a string, names []string) string {
	var out strings.Builder
	for _, name := range names {
		column := sqltext.Ident(name)
		fmt.Fprintf(&out, ", %s.pgt_fit(%s.%s, %s.%s, 1) as %s", sqltext.Ident(schema), a, column, a, column, column)
	}
	return out.String()
}

// Grouped lists the columns of equal rows a that are added up, each with a comma behind it.
func (s Source) Grouped(a string) string {
	var out strings.Builder
	for i, name := range s.ColumnList {
		column, _ := sqltext.Grouped(a, name, s.TypeList[i], s.ComparableList[i], s.VariedList[i])
		if column != a+"."+sqltext.Ident(name) {
			column += " as " + sqltext.Ident(name)
		}
		out.WriteString(column + ", ")
	}
	return out.String()
}

// Each lists the columns of row a, each with a comma behind it.
func (s Source) Each(a string) string {
	var out strings.Builder
	for _, name := range s.ColumnList {
		out.WriteString(a + "." + sqltext.Ident(name) + ", ")
	}
	return out.String()
}

// GroupedBy lists what equal rows a are added up by.
func (s Source) GroupedBy(a string) string {
	var keys []string
	for i, name := range s.ColumnList {
		_, key := sqltext.Grouped(a, name, s.TypeList[i], s.ComparableList[i], s.VariedList[i])
		keys = append(keys, key)
	}
	return strings.Join(keys, ", ")
}

// Read is a relation that stream tables read.
type Read struct {
	Schemas
	Table   Name
	Kind    string   // table, view or other
	Made    bool     // a stream table
	Part    bool     // below another table
	Columns []string // that any of them reads; none: not known
	Whole   bool     // any of them has rows of it as values, or is recomputed after any change: each column counts
	Log     *Source  // nil if no refresh follows its changes
	Pending *Capture // nil if no stream table in immediate mode follows it
	Readers []Name
	Needs   []Need // of each reader
}

// Need is what a stream table takes for granted of a relation that it reads.
type Need struct {
	Read
	Reader   Name
	Columns  []string // that must be there; none: any
	NotNull  []string // those of them that hold no null
	UniqueOn []string // those that no two rows share, by which rows are found
	Alike    []string // those of which equal values are the same
	Types    []string // of Columns, where the generated SQL is for these only, else empty
	Whole    bool     // it has rows as values, so that Columns are all
}

// ID is the relation's name as the catalog has it.
func (r Read) ID() string { return r.Table.Plain() }

// plain are names as the catalog has them.
func plain(names []Name) []string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = name.Plain()
	}
	return texts
}

// IndexNames are the names of the indexes of its change log.
func (s Source) IndexNames() []string { return []string{s.XidIndex.Name, s.MarkIndex.Name} }

// MadeTriggers are the triggers that write its change log; none where refreshes do.
func (s Source) MadeTriggers() []string {
	if s.Made {
		return nil
	}
	return s.Triggers.Names()
}

// CaptureName is the name of the function that its triggers call; empty if it has none.
func (s Source) CaptureName() string {
	if s.Made {
		return ""
	}
	return s.CaptureFn.Name
}

func commaBefore(a string, names []string) string {
	var out strings.Builder
	for _, name := range names {
		out.WriteString(", ")
		if a != "" {
			out.WriteString(a + ".")
		}
		out.WriteString(sqltext.Ident(name))
	}
	return out.String()
}

// PruneTask names the row of pgt_tasks for pruning change logs.
const PruneTask = "change logs: pruning"

// PruneTask is for templates.
func (e Extension) PruneTask() string { return PruneTask }

// HistoryTask names the row of pgt_tasks for the retention of the refresh history.
const HistoryTask = "refresh history: retention"

// HistoryTask is for templates.
func (e Extension) HistoryTask() string { return HistoryTask }
