package catalog

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// Equality is how values of a type can be compared.
type Equality int

// The ways to compare values, the worst first: what has parts is compared as the worst of them.
const (
	// NoEquality is that of a type without an operator class: only images of values can be compared.
	NoEquality Equality = iota - 3
	// UnsortedEquality comes from a default hash operator class alone. Values can be grouped and joined, but not sorted or held by a btree index.
	UnsortedEquality
	// OrderedEquality comes from a default btree operator class. Values can be grouped and joined; hash_record_extended may refuse them.
	OrderedEquality
	// UnknownEquality is one that only the server knows: there may be a default operator class of either kind.
	UnknownEquality
	// HashedEquality comes from default operator classes of btree and hash, the latter with an extended hash function.
	HashedEquality
)

// hashed and ordered are PostgreSQL's own types by their equality. Arrays have that of their elements.
var (
	hashed = []string{
		"smallint", "integer", "bigint", "numeric", "real", "double precision", "oid", "boolean", "uuid", "bytea", "text", "character varying", "character",
		"name", "\"char\"", "date", "time without time zone", "time with time zone", "timestamp without time zone", "timestamp with time zone", "interval",
		"jsonb", "inet", "cidr", "macaddr", "macaddr8", "pg_lsn", "int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange",
		"int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange", "tstzmultirange",
	}
	ordered = []string{"bit", "bit varying", "money", "tsvector", "tsquery"}
)

// EqualityOf describes how values of a type of PostgreSQL's own, spelled as format_type does, can be compared. Of other types nothing is known here.
func EqualityOf(typ string) Equality {
	typ = strings.TrimRight(sqltext.Unsized(typ), "[]")
	switch {
	case slices.Contains(hashed, typ):
		return HashedEquality
	case slices.Contains(ordered, typ):
		return OrderedEquality
	case !sqltext.IsComparable(typ):
		return NoEquality
	case builtin().kinds[typ].Compared == UnsortedEquality:
		return UnsortedEquality
	}
	return UnknownEquality
}

// Equality is EqualityOf for types that DDL makes, too.
func (c *Catalog) Equality(typ string) Equality {
	plain := strings.TrimRight(typ, "[]")
	for key, made := range c.types {
		if sqltext.Qualified(key.schema, key.name) == plain {
			return made.Equality
		}
	}
	for key, r := range c.relations { // of which a row is
		if sqltext.Qualified(key.schema, key.name) == plain {
			return equalityOfRow(r.Columns)
		}
	}
	return EqualityOf(typ)
}

// equalityOfRow is that of rows of columns.
func equalityOfRow(columns []Column) Equality {
	worst := HashedEquality
	for _, c := range columns {
		worst = min(worst, c.Equality)
	}
	return worst
}

// Sorted reports whether values are known to have a default btree operator class.
func (e Equality) Sorted() bool { return e == OrderedEquality || e == HashedEquality }

// Comparable reports whether values can be grouped.
func (e Equality) Comparable() bool { return e != NoEquality }

// equality is that of a column's type, which DDL may have made.
func (s *script) equality(column Column) Equality {
	if made := s.types[name{column.typ.Schema, column.typ.Name}]; made != nil {
		return made.Equality
	}
	if r := s.relations[name{column.typ.Schema, column.typ.Name}]; r != nil && !r.isView() {
		return equalityOfRow(r.Columns)
	}
	return EqualityOf(column.Type)
}

// setEquality says how values of a type can be compared that DDL makes. A base type has no operator class until DDL makes one.
func (t *Type) setEquality(base Column) {
	switch t.Kind {
	case ddl.BaseType:
		t.Equality = NoEquality
	case ddl.RangeType: // its operator classes are those of anyrange; a hash asks for that of the subtype
		t.Equality = OrderedEquality
	case ddl.EnumType:
		t.Equality = HashedEquality
	case ddl.DomainType:
		t.Equality = base.Equality
	case ddl.CompositeType:
		t.Equality = equalityOfRow(t.Columns)
	}
}

// classes are the default operator classes of a type.
type classes struct{ btree, hash, extended bool }

// equality follows from the classes. A hash class without an extended hash function finds groups, and hash_record_extended refuses its type.
func (c classes) equality() Equality {
	switch {
	case c.btree && c.extended:
		return HashedEquality
	case c.btree:
		return OrderedEquality
	case c.hash:
		return UnsortedEquality
	}
	return NoEquality
}

// createOperatorClass notes how values of a type can be compared from now on.
func (s *script) createOperatorClass(d *ddl.CreateOperatorClass) {
	typ := s.resolve(d.Type)
	t := s.types[name{typ.Schema, typ.Name}]
	switch {
	case !d.Default:
	case t == nil:
		if d.Method == "btree" {
			s.sorted[s.TypeIn(s.path, d.Type)] = true
		}
	default:
		t.classes.btree = t.classes.btree || d.Method == "btree"
		t.classes.hash = t.classes.hash || d.Method == "hash"
		t.classes.extended = t.classes.extended || d.Method == "hash" && d.Extended
		t.Equality = t.classes.equality()
	}
}
