package ivm

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/resolve"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Whoever may create in a schema on the path of a function can put an operator there that fits better than PostgreSQL's own, and so run
// code as the function's owner: for every writer, where that is a trigger. A function needs no schema on its path but pg_catalog where all
// that the query computes is PostgreSQL's; tables are named with their schemas.

// own are the types of columns that PostgreSQL has itself, as format_type spells them.
var own = []string{
	"smallint", "integer", "bigint", "numeric", "real", "double precision", "money", "boolean", "text", "character varying", "character", "name", "\"char\"", "bytea",
	"date", "time without time zone", "time with time zone", "timestamp without time zone", "timestamp with time zone", "interval", "uuid", "json", "jsonb", "xml",
	"oid", "bit", "bit varying", "inet", "cidr", "macaddr", "macaddr8", "point", "line", "lseg", "box", "path", "polygon", "circle", "tsvector", "tsquery",
	"int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange",
	"int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange", "tstzmultirange",
}

// ownNames reports whether the view reads columns of PostgreSQL's types only, and computes with its functions, operators and types only, whatever
// the search path. DDL may have others of their names. So must be what the query only has written: PostgreSQL looks that up, too. A query that is
// recomputed has no tree: of its tables, all columns count.
func (v *view) ownNames(query string, known *catalog.Catalog) bool {
	written, err := sqltext.ReadsOf(query)
	if err != nil || v.LooksUp || slices.ContainsFunc(written.Uses, func(u sqltext.Use) bool { return !ownUse(u, known) }) {
		return false
	}
	if v.Root == nil {
		return !v.hidesCalls() && !slices.ContainsFunc(written.Uses, func(u sqltext.Use) bool { return looksUp(u, known) }) &&
			!slices.ContainsFunc(written.Tables, func(t *sqltext.TableRef) bool { return !ownColumns(known.Relation(t.Schema, t.Name)) })
	}
	all := true
	algebra.Walk(v.Root, func(n algebra.Node) {
		if s, ok := n.(*algebra.Source); ok {
			for _, c := range s.Cols {
				all = all && isOwn(s.Table.Columns[c.Attr].Type)
			}
		}
		for _, e := range algebra.Exprs(n) {
			for _, u := range e.Expr.Uses() {
				all = all && ownUse(u, known)
			}
		}
	})
	return all
}

// hidesCalls reports whether the query calls a function that is written like a column.
func (v *view) hidesCalls() bool {
	return slices.ContainsFunc(v.Full, func(r resolve.Reason) bool { return r.Calls })
}

// looksUp reports whether the value of a function or a cast may depend on the search path: it reads a text as the name of an object, or shows names.
func looksUp(u sqltext.Use, known *catalog.Catalog) bool {
	switch u.Kind {
	case sqltext.UsesType:
		return catalog.IsName(known.TypeIn(nil, sqltext.Type{Schema: u.Schema, Name: u.Name}))
	case sqltext.UsesFunction:
		if catalog.IsStateful(u.Name) {
			return true
		}
		for n := range u.Args {
			if typ, _ := known.NameArgument(nil, u.Schema, u.Name, n, u.Args); typ != "" {
				return true
			}
		}
	}
	return false
}

// ownColumns reports whether all columns of a relation are known, and of PostgreSQL's types. Those of a view follow from its query.
func ownColumns(r *catalog.Relation) bool {
	return r != nil && len(r.Columns) > 0 && !r.Open && !slices.ContainsFunc(r.Columns, func(c catalog.Column) bool { return !isOwn(c.Type) })
}

func isOwn(typ string) bool {
	base, rest, sized := strings.Cut(strings.TrimRight(typ, "[]"), "(")
	if _, zone, ok := strings.Cut(rest, ")"); sized && ok {
		base += strings.TrimRight(zone, "[]") // timestamp(3) with time zone
	}
	return slices.Contains(own, base)
}

func ownUse(u sqltext.Use, known *catalog.Catalog) bool {
	if u.Schema != "" || u.Kind == sqltext.UsesSyntax {
		return u.Schema == "" || u.Schema == "pg_catalog"
	}
	switch u.Kind {
	case sqltext.UsesFunction:
		return known.OwnFunction(u.Name)
	case sqltext.UsesOperator:
		return known.OwnOperator(u.Name)
	case sqltext.UsesType:
		return known.OwnType(u.Name)
	case sqltext.UsesCollation:
		return slices.Contains([]string{"default", "C", "POSIX", "ucs_basic"}, u.Name) // others may be missing in pg_catalog
	}
	return false
}
