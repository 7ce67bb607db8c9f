package render

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Claims are the names that a script takes, and those of what it replaces, alters or drops: others must not have them.
type Claims struct {
	Extension, SchemaName string
	Internal              string // schema
	Relations, Routines   []Names
	Triggers              []TriggersOn
	Publications          []string
	Roles                 []string
	NewSchema             string // that must not be there; empty where the script itself creates it
}

// Names are some of one schema.
type Names struct {
	Schema   string
	List     []string
	Replaced bool // what has them is replaced, altered or dropped, if the extension made it; else nothing may have them
}

// TriggersOn are the names of triggers that a table gets.
type TriggersOn struct {
	Table string // as SQL
	List  []string
}

// Mark is what comments of the extension's objects end in.
func (c Claims) Mark() string { return sqltext.Mark(c.Extension, c.SchemaName) }

// Catalog is the table that describes what is installed, as SQL.
func (c Claims) Catalog() string { return sqltext.Qualified(c.SchemaName, "pgt_extension") }

// Empty reports whether there is nothing to look for.
func (c Claims) Empty() bool {
	return len(c.Relations)+len(c.Routines)+len(c.Triggers)+len(c.Publications)+len(c.Roles) == 0
}

// Replaces reports whether something would be replaced, altered or dropped.
func (c Claims) Replaces() bool {
	replaced := func(n Names) bool { return n.Replaced }
	return slices.ContainsFunc(c.Relations, replaced) || slices.ContainsFunc(c.Routines, replaced)
}

// Array is the list as an array, in lines that are not too long.
func (n Names) Array() string { return arrayOf(n.List, "name") }

// Array is the list as an array, in lines that are not too long.
func (t TriggersOn) Array() string { return arrayOf(t.List, "name") }

// arrayOf is a list as an array of a type.
func arrayOf(names []string, typ string) string {
	const widest, indent = 140, "\n                "
	var out strings.Builder
	line := len(indent)
	for n, name := range names {
		item := sqltext.Literal(name)
		if n > 0 {
			out.WriteString(",")
			if line += 2 + len(item); line >= widest {
				out.WriteString(indent)
				line = len(indent) + len(item)
			} else {
				out.WriteString(" ")
			}
		} else {
			out.WriteString(indent)
			line += len(item)
		}
		out.WriteString(item)
	}
	return "array[" + out.String() + "\n            ]::" + typ + "[]"
}
