package ivm

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Names of stored columns that stand for more than one of the query's. No column of a user's begins like them.
const (
	// Mult counts how often a row is in the view.
	Mult = emit.Mult
	// Hash is of the identity, where no index on it finds rows.
	Hash = "__hash"
)

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

// Hashed tells that rows are found by Hash: an index finds no nulls by =, and may not hold wide rows.
func (s Storage) Hashed() bool {
	return s.Repeats || slices.ContainsFunc(s.Identity, func(k Key) bool { return k.Nullable && k.sentinel() == "" })
}

// Paired tells that equality of columns finds the one stored row of a row of the query.
func (s Storage) Paired() bool { return len(s.Identity) > 0 && !s.Hashed() }

// identifies tells that a column is part of the identity.
func (s Storage) identifies(column string) bool {
	return slices.ContainsFunc(s.Identity, func(k Key) bool { return k.Name == column })
}

// sentinels are values of types, as SQL.
var sentinels = map[string]string{
	"smallint": "0", "integer": "0", "bigint": "0", "numeric": "0", "text": "''", "character varying": "''", "boolean": "false",
	"date": "date '1970-01-01'", "uuid": "uuid '00000000-0000-0000-0000-000000000000'",
	"timestamp without time zone": "timestamp '1970-01-01 00:00:00'", "timestamp with time zone": "timestamptz '1970-01-01 00:00:00+00'",
}

// sentinel is a value of the key's type that stands for null in an index, beside whether it is null; empty where the type is not known.
// Before PostgreSQL 15 no unique index takes nulls for equal.
func (k Key) sentinel() string {
	typ, _, _ := strings.Cut(k.Type, "(")
	return sentinels[typ]
}

// Index lists what a unique index on the identity holds.
func (s Storage) Index() string {
	var items []string
	for _, k := range s.Identity {
		name := sqltext.Ident(k.Name)
		if k.Nullable {
			items = append(items, "coalesce("+name+", "+k.sentinel()+")", "("+name+" is null)")
		} else {
			items = append(items, name)
		}
	}
	return strings.Join(items, ", ")
}

// Same is the condition that rows a and b, both with Hash where there is one, have the same identity.
func (s Storage) Same(a, b string) string {
	if !s.Hashed() {
		return s.PlainSame(a, b)
	}
	return a + "." + Hash + " = " + b + "." + Hash + " and " + s.PlainSame(a, b)
}

// PlainSame is Same without Hash.
func (s Storage) PlainSame(a, b string) string {
	var conds []string
	for _, k := range s.Identity {
		if k.Nullable && !s.Hashed() {
			l, r := a+"."+sqltext.Ident(k.Name), b+"."+sqltext.Ident(k.Name)
			conds = append(conds, "coalesce("+l+", "+k.sentinel()+") = coalesce("+r+", "+k.sentinel()+") and ("+l+" is null) = ("+r+" is null)")
			continue
		}
		op := " = "
		if s.Hashed() {
			op = " is not distinct from "
		}
		l, r := a+"."+sqltext.Ident(k.Name), b+"."+sqltext.Ident(k.Name)
		compared := k.Equality.Comparable()
		if compared {
			conds = append(conds, l+op+r)
		}
		if s.Repeats && (k.Varied || !compared) {
			conds = append(conds, sqltext.Image(l)+op+sqltext.Image(r))
		}
	}
	if len(conds) == 0 {
		return "true"
	}
	return strings.Join(conds, " and ")
}

// HashOf is the expression for Hash over the identity of row a. It keeps to each type's own equality.
func (s Storage) HashOf(a string) string {
	var columns []string
	for _, k := range s.Identity {
		column := sqltext.Ident(k.Name)
		if a != "" {
			column = a + "." + column
		}
		switch {
		case k.Equality == catalog.HashedEquality, k.Equality == catalog.UnknownEquality && !s.Repeats:
			columns = append(columns, column)
		case s.Repeats, catalog.EqualityOf(k.Type) == catalog.OrderedEquality: // rows that repeat are compared by their images, too; PostgreSQL's own: equal values have equal texts
			columns = append(columns, column+"::text")
		}
	}
	return "hash_record_extended(row(" + strings.Join(columns, ", ") + "), 0)"
}

// Storage says how the view's rows are stored.
func (v *View) Storage() Storage { return v.storage() }

func (v *View) stored() Storage {
	if v.Whole() {
		return wholeStorage()
	}
	s := v.layout()
	known := map[string]algebra.Info{}
	for _, o := range v.Output {
		if o.ID != 0 {
			known[o.Name] = v.Columns.Info(o.ID)
		}
	}
	for i, k := range s.Identity {
		info := known[k.Name]
		if k.id != 0 {
			of := v.Columns.Info(k.id)
			info.Type, info.Equality = of.Type, of.Equality
			known[k.Name] = info
		}
		if s.Repeats && info.Equality == catalog.UnknownEquality { // it may be one that cannot be hashed: money, say
			info.Varied = true
			known[k.Name] = info
		}
		s.Identity[i].Type, s.Identity[i].Varied, s.Identity[i].Equality = info.Type, info.Varied, info.Equality
	}
	if g := v.grouped(); g != nil && v.Strategy() == MergeGroups {
		known[Members] = typed("bigint")
		for _, a := range g.accs {
			known[a.name] = typed("numeric") // or another one of numbers
			if a.extreme() {
				known[a.name] = typed(v.exprType(a.arg))
			}
		}
	}
	for _, name := range s.Stored {
		info := known[name]
		s.Types, s.Varied, s.Comparable = append(s.Types, info.Type), append(s.Varied, info.Varied), append(s.Comparable, info.Equality.Comparable())
	}
	return s
}

// typed is a column of one of PostgreSQL's own types.
func typed(typ string) algebra.Info {
	return algebra.Info{Type: typ, Equality: catalog.EqualityOf(typ)}
}

// exprType is the type of an expression over columns of the view.
func (v *View) exprType(e algebra.Scalar) string {
	return e.Expr.Type(sqltext.Types{Column: func(id int) string { return v.typeOf(algebra.ColID(id)) }})
}

func (v *View) typeOf(id algebra.ColID) string {
	if id == 0 {
		return ""
	}
	return v.Columns.Info(id).Type
}

func (v *View) layout() Storage {
	s := Storage{Visible: v.names()}
	switch v.Strategy() {
	case MergeGroups:
		g := v.grouped()
		s.Stored, s.Identity = g.columns(), g.keys
		return s
	case RescanKeys:
		s.Identity = v.Keys()
		s.Stored = slices.Concat(s.Visible, hidden(s.Identity, s.Visible))
		return s
	case MergeRows:
		s.Identity = v.rowKey()
	}
	s.Stored = s.Visible
	if s.Identity == nil {
		s.Repeats = true
		for i, name := range s.Visible {
			s.Identity = append(s.Identity, Key{Name: name, Nullable: v.Root == nil || !v.props.Of(v.Root).NotNull(v.Output[i].ID)})
		}
	}
	return s
}

// Shown are the view's columns as expressions over stored row alias, and the conditions under which a stored row is in the view.
func (v *View) Shown(alias string) (list, conds []string) {
	if v.Strategy() == MergeGroups {
		return v.grouped().shown(v, alias)
	}
	return prefixed(alias, v.names()), nil
}
