package fixed

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// reserved are words that cannot stand everywhere as identifiers in CockroachDB, and can in PostgreSQL and Citus.
var reserved = map[string]bool{
	"annotate_type": true, "box2d": true, "characteristics": true, "extract_duration": true, "family": true, "geography": true, "geometry": true, "if": true,
	"iferror": true, "ifnull": true, "index": true, "iserror": true, "nothing": true, "point": true, "polygon": true, "string": true, "timestamptz": true,
	"timetz": true, "varbit": true, "vector": true, "virtual": true, "work": true,
}

// ident returns a name as an SQL identifier, quoted where any of the servers wants it.
func ident(name string) string {
	if reserved[name] {
		return `"` + name + `"`
	}
	return sqltext.Ident(name)
}

// Name is a relation or function of a schema.
type Name struct{ Schema, Name string }

// String returns the name as SQL, qualified and quoted where needed.
func (n Name) String() string { return ident(n.Schema) + "." + ident(n.Name) }

// Own returns the name without its schema, as CREATE INDEX wants it.
func (n Name) Own() string { return ident(n.Name) }

// list joins names as SQL.
func list(names []Name) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = n.String()
	}
	return strings.Join(texts, ", ")
}
