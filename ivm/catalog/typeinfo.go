package catalog

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// TypeInfo is what PostgreSQL's rules of type conversion ask of a type (chapter 10 of its manual).
type TypeInfo struct {
	Kind      TypeKind
	Category  Category
	Preferred bool   // within its category
	Elem      string // of an array, and of types that are subscripted like one
	Base      string // of a domain, perhaps another domain
	Sub       string // of a range its subtype, of a multirange its range
	Compared  Equality
	Differs   bool     // between versions, as "char" does
	Labels    []string // of an enum; nil if they are not known
	Columns   []Column // of a composite type; nil if they are not known
}

// TypeKind is what kind of type it is, as pg_type.typtype.
type TypeKind string

// The kinds of types. Arrays have base types of their own in PostgreSQL.
const (
	BaseKind       TypeKind = "b"
	ArrayKind      TypeKind = "array"
	CompositeKind  TypeKind = "c"
	DomainKind     TypeKind = "d"
	EnumKind       TypeKind = "e"
	MultirangeKind TypeKind = "m"
	PseudoKind     TypeKind = "p"
	RangeKind      TypeKind = "r"
)

// Category is pg_type.typcategory.
type Category string

// The categories that the rules name.
const (
	StringCategory  Category = "S"
	UnknownCategory Category = "X"
	PseudoCategory  Category = "P"
)

// typeInfo reads what builtin.sql says of a type.
func typeInfo(fields []string) TypeInfo {
	info := TypeInfo{
		Kind: TypeKind(fields[0]), Category: Category(fields[1]), Preferred: fields[2] == "preferred", Elem: fields[3], Sub: fields[4], Compared: NoEquality,
	}
	switch {
	case fields[5] == "btree,hash":
		info.Compared = HashedEquality
	case strings.Contains(fields[5], "btree"):
		info.Compared = OrderedEquality
	case fields[5] == "hash": // such as xid: it can be grouped, and not be sorted
		info.Compared = UnsortedEquality
	case info.Kind == "r" || info.Kind == "m": // by the classes of anyrange and anymultirange
		info.Compared = HashedEquality
	}
	return info
}

// plainType is a type as it stands for itself: without lengths and NULL, one spelling for each.
func plainType(typ string) string {
	typ = sqltext.Unsized(typ)
	switch {
	case typ == "bpchar":
		return "character"
	case typ == "bpchar[]":
		return "character[]"
	case strings.HasPrefix(typ, "interval "):
		if strings.HasSuffix(typ, "[]") {
			return "interval[]"
		}
		return "interval"
	}
	return typ
}

// PlainType is a type, spelled as Column.Type is, without what it says of lengths, as TypeInfo and Signature spell it. A type that only the server knows,
// or that versions differ in, is "".
func (c *Catalog) PlainType(typ string) string {
	typ = plainType(typ)
	if info, known := c.TypeInfo(typ); !known || info.Differs {
		return ""
	}
	return typ
}

// ShownType is a type as PostgreSQL's messages show it: without its schema where a search path, nil is the catalog's, leads to it.
func (c *Catalog) ShownType(path []string, typ string) string {
	t, err := sqltext.ParseType(typ)
	if err != nil || t.Schema == "" {
		return typ
	}
	short := t
	short.Schema = ""
	if c.TypeIn(path, short) == typ {
		return short.SQL()
	}
	return typ
}

// elementOf is the type of the elements of an array; "" if it is none.
func elementOf(typ string) string {
	element, is := strings.CutSuffix(typ, "[]")
	switch {
	case is:
		return strings.TrimRight(element, "[]")
	case typ == "anyarray":
		return "anyelement"
	case typ == "anycompatiblearray":
		return "anycompatible"
	case typ == `"any"`:
		return typ
	}
	return ""
}

// TypeInfo describes a type that PostgreSQL has or DDL makes.
func (c *Catalog) TypeInfo(typ string) (info TypeInfo, known bool) {
	if strings.HasSuffix(typ, "[]") {
		element := elementOf(typ)
		info, known = c.TypeInfo(element)
		return TypeInfo{Kind: ArrayKind, Category: "A", Elem: element, Compared: info.Compared}, known
	}
	if info, known = builtin().kinds[typ]; known {
		if c.sorted[typ] {
			info.Compared = max(info.Compared, OrderedEquality)
		}
		return info, true
	}
	t, err := sqltext.ParseType(typ)
	if err != nil || t.Schema == "" {
		return TypeInfo{}, false
	}
	key := name{t.Schema, t.Name}
	if made := c.types[key]; made != nil {
		return c.infoOfMade(made)
	}
	if r := c.relations[key]; r != nil {
		info = TypeInfo{Kind: CompositeKind, Category: "C", Compared: UnknownEquality}
		if !r.isView() {
			info.Columns = r.Columns
		}
		return info, true
	}
	return TypeInfo{}, false
}

func (c *Catalog) infoOfMade(t *Type) (TypeInfo, bool) {
	info := TypeInfo{Compared: t.Equality}
	switch t.Kind {
	case ddl.EnumType:
		info.Kind, info.Category, info.Labels = EnumKind, "E", t.Labels
	case ddl.CompositeType:
		info.Kind, info.Category, info.Columns = CompositeKind, "C", t.Columns
	case ddl.DomainType:
		below, known := c.TypeInfo(plainType(t.Base))
		info.Kind, info.Category, info.Base = DomainKind, below.Category, plainType(t.Base)
		return info, known
	default:
		return TypeInfo{}, false // a range, or one in C
	}
	return info, true
}

// MultirangeOf is the multirange of a range; "" if it is not known.
func (c *Catalog) MultirangeOf(typ string) string {
	for multirange, info := range builtin().kinds {
		if info.Kind == MultirangeKind && info.Sub == typ {
			return multirange
		}
	}
	return ""
}

// BaseType is the type below a domain, and a type that is none itself.
func (c *Catalog) BaseType(typ string) string {
	for {
		info, _ := c.TypeInfo(typ)
		if info.Kind != DomainKind {
			return typ
		}
		typ = info.Base
	}
}

// Unsorted reports whether a type is known to have no default operator class for b-tree indexes. Rows and arrays have one, whatever is in them.
func (c *Catalog) Unsorted(typ string) bool {
	info, known := c.TypeInfo(c.BaseType(c.PlainType(typ)))
	return known && info.Kind == BaseKind && info.Compared <= UnsortedEquality
}

// Open says that there are functions, operators and types besides those that DDL makes.
func (c *Catalog) Open() { c.opaque = true }

// Extended reports whether extensions or blocks of code may make functions, operators and types that are not known here.
func (c *Catalog) Extended() bool {
	if c.opaque {
		return true
	}
	for extension := range c.extensions {
		if extension != "plpgsql" {
			return true
		}
	}
	return false
}

// HasType reports whether a name along a search path, nil is the catalog's, is that of a type which PostgreSQL has or DDL makes.
func (c *Catalog) HasType(path []string, t sqltext.Type) bool {
	if path == nil {
		path = c.path
	}
	if t.Schema == "" && builtin().types[t.Name] {
		return true
	}
	return lookup(c.multiranges, path, t.Schema, t.Name) || lookup(c.types, path, t.Schema, t.Name) != nil || c.RelationIn(path, t.Schema, t.Name) != nil
}

// TypeNames returns the names of all types, as scripts write them, for diag.Nearest.
func (c *Catalog) TypeNames() []string {
	names := []string{"int", "integer", "bigint", "smallint", "decimal", "boolean", "varchar", "real"}
	for typ, info := range builtin().kinds {
		if info.Kind != PseudoKind && sqltext.Ident(typ) == typ {
			names = append(names, typ)
		}
	}
	for key := range c.types {
		names = append(names, key.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
