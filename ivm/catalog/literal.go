package catalog

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// A constant such as 'orders'::regclass is a name, which is looked up along the search path of the session that runs the query, not of its author's.

// IsName reports whether a type has names of objects for its values, which the search path decides on.
func IsName(typ string) bool { return slices.Contains(nameTypes, typ) }

var nameTypes = []string{"regclass", "regtype", "regproc", "regprocedure", "regoper", "regoperator", "regconfig", "regdictionary", "regcollation"}

// NameArgument is the type of an argument of a call, by its number from 0, if that is a name in functions that the call can mean; "" if it is not.
// Sure reports whether it is that name in all of them.
func (c *Catalog) NameArgument(path []string, schema, function string, arg, args int) (typ string, sure bool) {
	if path == nil {
		path = c.path
	}
	sure = true
	found := func(types []string) {
		switch {
		case arg >= len(types) || !IsName(types[arg]) || typ != "" && typ != types[arg]:
			sure = false
		default:
			typ = types[arg]
		}
	}
	for _, f := range overloads(c.functions, path, schema, function) {
		if f.takes(args) {
			found(f.Args)
		}
	}
	if typ == "" && sure && (schema == "" || schema == "pg_catalog") {
		for _, own := range builtin().signatures[function] {
			if args >= len(own.Args)-own.Defaults && (args <= len(own.Args) || own.Variadic != "") {
				found(own.Args)
			}
		}
	}
	return typ, sure
}

// Meant is the name with its schema of what a constant of such a type names along a path, or of the catalog's where it is nil. It is not known where
// no DDL makes it; what is PostgreSQL's own keeps its name.
func (c *Catalog) Meant(path []string, typ, text string) (meant string, known bool) {
	if path == nil {
		path = c.path
	}
	name, arguments, _ := strings.Cut(text, "(")
	parts, ok := sqltext.SplitName(name)
	if typ == "regtype" {
		return c.meantType(path, text)
	}
	if !ok || len(parts) > 2 || typ == "regoper" || typ == "regoperator" {
		return text, false
	}
	if len(parts) == 2 {
		return text, true
	}
	if isOwnName(typ, parts[0]) {
		return text, true
	}
	schema := c.schemaOf(path, typ, parts[0])
	if schema == "" {
		return text, false
	}
	meant = sqltext.Qualified(schema, parts[0])
	if strings.Contains(text, "(") {
		meant += "(" + arguments
	}
	return meant, true
}

// meantType is Meant for names of types, which are parsed otherwise.
func (c *Catalog) meantType(path []string, text string) (string, bool) {
	t, err := sqltext.ParseType(text)
	if err != nil {
		return text, false
	}
	if t.Schema != "" || builtin().types[t.Name] {
		return text, true
	}
	if lookup(c.types, path, "", t.Name) == nil && c.RelationIn(path, "", t.Name) == nil {
		return text, false
	}
	return c.TypeIn(path, t), true
}

// isOwnName reports whether PostgreSQL has something of that name itself, which comes before all others.
func isOwnName(typ, object string) bool {
	switch typ {
	case "regclass":
		return len(builtin().relations[name{"pg_catalog", object}]) > 0
	case "regproc", "regprocedure":
		return builtin().functions[object].Known
	case "regconfig", "regdictionary":
		return object == "simple" || slices.Contains(languages, strings.TrimSuffix(object, "_stem"))
	}
	return typ == "regcollation" && slices.Contains([]string{"C", "POSIX", "default", "ucs_basic", "unicode", "und-x-icu"}, object)
}

// languages have a text search configuration of their name.
var languages = []string{
	"arabic", "armenian", "basque", "catalan", "danish", "dutch", "english", "estonian", "finnish", "french", "german", "greek", "hindi", "hungarian", "indonesian",
	"irish", "italian", "lithuanian", "nepali", "norwegian", "portuguese", "romanian", "russian", "serbian", "spanish", "swedish", "tamil", "turkish", "yiddish",
}

// schemaOf is the schema in which a path finds an object that DDL makes; "" if it finds none.
func (c *Catalog) schemaOf(path []string, typ, object string) string {
	if typ == "regclass" {
		if r := c.RelationIn(path, "", object); r != nil && r.Schema != tempSchema {
			return r.Schema
		}
		return ""
	}
	for _, schema := range path {
		key := name{schema, object}
		_, collation := c.collations[key]
		switch typ {
		case "regproc", "regprocedure":
			if len(c.functions[key]) > 0 {
				return schema
			}
		case "regconfig", "regdictionary":
			if dictionary, made := c.textSearch[key]; made && dictionary == (typ == "regdictionary") {
				return schema
			}
		case "regcollation":
			if collation {
				return schema
			}
		}
	}
	return ""
}

// IsPath reports whether a path is the one along which the catalog looks names up itself.
func (c *Catalog) IsPath(path []string) bool { return slices.Equal(path, c.path) }
