package render

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// StreamTable is what templates know of one stream table.
type StreamTable struct {
	Extension string
	Schemas
	Path     string // in the spec
	Order    int    // of refreshes
	Group    int    // of those that are refreshed from one snapshot
	Table    Name   // what users see: a view over Rows
	Rows     Name   // where the rows are stored
	Old      Name   // where those of an older definition are, which users see until Rows is filled
	Shape    Name   // an empty table whose rows Rows has as values, where only the server knows the query's columns; otherwise empty
	Online   bool   // that is how it is made anew
	OnWrite  string // the trigger on Table that refuses what is written to it; empty for a definition without it
	State    Name   // the table with a row for each stream table
	History  Name
	ChangeNo Name

	RefreshMode, EffectiveMode, Reason, Strategy string
	Query                                        string   // as the user wrote it
	Check, CheckEvery                            string   // how often it is compared with its query, as the spec has it and as SQL; empty for never
	SearchPath                                   string   // as SQL, for SET
	OwnPath                                      string   // the same for what needs no names but the query's functions, operators and types
	Computes                                     string   // the query, as what needs no other names has it
	Schedule                                     string   // as the spec has it
	Calculated                                   string   // what a calculated schedule comes to
	DueEvery                                     string   // interval constant; empty where only cron expressions say when it is due
	DueFunctions                                 []string // return when a cron expression was due last
	LastDue                                      *LastDue // of its own cron expression
	Seldom                                       bool     // a refresh after filling it would be a waste

	Visible         []string // columns
	Columns         []Column // the same, as far as they are known
	Stored          []string // those of Rows that a query fills
	Identity        []string // those of them by which a row is found
	Varied          []string // those of Identity of which equal values may differ
	NotNull         []string // those of Identity that hold no nulls
	FollowsSettings bool     // what it shows may hang on settings of the session
	Grouped         bool     // Rows holds accumulators of groups
	AddsUp          bool     // those of the rows of one log, as they are in it
	ShownAs         func(alias string) (list, conds []string)
	HashOf          func(alias string) string // the hash of its identity
	Same            func(a, b string) string  // the condition that two rows have one identity
	Repeats         bool                      // Rows has __mult
	Hashed          bool                      // Rows has __hash
	Paired          bool                      // Rebuild has differ
	UniqueKey       string                    // what a unique index on the identity holds; empty if there can be none
	Lookup          bool                      // an index on the columns of the identity themselves serves too
	KeyIndex        Name
	LookupIndex     Name
	HashIndex       Name
	Indexes         []Index

	Delta         []string // lines of common table expressions, the last of which is delta; none if everything is recomputed
	Rebuild       []string // the same, for what the query has less what is stored, or differ in its place
	RebuildSigned []string // the same, always with delta
	RowsSQL       string   // query for hidden columns, if there are any
	Changes       []Changes
	Logs          []Source // of Changes
	ByKey         []ByKey  // tables by whose keys rows are found
	Feeds         []Source // where others read its changes: in Log
	Joins         bool     // it reads several relations, or one more than once
	Outbox        *Outbox  // that it has or can be given; nil if the extension has none
	Publishes     bool     // for a statement that writes its changes to Outbox
	ImmediateMode          // in immediate mode

	Upstream []string // stream tables that it reads, directly or not, in the order of their refreshes
	Reads    []string // sources, for people

	MergeFn, RebuildFn Name
	ComputedFn         Name // what RebuildFn reads instead of the query; may be empty

	Grants               []string // roles that may read it
	Diamond              bool     // its refresh group reads something through several paths
	PathLogs, PathTables []string // then: the change logs of the group, and what it reads besides
	PathForeign          string   // one of the latter whose changes no transaction of this database shows
	Most                 string   // more changed rows than this share of a source make a recompute cheaper; may be empty
	Fuse                 string   // more changed rows than this are refused; may be empty
}

// FewChanges of each log at most are few. FewAtMost is how many of them a statement reads that is planned for few: more than FewChanges, as others
// may commit between the look and the statement.
func (t StreamTable) FewChanges() int {
	if t.Joins {
		return 200 // 300 changed rows took 1.5 times as long to join as with a plan of their own
	}
	return 500
}

// FewAtMost is more than FewChanges.
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

// RowShown is a row with the columns that users see, over row a of Rows.
func (t StreamTable) RowShown(a string) string {
	exprs, _ := t.ShownAs(a)
	return "row(" + strings.Join(exprs, ", ") + ")"
}

// Keyed reports whether users see the columns by which groups are found, so that no two visible rows are equal.
func (t StreamTable) Keyed() bool {
	return len(t.Identity) > 0 && !slices.ContainsFunc(t.Identity, func(name string) bool { return !slices.Contains(t.Visible, name) })
}

// Settled reports whether a delta never contains a delete and an insert of the same visible row, because stored rows are what users see.
func (t StreamTable) Settled() bool { return !t.Grouped && len(t.Hidden()) == 0 }

// Changes is what is new in a source's log, as a common table expression.
type Changes struct {
	Source
	CTE string
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

// Filled lists the columns of Rows of row a of delta.
func (t StreamTable) Filled(a string) string {
	names := append([]string{}, t.Stored...)
	if t.Repeats {
		names = append(names, "__mult")
	}
	if t.Hashed {
		names = append(names, "__hash")
	}
	return list(a, names)
}

// Hidden are the stored columns that users do not see as they are.
func (t StreamTable) Hidden() []string {
	var names []string
	if t.Shape.Name != "" { // they see what is in the one column
		return nil
	}
	for _, name := range t.Stored {
		if !slices.Contains(t.Visible, name) {
			names = append(names, name)
		}
	}
	return names
}

// Like is the relation that has the columns of Rows, or where those are one, of the query.
func (t StreamTable) Like() Name {
	if t.Shape.Name != "" {
		return t.Shape
	}
	return t.Rows
}

// Stores lists the tables that hold its rows, those last whose types the others have.
func (t StreamTable) Stores() []Name {
	stores := []Name{t.Rows, t.Old}
	if t.Shape.Name != "" {
		stores = append(stores, t.Shape)
	}
	return stores
}

// StoredOf lists what Rows stores of row a of the query, but for hidden columns.
func (t StreamTable) StoredOf(a string) string {
	if t.Shape.Name != "" {
		return "row(" + a + ".*)::" + t.Shape.String() + " as __row"
	}
	return t.Shown(a)
}

// Shown lists the columns that users see, over row a of Rows.
func (t StreamTable) Shown(a string) string {
	if t.Shape.Name != "" {
		return "(" + a + ".__row).*"
	}
	exprs, _ := t.ShownAs(a)
	var items []string
	for i, name := range t.Visible {
		item := exprs[i]
		if item != a+"."+sqltext.Ident(name) {
			item += " as " + sqltext.Ident(name)
		}
		items = append(items, item)
	}
	return strings.Join(items, ", ")
}

// ShownIf is the condition that row a of Rows is in the view; empty if all are.
func (t StreamTable) ShownIf(a string) string {
	_, conds := t.ShownAs(a)
	return strings.Join(conds, " and ")
}

// Shows is a column that users see, over row a of Rows.
func (t StreamTable) Shows(a, column string) string {
	if t.Shape.Name != "" {
		return "(" + sqltext.Ident(a) + ".__row)." + sqltext.Ident(column)
	}
	exprs, _ := t.ShownAs(a)
	for i, name := range t.Visible {
		if name == column {
			return exprs[i]
		}
	}
	return sqltext.Ident(column)
}

// FeedShown lists the columns that go into a log of the stream table, over row a of Rows, each with a comma before it.
func (t StreamTable) FeedShown(a string, feed Source) string {
	var out strings.Builder
	for _, name := range feed.ColumnList {
		out.WriteString(", " + t.Shows(a, name) + " as " + sqltext.Ident(name))
	}
	return out.String()
}

// Key lists the columns of the identity.
func (t StreamTable) Key(a string) string { return list(a, t.Identity) }

// Assigned sets the columns beside the identity, and those of it that may differ though they are equal, from row d; empty if there are none.
func (t StreamTable) Assigned() string { return t.AssignedFrom("d") }

// AssignedFrom sets those columns from a row.
func (t StreamTable) AssignedFrom(a string) string {
	var sets []string
	for _, name := range t.Stored {
		if !slices.Contains(t.Identity, name) || slices.Contains(t.Varied, name) {
			sets = append(sets, sqltext.Ident(name)+" = "+a+"."+sqltext.Ident(name))
		}
	}
	return strings.Join(sets, ", ")
}

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

// ByKey is a table by whose key rows are found.
type ByKey struct {
	Table   Name
	Columns []string
}

// KeyOf lists the key's columns of row a as SQL.
func (k ByKey) KeyOf(a string) string { return strings.TrimPrefix(commaBefore(a, k.Columns), ", ") }

// Names lists them as text.
func (k ByKey) Names() string { return strings.Join(k.Columns, ", ") }
