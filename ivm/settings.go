package ivm

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// What a text or a moment is taken for hangs on settings of the session: TimeZone, DateStyle, extra_float_digits and the like. Each writer has
// its own, so what writers keep up to date is computed with those of the role that installed it, unless nothing in it depends on them.

// unset are types whose values look and are read the same whatever the settings.
var unset = []string{"smallint", "int2", "integer", "int4", "bigint", "int8", "numeric", "boolean", "bool", "uuid", "text", "character varying", "varchar", "character", "bpchar", "jsonb"}

// unsetCalls are functions that make of such values others.
var unsetCalls = []string{
	"count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every", "abs", "ceil", "floor", "round", "trunc", "mod", "length", "lower", "upper", "left", "right",
	"substr", "substring", "replace", "btrim", "ltrim", "rtrim", "strpos", "split_part", "md5", "reverse", "string_agg", "greatest", "least",
	"generate_series", "unnest", "string_to_table", "regexp_split_to_table", "jsonb_array_elements", "jsonb_array_elements_text", "jsonb_each", "jsonb_each_text",
}

// followsSettings reports whether the view may hang on settings of the session.
func (v *view) followsSettings() bool {
	if v.Root == nil {
		return true
	}
	follows := false
	algebra.Walk(v.Root, func(n algebra.Node) {
		if s, ok := n.(*algebra.Source); ok {
			for _, c := range s.Cols {
				typ, _, _ := strings.Cut(s.Table.Columns[c.Attr].Type, "(")
				follows = follows || !slices.Contains(unset, typ)
			}
		}
		for _, e := range algebra.Exprs(n) {
			follows = follows || slices.ContainsFunc(e.Expr.Uses(), hangsOnSettings)
		}
	})
	return follows
}

func hangsOnSettings(u sqltext.Use) bool {
	if u.Schema != "" && u.Schema != "pg_catalog" {
		return true
	}
	switch u.Kind {
	case sqltext.UsesFunction, sqltext.UsesSyntax:
		return !slices.Contains(unsetCalls, u.Name)
	case sqltext.UsesType:
		return !slices.Contains(unset, u.Name)
	}
	return false
}
