package catalog

import "github.com/pgsluice/sluice/ivm/sqltext/ddl"

// extensionType is a type of a well-known extension, whose script DDL does not show.
type extensionType struct {
	extension string
	equality  Equality // the least of all versions: ltree has a hash operator class from PostgreSQL 17 on
}

// extensionTypes are types of extensions by their names. Those of isn have hash operator classes without an extended hash function.
var extensionTypes = map[string]extensionType{
	"citext":    {"citext", HashedEquality},
	"cube":      {"cube", OrderedEquality},
	"ean13":     {"isn", OrderedEquality},
	"geography": {"postgis", OrderedEquality},
	"geometry":  {"postgis", OrderedEquality},
	"halfvec":   {"vector", OrderedEquality},
	"hstore":    {"hstore", HashedEquality},
	"isbn":      {"isn", OrderedEquality},
	"isbn13":    {"isn", OrderedEquality},
	"ismn":      {"isn", OrderedEquality},
	"ismn13":    {"isn", OrderedEquality},
	"issn":      {"isn", OrderedEquality},
	"issn13":    {"isn", OrderedEquality},
	"lquery":    {"ltree", NoEquality},
	"ltree":     {"ltree", OrderedEquality},
	"ltxtquery": {"ltree", NoEquality},
	"query_int": {"intarray", NoEquality},
	"raster":    {"postgis_raster", UnsortedEquality},
	"seg":       {"seg", OrderedEquality},
	"sparsevec": {"vector", OrderedEquality},
	"upc":       {"isn", OrderedEquality},
	"vector":    {"vector", OrderedEquality},
}

// createExtension notes where the types of an extension are.
func (s *script) createExtension(d *ddl.CreateExtension) {
	schema := d.Schema
	if schema == "" && len(s.path) > 0 {
		schema = s.path[0]
	}
	s.extensions[d.Name] = schema
	for typ, of := range extensionTypes {
		if of.extension == d.Name {
			s.types[name{schema, typ}] = &Type{Schema: schema, Name: typ, Varied: true, Equality: of.equality}
		}
	}
}
