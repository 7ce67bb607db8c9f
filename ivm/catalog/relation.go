package catalog

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// Kind says what a relation is.
type Kind int

// The kinds of relations. A partition is of the kind that it would be by itself.
const (
	Table Kind = iota
	Partitioned
	Foreign
	View
	MaterializedView
	StreamTable
)

// String returns the kind in words.
func (k Kind) String() string {
	return [...]string{"table", "partitioned table", "foreign table", "view", "materialized view", "stream table"}[k]
}

// Relation is a table or a view.
type Relation struct {
	Schema, Name string
	Kind         Kind
	At           diag.Pos // of its name in the DDL

	// Columns are those of a table. What columns a view has follows from its query.
	Columns []Column
	// Key is the primary key, as indexes into Columns; Uniques are the other unique constraints and the unique indexes, and Indexed the columns of
	// all indexes by which rows are found, those of keys too. A column of Uniques
	// may be null, and several rows may then be alike. Deferrable keys do not count, as rows may be alike within a transaction. Keys hold
	// for the rows of the table itself: if it has Children and is not partitioned, reading it with them may yield a key twice.
	Key     []int
	Uniques [][]int
	Indexed [][]int

	Parents     []*Relation // that it inherits from, or the one that it is a partition of
	Children    []*Relation
	Partition   bool // of its parent
	Unlogged    bool // a crash empties it, which no trigger sees
	RowSecurity bool // what is read depends on who reads
	Open        bool // it has columns besides, which only the server knows
	Distributed *Distribution
	Clock       bool      // it is Clock
	Recursive   bool      // it stands for the rows of a query that reads itself, as far as they were made
	Counted     bool      // rows are stored once, with how often they are there
	Before      *Relation // as it was in the refresh before, where that can be read: of the clock, and of what is stored beside the rows of a view

	Query      string   // of a view
	Comment    string   // on a view
	Aliases    []string // names that the list of a view gives to its first columns
	SearchPath []string // along which names in Query are looked up

	source  diag.Block // where Query stands
	queryAt int
	keys    []key
}

// Column is a column of a table.
type Column struct {
	Name string
	// Type is as format_type spells it. DDL can use it again.
	Type string
	// NotNull says that no row has a null. A domain that is not null does not suffice: a column of it may still hold nulls.
	NotNull   bool
	Collation string // of the column or its domain, qualified and quoted; empty for the default
	Varied    bool   // values that are equal may differ, as 1.0 and 1.00 do
	Equality  Equality
	Identity  bool
	Generated bool
	Virtual   bool // generated when it is read, and so unknown to triggers
	At        diag.Pos

	typ       sqltext.Type
	notNullAs string
	inherited bool // and not defined by the table itself
}

// key is a primary key, a unique constraint or an index. Columns are names, as their indexes change.
type key struct {
	name       string
	columns    []string
	primary    bool
	deferrable bool
	plain      bool   // an index that is not unique
	parent     string // the key of the parent that it was made for
}

// ReadsOthers reports whether reading the relation yields rows of other tables too, to which its keys do not extend.
func (r *Relation) ReadsOthers() bool { return r.Kind == Table && len(r.Children) > 0 }

// PartOfOthers reports whether rows of the relation are written through other tables, too: it is a partition, inherits, or has a table below it that
// inherits from another one as well. Triggers for statements do not see these.
func (r *Relation) PartOfOthers() bool {
	members := r.withInherited(false)
	return slices.ContainsFunc(members, func(m *Relation) bool {
		return slices.ContainsFunc(m.Parents, func(above *Relation) bool { return !slices.Contains(members, above) })
	})
}

// OneRow reports whether the relation has exactly one row, whatever tables hold.
func (r *Relation) OneRow() bool { return r.Key != nil && len(r.Key) == 0 }

// Column returns the index of a column, or -1.
func (r *Relation) Column(column string) int {
	return slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == column })
}

// ColumnNames returns the names of the columns, for diag.Nearest.
func (r *Relation) ColumnNames() []string {
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = c.Name
	}
	return names
}

// QueryPos returns the place of the byte at offset in a view's query.
func (r *Relation) QueryPos(offset int) diag.Pos { return r.source.Pos(r.queryAt + offset) }

// SQLName is the qualified name, quoted where needed.
func (r *Relation) SQLName() string {
	if r.Schema == "" { // a part of a statement
		return sqltext.Ident(r.Name)
	}
	return sqltext.Qualified(r.Schema, r.Name)
}

// withInherited returns the relation and all below it, each once.
func (r *Relation) withInherited(only bool) []*Relation {
	all := []*Relation{r}
	if only {
		return all
	}
	for i := 0; i < len(all); i++ {
		for _, child := range all[i].Children {
			if !slices.Contains(all, child) {
				all = append(all, child)
			}
		}
	}
	return all
}

// addKey adds a key whose columns exist.
func (r *Relation) addKey(k key) {
	r.keys = append(r.keys, k)
	for i := range r.Columns {
		if k.primary && slices.Contains(k.columns, r.Columns[i].Name) {
			r.Columns[i].NotNull = true
		}
	}
	r.publishKeys()
}

func (r *Relation) dropKeys(drop func(key) bool) {
	r.keys = slices.DeleteFunc(r.keys, drop)
	r.publishKeys()
}

func (r *Relation) hasKey(same func(key) bool) bool { return slices.ContainsFunc(r.keys, same) }

// publishKeys computes Key, Uniques and Indexed.
func (r *Relation) publishKeys() {
	r.Key, r.Uniques, r.Indexed = nil, nil, nil
	for _, k := range r.keys {
		columns := make([]int, len(k.columns))
		for i, column := range k.columns {
			columns[i] = r.Column(column)
		}
		r.Indexed = append(r.Indexed, columns)
		switch {
		case k.deferrable || k.plain:
		case k.primary:
			r.Key = columns
		default:
			r.Uniques = append(r.Uniques, columns)
		}
	}
}

// keyName is the name that PostgreSQL chooses for a key.
func (r *Relation) keyName(k ddl.TableKey, columns []string) string {
	suffix := "_idx"
	if k.Constraint {
		suffix = "_key"
	}
	chosen := r.Name + "_" + strings.Join(columns, "_") + suffix
	if k.Primary {
		chosen = r.Name + "_pkey"
	}
	return chosen
}

func (r *Relation) dropColumn(column string) {
	r.Columns = slices.DeleteFunc(r.Columns, func(c Column) bool { return c.Name == column })
	r.dropKeys(func(k key) bool { return slices.Contains(k.columns, column) })
}

func (r *Relation) renameColumn(column, to string) {
	r.Columns[r.Column(column)].Name = to
	for _, k := range r.keys {
		for i := range k.columns {
			if k.columns[i] == column {
				k.columns[i] = to
			}
		}
	}
}
