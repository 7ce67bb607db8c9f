// Package apply says how the delta of a view is brought into the table that stores it: by which rows are found, what is stored of groups, and
// the statements of each strategy, as values. Package emit writes them.
//
// Files call downwards: merge_groups, merge_rows, rescan_keys, recompute, statement, inputs, groups, storage.
package apply

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// Names of stored columns that stand for more than one of the query's. No column of a user's begins like them.
const (
	// Mult counts how often a row is in the view.
	Mult = "__mult"
	// Hash is of the identity, where no index on it finds rows.
	Hash = "__hash"
	// Members counts the rows of a stored group.
	Members = "__n"
)

// Key is a column by which stored rows are found.
type Key struct {
	Name     string        // of the column where rows are stored
	Column   algebra.ColID // of the group or the table that it identifies; 0 for a column of the output
	Type     string        // as far as it is known
	Nullable bool
	Varied   bool // values that are equal may differ
	Any      bool // any of those stands for them
	Equality catalog.Equality
}

// Names lists the names of keys.
func Names(keys []Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

// Storage says how a view's rows are stored.
type Storage struct {
	Visible    []string // the columns of the query
	Stored     []string // the columns that a query fills
	Types      []string // of those, as far as they are known
	Varied     []bool   // of which of those equal values may differ
	Comparable []bool   // which of those have an equality that is known
	Identity   []Key    // those of them by which a stored row is found
	Repeats    bool     // a row may be in the view several times, and is stored once with Mult
}

// Hashed reports whether rows are found by Hash: an index finds no nulls by =, may not hold wide rows, and takes only types with a btree operator class.
func (s Storage) Hashed() bool {
	return s.Repeats || slices.ContainsFunc(s.Identity, func(k Key) bool { return k.Nullable && k.Sentinel() == "" || !k.Sorted() })
}

// Sorted reports whether a btree index may hold the column. A type without a name here is taken for one of PostgreSQL's own.
func (k Key) Sorted() bool { return k.Type == "" || k.Equality.Sorted() }

// HashPart is what a column adds to Hash.
type HashPart int

// The parts of Hash. A column without one is only compared.
const (
	NoPart HashPart = iota
	ValuePart
	TextPart
)

// HashPart is what a column of the identity adds to Hash: its value where the type has an extended hash function, as all of PostgreSQL's own types with a
// hash operator class have; its text where rows that repeat are compared by their images, too, or where equal values of PostgreSQL's own have equal texts.
func (s Storage) HashPart(k Key) HashPart {
	own := catalog.EqualityOf(k.Type)
	switch {
	case k.Equality == catalog.HashedEquality, own == catalog.UnsortedEquality, k.Equality == catalog.UnknownEquality && k.Type == "" && !s.Repeats:
		return ValuePart
	case s.Repeats && !k.Any, own == catalog.OrderedEquality:
		return TextPart
	}
	return NoPart
}

// Searched reports whether a btree index on the column finds rows that Hash does not.
func (s Storage) Searched(k Key) bool {
	return s.Hashed() && s.HashPart(k) == NoPart && k.Equality.Sorted()
}

// Lookup lists the columns of another index on the identity, which finds rows by values that no other index finds: beside nulls, or not hashed.
func (s Storage) Lookup() []string {
	if s.Repeats || !slices.ContainsFunc(s.Identity, func(k Key) bool { return k.Nullable || s.Searched(k) }) {
		return nil
	}
	return Names(slices.DeleteFunc(slices.Clone(s.Identity), func(k Key) bool { return !k.Sorted() }))
}

// Paired reports whether equality of columns finds the one stored row of a row of the query.
func (s Storage) Paired() bool { return len(s.Identity) > 0 && !s.Hashed() }

// Identifies reports whether a column is part of the identity.
func (s Storage) Identifies(column string) bool {
	return slices.ContainsFunc(s.Identity, func(k Key) bool { return k.Name == column })
}

// sentinels are values of types, as SQL.
var sentinels = map[string]string{
	"smallint": "0", "integer": "0", "bigint": "0", "numeric": "0", "text": "''", "character varying": "''", "boolean": "false",
	"date": "date '1970-01-01'", "uuid": "uuid '00000000-0000-0000-0000-000000000000'",
	"timestamp without time zone": "timestamp '1970-01-01 00:00:00'", "timestamp with time zone": "timestamptz '1970-01-01 00:00:00+00'",
}

// Sentinel is a value of the key's type that stands for null in an index, beside whether it is null; empty where the type is not known.
// Before PostgreSQL 15 no unique index takes nulls for equal.
func (k Key) Sentinel() string {
	typ, _, _ := strings.Cut(k.Type, "(")
	return sentinels[typ]
}
