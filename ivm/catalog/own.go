package catalog

import "slices"

// OwnFunction reports whether PostgreSQL has functions of this name, and no DDL makes one where names without a schema are looked up.
func (c *Catalog) OwnFunction(function string) bool {
	return builtin().functions[function].Known && len(overloads(c.functions, c.path, "", function)) == 0
}

// OwnOperator is OwnFunction for operators. Which PostgreSQL has is not known: those that no DDL makes are taken to be its own if their names are.
func (c *Catalog) OwnOperator(operator string) bool {
	return slices.Contains(ownOperators, operator) && len(overloads(c.operators, c.path, "", operator)) == 0
}

// OwnType is OwnFunction for types.
func (c *Catalog) OwnType(typ string) bool {
	return builtin().types[typ] && lookup(c.types, c.path, "", typ) == nil
}

// ownOperators are the names of PostgreSQL's operators that queries use. Others are used with types of extensions as a rule.
var ownOperators = []string{"=", "<>", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "^", "||", "~", "~*", "!~", "!~*", "~~", "~~*", "!~~", "!~~*",
	"&", "|", "#", "<<", ">>", "->", "->>", "#>", "#>>", "@>", "<@", "?", "?|", "?&", "&&", "-|-", "@", "|/", "@@"}
