// Package algebra is what queries are compiled to: a tree of operators over
// columns that are known by number.
//
// Rows carry an implicit signed multiplicity (a Z-set, after Budiu et al.,
// DBSP, VLDB 2023): a relation has positive ones, a delta has both. Nodes are
// immutable. Names play no part until SQL is written, so no alias can clash.
package algebra

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// ColID names a column within one compilation.
type ColID int

// Info is what is known of a column besides its number.
type Info struct {
	Name     string // as the user wrote it, for people to read; never an identity
	Type     string // as SQL; empty where only the server knows
	Varied   bool   // values that are equal may differ, as 1.0 and 1.00 do, and the difference counts
	Any      bool   // any of equal values that differ stands for them, as min shows one: the difference does not count
	Equality catalog.Equality
}

// Ordered reports whether the values can be sorted, and are the same where none is before the other.
func (i Info) Ordered() bool {
	return !i.Varied && i.Type != "" && i.Equality.Sorted()
}

// Sorted reports whether the values can be sorted, as far as it is known: a type without a name here is taken for one of PostgreSQL's own.
func (i Info) Sorted() bool { return i.Type == "" || i.Equality.Sorted() }

// SortedKeys reports whether groups by the keys can be sorted, as aggregates with ORDER BY need.
func SortedKeys(columns *Columns, keys []Item) bool {
	return !slices.ContainsFunc(keys, func(k Item) bool { return !columns.Info(k.ID).Sorted() })
}

// Hashed reports whether a hash finds the values, and those that are equal are the same.
func (i Info) Hashed() bool { return !i.Varied && i.Equality == catalog.HashedEquality }

// Columns are the columns of one compilation. Numbers are never used again.
type Columns struct {
	infos []Info
	typed func(sqltext.Expr) string // types of expressions; nil if they are not known
	base  func(typ string) string   // what a domain is over, and other types themselves
}

// New adds a column.
func (c *Columns) New(info Info) ColID {
	c.infos = append(c.infos, info)
	return ColID(len(c.infos))
}

// Info describes what is known of a column.
func (c *Columns) Info(id ColID) Info { return c.infos[id-1] }

// Scalar is an expression over bound columns. What it does, only PostgreSQL
// knows.
type Scalar struct{ Expr sqltext.Expr }

// Ref is the scalar that is just a column.
func Ref(id ColID) Scalar { return Scalar{sqltext.Column(int(id))} }

// Columns lists the columns that the expression reads, each once.
func (s Scalar) Columns() []ColID {
	var ids []ColID
	for _, id := range s.Expr.Columns() {
		ids = append(ids, ColID(id))
	}
	return ids
}

// Column reports whether the expression is just a column.
func (s Scalar) Column() (ColID, bool) {
	id, ok := s.Expr.Column()
	return ColID(id), ok
}

// MadeOf reports whether the expression reads columns, and none but these.
func (s Scalar) MadeOf(columns []ColID) bool {
	ids := s.Columns()
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id ColID) bool { return !slices.Contains(columns, id) })
}

// Item is a computed column.
type Item struct {
	ID   ColID
	Expr Scalar
}

// Same are columns as they are.
func Same(cols []ColID) []Item {
	items := make([]Item, len(cols))
	for i, id := range cols {
		items[i] = Item{ID: id, Expr: Ref(id)}
	}
	return items
}

// TypeOf is the type of an expression over columns, as SQL; empty where only the server knows.
func (c *Columns) TypeOf(e Scalar) string {
	if id, ok := e.Column(); ok {
		return c.typeOfColumn(int(id))
	}
	if c.typed == nil || e.Expr.IsZero() {
		return ""
	}
	return c.typed(e.Expr)
}

// IsNull is the condition that there is no value. A row of nulls is one.
func (c *Columns) IsNull(e Scalar) Scalar {
	if sqltext.IsBuiltin(c.TypeOf(e)) {
		return Scalar{sqltext.IsNull(e.Expr)}
	}
	return Scalar{sqltext.IsNullItself(e.Expr)}
}

// InfoOf is what is known of an expression as a column called key.
func (c *Columns) InfoOf(e Scalar) Info {
	if id, ok := e.Column(); ok {
		return c.Info(id)
	}
	typ := c.TypeOf(e)
	return Info{Name: "key", Type: typ, Equality: catalog.EqualityOf(typ)}
}

// SetTypes says how the types of expressions are found, and what a domain is over.
func (c *Columns) SetTypes(typed func(sqltext.Expr) string, base func(string) string) {
	c.typed, c.base = typed, base
}

// Null is a null of a column's type, which is known. That of a domain is one of the type below it, as the domain may refuse it.
func (c *Columns) Null(id ColID) Scalar { return Scalar{sqltext.Null(c.base(c.Info(id).Type))} }

// ScaleOf is the scale of the values of an expression over columns.
func (c *Columns) ScaleOf(e Scalar) sqltext.Scale {
	return e.Expr.Scale(sqltext.Scales{Column: c.typeOfColumn, Fixed: func(id int) bool { return !c.Info(ColID(id)).Varied }})
}

func (c *Columns) typeOfColumn(id int) string {
	if id == 0 {
		return ""
	}
	return c.Info(ColID(id)).Type
}
