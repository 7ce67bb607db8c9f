package catalog

import (
	"cmp"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// OwnFunction reports whether PostgreSQL has functions of this name, and no DDL makes one where names without a schema are looked up.
func (c *Catalog) OwnFunction(function string) bool {
	return builtin().functions[function].Known && len(overloads(c.functions, c.path, "", function)) == 0
}

// OwnOperator is OwnFunction for operators.
func (c *Catalog) OwnOperator(operator string) bool {
	return len(builtin().operators[operator]) > 0 && len(overloads(c.operators, c.path, "", operator)) == 0
}

// OwnType is OwnFunction for types.
func (c *Catalog) OwnType(typ string) bool {
	return builtin().types[typ] && lookup(c.types, c.path, "", typ) == nil
}

// IsFixed reports whether what a query uses of functions, operators and types is PostgreSQL's own and depends on nothing but its arguments.
func (c *Catalog) IsFixed(use sqltext.Use) bool {
	switch {
	case use.Kind == sqltext.UsesSyntax:
		return builtinOutside(use) == ""
	case use.Schema != "" && use.Schema != "pg_catalog":
		return false
	case use.Kind == sqltext.UsesFunction:
		return c.OwnFunction(use.Name) && builtin().functions[use.Name].Most != sqltext.Volatile && builtinOutside(use) == ""
	case use.Kind == sqltext.UsesOperator:
		return c.OwnOperator(cmp.Or(use.Name, "=")) // CASE x WHEN and IN name none
	case use.Kind == sqltext.UsesType:
		return c.OwnType(use.Name) && !strings.HasPrefix(use.Name, "reg")
	}
	return false
}
