package render

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Schemas are the two schemas of an extension: that of what users call and read, and that of everything else.
type Schemas struct{ SchemaName, InternalName string }

// Schema is the schema of what users call and read, as SQL.
func (s Schemas) Schema() string { return sqltext.Ident(s.SchemaName) }

// Internal is the schema of everything else, as SQL.
func (s Schemas) Internal() string { return sqltext.Ident(s.InternalName) }

// SchemaInFormat is Schema in a template of format(), where % has a meaning.
func (s Schemas) SchemaInFormat() string { return inFormat(s.Schema()) }

// InternalInFormat is Internal in a template of format().
func (s Schemas) InternalInFormat() string { return inFormat(s.Internal()) }

func inFormat(sql string) string { return strings.ReplaceAll(sql, "%", "%%") }

// In names an object that users call or read.
func (s Schemas) In(name string) Name { return Name{s.SchemaName, name} }

// InInternal names any other object.
func (s Schemas) InInternal(name string) Name { return Name{s.InternalName, name} }
