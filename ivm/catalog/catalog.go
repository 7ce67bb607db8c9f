// Package catalog holds what is known of the tables, views, types and functions that a query may name: from DDL, and of PostgreSQL itself.
package catalog

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Catalog knows relations, types, functions, operators and collations by name.
type Catalog struct {
	path        []string
	relations   map[name]*Relation
	unreadable  map[name]bool // relations of which not everything is known, which has been reported
	types       map[name]*Type
	functions   map[name][]Function
	operators   map[name][]Operator
	casts       []Cast
	collations  map[name]bool                   // whether they are deterministic
	textSearch  map[name]bool                   // configurations, and with true dictionaries
	extensions  map[string]string               // their schemas
	sorted      map[string]bool                 // PostgreSQL's own types that have a default btree operator class by the DDL alone
	multiranges map[name]bool                   // types that are made beside range types
	checker     DDLChecker                      // of queries and expressions; may be nil
	opaque      bool                            // DDL has blocks of code, which may make anything
	bodies      map[string]sqltext.FunctionBody // of functions, by the statements that make them
}

// name is the qualified name of an object.
type name struct{ schema, name string }

// tempSchema is where temporary relations are; it is searched first.
const tempSchema = "pg_temp"

// New returns a catalog without relations, in which unqualified names are looked up in these schemas; public if there are none.
func New(path ...string) *Catalog {
	if len(path) == 0 {
		path = []string{"public"}
	}
	return &Catalog{
		path:        path,
		relations:   map[name]*Relation{},
		unreadable:  map[name]bool{},
		types:       map[name]*Type{},
		functions:   map[name][]Function{},
		operators:   map[name][]Operator{},
		collations:  map[name]bool{},
		textSearch:  map[name]bool{},
		extensions:  map[string]string{},
		sorted:      map[string]bool{},
		multiranges: map[name]bool{},
		bodies:      map[string]sqltext.FunctionBody{},
	}
}

// Relation returns the relation of this name, or nil. Without a schema it is looked up along the search path.
func (c *Catalog) Relation(schema, relation string) *Relation {
	return c.RelationIn(c.path, schema, relation)
}

// RelationIn is Relation along another search path, such as a view's.
func (c *Catalog) RelationIn(path []string, schema, relation string) *Relation {
	return lookup(c.relations, path, schema, relation)
}

// Add adds a relation that no DDL makes, such as a stream table. If its name is taken it returns the relation that has it, and nil else.
func (c *Catalog) Add(r *Relation) *Relation {
	key := name{r.Schema, r.Name}
	if taken := c.relations[key]; taken != nil {
		return taken
	}
	c.relations[key] = r
	return nil
}

// Remove makes a relation unknown.
func (c *Catalog) Remove(r *Relation) { delete(c.relations, name{r.Schema, r.Name}) }

// RelationNames returns the names of all relations as a query would write them, for diag.Nearest.
func (c *Catalog) RelationNames() []string {
	return c.namesIn(c.path)
}

// QualifiedNames returns the names of all relations with their schemas, for diag.Nearest.
func (c *Catalog) QualifiedNames() []string {
	var names []string
	for key := range c.relations {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return names
}

func (c *Catalog) namesIn(path []string) []string {
	var names []string
	for key := range c.relations {
		names = append(names, c.shortest(path, key))
	}
	slices.Sort(names)
	return names
}

// shortest leaves out the schema of a relation if the search path leads to it.
func (c *Catalog) shortest(path []string, key name) string {
	if c.RelationIn(path, "", key.name) == c.relations[key] {
		return key.name
	}
	return key.String()
}

// String prints the name as messages show it.
func (n name) String() string {
	if n.schema == "" {
		return n.name
	}
	return n.schema + "." + n.name
}

// Type returns the type of this name that DDL makes, or nil. Without a schema it is looked up along the search path.
func (c *Catalog) Type(schema, typ string) *Type {
	return lookup(c.types, c.path, schema, typ)
}

// Deterministic reports whether a collation, as Column.Collation spells it, takes only equal bytes for equal. Collations that no DDL
// makes do.
func (c *Catalog) Deterministic(collation string) bool {
	for key, deterministic := range c.collations {
		if sqltext.Qualified(key.schema, key.name) == collation {
			return deterministic
		}
	}
	return true
}

// lookup finds an object by its qualified name, or along a search path.
func lookup[T any](objects map[name]T, path []string, schema, object string) (found T) {
	if schema != "" {
		return objects[name{schema, object}]
	}
	for _, schema := range searched(path) {
		if found, ok := objects[name{schema, object}]; ok {
			return found
		}
	}
	return found
}

// searched is the search path with the schema of temporary relations first.
func searched(path []string) []string { return append([]string{tempSchema}, path...) }

// earlier points at the first of two relations of one name.
func earlier(r *Relation) []diag.Note {
	if r.At.File == "" {
		return nil
	}
	return []diag.Note{{Pos: r.At, Message: "it was made here first"}}
}
