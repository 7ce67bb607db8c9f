package render

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Sharded is a stream table on Citus, whose rows are beside those that they come from, or in mode full on all nodes.
type Sharded struct {
	Extension, Path string
	Schemas
	Name       string // as the spec has it
	Asked      string // the refresh mode of the spec
	Mode       string // what it comes to
	Query      string
	SearchPath string
	Every      string // the schedule, as an interval
	Schedule   time.Duration
	Columns    []string
	Key        string // the column that has the value of the distribution column
	KeyType    string
	Sources    []ShardedSource // none in mode full

	Table, Rows, Changes, Marks Name // Marks is empty if it reads no reference table
	RefreshFn, CheckFn          Name
}

// ShardedSource is a table that a stream table on Citus reads.
type ShardedSource struct {
	Name
	Column string // by which it is distributed; empty for a reference table
}

// Sharded reports whether it is computed shard by shard, and not on the coordinator.
func (t Sharded) Sharded() bool { return len(t.Sources) > 0 }

// Like is the table whose shards those of the stream table are colocated with.
func (t Sharded) Like() Name {
	for _, s := range t.Sources {
		if s.Column != "" {
			return s.Name
		}
	}
	return Name{}
}

// Distributed is the number of sources that are distributed; they stand before the others.
func (t Sharded) Distributed() int {
	n := 0
	for _, s := range t.Sources {
		if s.Column != "" {
			n++
		}
	}
	return n
}

// InFormat has its columns as they stand in a template of format().
func (t Sharded) InFormat() Sharded {
	t.Key = inFormat(t.Key)
	columns := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		columns[i] = inFormat(name)
	}
	t.Columns = columns
	return t
}

// Digest stands for the query.
func (t Sharded) Digest() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(t.Query)))[:16] }

// Changed is the condition that a key is among those that changed, for format(); all are if $1 is true.
func (t Sharded) Changed() string {
	return "$1 or %s = any ((select k.keys from pgt_keys k)::" + t.KeyType + "[])"
}

// Unchanged is the condition that a key is not among them.
func (t Sharded) Unchanged() string {
	return "%s <> all ((select k.keys from pgt_keys k)::" + t.KeyType + "[])"
}

// Names lists the query's columns.
func (t Sharded) Names() string { return inLines(t.Columns, "") }

// HasMarks reports whether the stream table reads reference tables.
func (t Sharded) HasMarks() bool { return t.Marks.Name != "" }

// Listed lists the query's columns of a row.
func (t Sharded) Listed(row string) string { return inLines(t.Columns, row+".") }

// inLines lists columns in lines of some length, for SQL that stands in a constant.
func inLines(columns []string, before string) string {
	var out strings.Builder
	length := 0
	for n, name := range columns {
		item := before + sqltext.Ident(name)
		switch length += len(item) + 2; {
		case n == 0:
		case length > 90:
			out.WriteString(",\n            ")
			length = len(item)
		default:
			out.WriteString(", ")
		}
		out.WriteString(item)
	}
	return out.String()
}

// OnShards is the query over shards, for format(): of each source it reads what is called pgt_source and its number.
func (t Sharded) OnShards() string {
	first := map[Name]int{}
	for n, s := range t.Sources {
		first[s.Name] = n + 1
	}
	return inFormat(sqltext.ReplaceTables(t.Query, func(schema, name string) (string, bool) {
		for _, in := range t.lookedUp(schema) {
			if n, ok := first[Name{in, name}]; ok {
				return fmt.Sprintf("pgt_source%d", n), true
			}
		}
		return "", false
	}))
}

// SourceKeys are the distribution columns of the sources by the numbers of their shards in format(), those of rows, changes and marks being the first; empty for a
// reference table.
func (t Sharded) SourceKeys() []string {
	keys := make([]string, len(t.Sources))
	for n, s := range t.Sources {
		if s.Column != "" {
			keys[n] = "s." + inFormat(sqltext.Ident(s.Column))
		}
	}
	return keys
}

// lookedUp are the schemas in which a name of the query may be.
func (t Sharded) lookedUp(schema string) []string {
	if schema != "" {
		return []string{schema}
	}
	return []string{"public", t.SchemaName}
}

// SourceNames are the sources as constants.
func (t Sharded) SourceNames() string {
	names := make([]string, len(t.Sources))
	for i, s := range t.Sources {
		names[i] = sqltext.Literal(s.String())
	}
	return strings.Join(names, ", ")
}

// SourceColumns are their distribution columns as constants; null for reference tables.
func (t Sharded) SourceColumns() string {
	columns := make([]string, len(t.Sources))
	for i, s := range t.Sources {
		columns[i] = literalOrNull(s.Column)
	}
	return strings.Join(columns, ", ")
}
