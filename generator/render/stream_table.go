package render

import (
	"cmp"
	"strings"
)

// StreamTable is what templates know of one stream table, in small models that say each one thing of it.
type StreamTable struct {
	Extension string
	Schemas
	Path  string // in the spec
	First string // of those that are refreshed from one snapshot with it, in the order of their refreshes

	StreamTableNames
	Definition
	Storage
	Refresh
	Timing
	Paths
	States        []StreamTable // groups within its query that are stored beside its rows
	As            string        // of a state: what the names of its common table expressions begin with
	ImmediateMode               // in immediate mode
	Outbox        *Outbox       // that it has or can be given; nil if the extension has none
	Publishes     bool          // for a statement that writes its changes to Outbox
	Grants        []string      // roles that may read it
}

// StreamTableNames are those of a stream table and of what is made for it.
type StreamTableNames struct {
	Table       Name   // what users see: a view over Rows
	Base        string // what names of objects that are made for it begin with
	Rows        Name   // where the rows are stored
	Old         Name   // where those of an older definition are, which users see until Rows is filled
	Shape       Name   // an empty table whose rows Rows has as values, where only the server knows the query's columns; otherwise empty
	State       Name   // the table with a row for each stream table
	History     Name
	ChangeNo    Name
	KeyIndex    Name
	LookupIndex Name
	HashIndex   Name
	ApplyFn     Name
	RecomputeFn Name
	ComputedFn  Name // what RecomputeFn reads instead of the query; may be empty
}

// Definition is a stream table's query, and where names in it are looked up.
type Definition struct {
	Query      string   // as the user wrote it
	Resolved   string   // the same with the schemas of its tables, if all other names are PostgreSQL's own; else empty
	Computes   string   // the same, as what needs no other names has it
	Compared   string   // what its rows are compared with; empty for the query
	SearchPath string   // as SQL, for SET
	OwnPath    string   // the path under which Run means the same, as SQL
	Reads      []string // sources, for people
}

// Run is the query as SQL under OwnPath.
func (d Definition) Run() string { return cmp.Or(d.Resolved, d.Query) }

// Storage says how a stream table's rows are stored.
type Storage struct {
	Visible   []string // columns
	Columns   []Column // the same, as far as they are known
	Stored    []string // those of Rows that a query fills
	Identity  []string // those of them by which a row is found
	Varied    []string // those of Identity of which equal values may differ
	NotNull   []string // those of Identity that hold no nulls
	Grouped   bool     // Rows holds accumulators of groups
	AddsUp    bool     // those of the rows of one log, as they are in it
	ShownAs   func(alias string) (list, conds []string)
	LimitBy   func(alias string) string // ORDER BY, LIMIT and OFFSET of what users see; empty: they see all rows
	HashOf    func(alias string) string // the hash of its identity
	Same      func(a, b string) string  // the condition that two rows have one identity
	Repeats   bool                      // Rows has __mult
	Hashed    bool                      // Rows has __hash
	Paired    bool                      // Rebuild has differ
	UniqueKey string                    // what a unique index on the identity holds; empty if there can be none
	Lookup    []string                  // columns of the identity that another index is on
	Indexes   []Index
	Unchecked bool // its view does not check that it is filled, as those of older versions
}

// Refresh says how a stream table is refreshed.
type Refresh struct {
	RefreshMode, EffectiveMode, Reason, Strategy string

	Delta         []string // lines of common table expressions, the last of which is delta; none if everything is recomputed
	Rebuild       []string // the same, for what the query has less what is stored, or differ in its place
	RebuildSigned []string // the same, always with delta
	RowsSQL       string   // query for hidden columns, if there are any
	Changes       []Changes
	Logs          []Source // of Changes
	Online        bool     // it is recreated beside the old one
	Most          string   // more changed rows than this share of a source make a recompute cheaper; may be empty
	AtCommit      bool     // each transaction maintains it when it commits
	Fuse          string   // more changed rows than this are refused; may be empty
	Moves         bool     // rows come and go as time passes
}

// Timing says when a stream table is refreshed and checked.
type Timing struct {
	Schedule          string   // as the spec has it
	Calculated        string   // what a calculated schedule comes to
	DueEvery          string   // interval constant; empty where only cron expressions say when it is due
	DueFunctions      []string // return when a cron expression was due last
	LastDue           *LastDue // of its own cron expression
	Seldom            bool     // a refresh after filling it would be a waste
	Check, CheckEvery string   // how often it is compared with its query, as the spec has it and as SQL; empty for never
}

// Paths say what a stream table reads through others, and what others read through it.
type Paths struct {
	Upstream             []string // stream tables that it reads, directly or not, in the order of their refreshes
	Feeds                []Source // where others read its changes: in Log
	Diamond              bool     // its refresh group reads something through several paths
	PathLogs, PathTables []string // then: the change logs of the group, and what it reads besides
	PathForeign          string   // one of the latter whose changes no transaction of this database shows
}

// FewChanges of each log at most are few. The 22 queries of TPC-H follow 1000 changed rows faster with the plan that a session keeps than with one of their
// own, which takes up to 20 ms to make.
func (t StreamTable) FewChanges() int { return 1000 }

// FewAtMost is how many of them a statement reads that is planned for few: more than FewChanges, as others may commit between the look and the statement.
func (t StreamTable) FewAtMost() int { return 2 * t.FewChanges() }

// Recomputed are the lines of common table expressions for what the query has less what is stored.
func (t StreamTable) Recomputed() []string {
	if t.NeedsSigned() {
		return t.RebuildSigned
	}
	return t.Rebuild
}

// NeedsSigned reports whether something reads how rows change: an outbox or another stream table, or what applies them.
func (t StreamTable) NeedsSigned() bool { return t.Publishes || len(t.Feeds) > 0 || !t.Paired }

// Publishing is the stream table in the templates of statements that also publish the changes to its outbox.
func (t StreamTable) Publishing() StreamTable {
	t.Publishes = true
	return t
}

// Settled reports whether a delta never contains a delete and an insert of the same visible row, because stored rows are what users see.
func (t StreamTable) Settled() bool { return !t.Grouped && len(t.Hidden()) == 0 }

// Changes is what is new in a source's log, as a common table expression.
type Changes struct {
	Source
	CTE   string
	Few   string   // a variable of the statement that is null where it has many rows
	Where []string // under which conditions it is read
}

// Index is one that the spec asks for.
type Index struct {
	Name    Name
	Columns []string // expressions, as SQL
	Names   []string // what those show
}

// Column is a column of a stream table. Its type is empty where only the server knows it.
type Column struct {
	Name, Type string
	NotNull    bool
}

// Key is the index's columns.
func (i Index) Key() string { return strings.Join(i.Columns, ", ") }

// ID is the stream table's name as the catalog has it.
func (t StreamTable) ID() string { return t.Table.Plain() }

func list(a string, names []string) string {
	return strings.TrimPrefix(commaBefore(a, names), ", ")
}

// Indented puts lines of a statement inside a function. A line may hold a literal of several lines, which stays as it is.
func Indented(lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString("    " + line + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}
