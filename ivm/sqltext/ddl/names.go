package ddl

import (
	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// scan returns the tokens of the statement without comments; none if it cannot be scanned.
func (r *reader) scan() []*pg_query.ScanToken {
	if r.tokens == nil {
		r.tokens = sqltext.Scan(r.text)
	}
	return r.tokens
}

// find returns the offset in the statement at which a name stands first, from an offset on; that offset if it does not.
func (r *reader) find(name string, from int) int {
	for _, t := range r.scan() {
		if int(t.Start) >= from && identifier(r.text, t) == name {
			return int(t.Start)
		}
	}
	return from
}

// identifier returns the name that a token stands for; "" if it is none.
func identifier(text string, t *pg_query.ScanToken) string {
	return sqltext.Identifier(text[t.Start:t.End])
}

// typeName reads a type; nil is the zero type.
func (r *reader) typeName(n *pg_query.TypeName) sqltext.Type {
	t := sqltext.TypeOf(n)
	if n != nil {
		t.Pos = r.pos(t.Pos)
	}
	return t
}

func (r *reader) rangeVar(v *pg_query.RangeVar) ObjectName {
	return ObjectName{Pos: r.pos(int(v.Location)), Schema: v.Schemaname, Name: v.Relname}
}

// objectName is the name in a list of strings, whose place the parser does not give.
func (r *reader) objectName(parts []*pg_query.Node) ObjectName {
	names := sqltext.Strings(parts)
	if len(names) == 0 {
		return ObjectName{}
	}
	name := ObjectName{Name: names[len(names)-1]}
	first := name.Name
	if len(names) > 1 {
		name.Schema = names[len(names)-2]
		first = name.Schema
	}
	name.Pos = r.pos(r.find(first, 0))
	return name
}

// columnNames are the columns in a list of strings that stands after an offset.
func (r *reader) columnNames(list []*pg_query.Node, after int) []ColumnName {
	var columns []ColumnName
	for _, name := range sqltext.Strings(list) {
		columns = append(columns, r.columnName(name, after))
	}
	return columns
}

func (r *reader) columnName(name string, after int) ColumnName {
	return ColumnName{Pos: r.pos(r.find(name, max(after, 0))), Name: name}
}

// afterName is the offset in the statement behind the name at a place in the script.
func (r *reader) afterName(name ObjectName) int {
	at := name.Pos - r.span.start
	for _, t := range r.scan() {
		if int(t.Start) >= at && identifier(r.text, t) == name.Name {
			return int(t.End)
		}
	}
	return at
}
