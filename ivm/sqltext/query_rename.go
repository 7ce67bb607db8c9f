package sqltext

import (
	"cmp"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// RenameTables gives tables that a query reads other names. renamed gets a name as it is written, with or without its schema. All else stays
// as it is, byte by byte; a query that cannot be parsed stays whole.
func RenameTables(query string, renamed func(schema, name string) (newSchema, newName string, ok bool)) string {
	text, _ := RenameTablesAt(query, renamed)
	return text
}

// RenameTablesAt is RenameTables with a function that turns an offset in the new text into one in the query.
func RenameTablesAt(query string, renamed func(schema, name string) (newSchema, newName string, ok bool)) (text string, original func(offset int) int) {
	reads, err := ReadsOf(query)
	if err != nil {
		return query, func(offset int) int { return offset }
	}
	tree, _ := Parse(query)
	r := renaming{query: query, tables: map[int]*TableRef{}, renamed: renamed}
	for _, t := range reads.Tables {
		r.tables[t.Pos] = t
	}
	var columns []*pg_query.ColumnRef
	shown := map[string]string{} // names by which columns are qualified, of tables without an alias
	walk(tree.Stmts[0].Stmt, func(message any) bool {
		switch m := message.(type) {
		case *pg_query.ColumnRef:
			columns = append(columns, m)
		case *pg_query.RangeVar:
			if t := r.tables[int(m.Location)]; t != nil && r.replace(int(m.Location), m.Schemaname, m.Relname) && m.Alias == nil {
				_, shown[m.Relname], _ = renamed(m.Schemaname, m.Relname)
			}
		}
		return true
	})
	for _, c := range columns {
		r.column(c, shown)
	}
	return r.text(), r.original
}

// renaming collects what is replaced in a query.
type renaming struct {
	query   string
	tables  map[int]*TableRef
	renamed func(schema, name string) (string, string, bool)
	edits   []edit
}

type edit struct {
	start, end int
	text       string
}

// replace puts another name in the place of one, if it has one.
func (r *renaming) replace(at int, schema, name string) bool {
	newSchema, newName, ok := r.renamed(schema, name)
	if !ok {
		return false
	}
	text := Ident(newName)
	if newSchema != "" {
		text = Qualified(newSchema, newName)
	}
	parts := 1
	if schema != "" {
		parts = 2
	}
	r.edits = append(r.edits, edit{at, r.end(at, parts), text})
	return true
}

// column follows the table by whose name a column is qualified.
func (r *renaming) column(c *pg_query.ColumnRef, shown map[string]string) {
	if len(c.Fields) < 2 {
		return
	}
	first := c.Fields[0].GetString_().GetSval()
	at := int(c.Location)
	if len(c.Fields) == 2 {
		if name, ok := shown[first]; ok {
			r.edits = append(r.edits, edit{at, r.end(at, 1), Ident(name)})
		}
		return
	}
	r.replace(at, first, c.Fields[1].GetString_().GetSval())
}

// end is where a name of so many parts ends.
func (r *renaming) end(at, parts int) int {
	scan, err := pg_query.Scan(r.query[at:])
	tokens := 2*parts - 1
	if err != nil || len(scan.Tokens) < tokens {
		return at
	}
	return at + int(scan.Tokens[tokens-1].End)
}

// original is the offset in the query of one in the text. Within a new name it is where the old one begins.
func (r *renaming) original(offset int) int {
	longer := 0 // the text up to an edit than the query
	for _, e := range r.edits {
		switch start := e.start + longer; {
		case offset < start:
			return offset - longer
		case offset < start+len(e.text):
			return e.start
		}
		longer += len(e.text) - (e.end - e.start)
	}
	return offset - longer
}

func (r *renaming) text() string {
	slices.SortFunc(r.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var out strings.Builder
	at := 0
	for _, e := range r.edits {
		out.WriteString(r.query[at:e.start] + e.text)
		at = e.end
	}
	return out.String() + r.query[at:]
}

// ReplaceTables puts other SQL in the place of tables that a query reads, under the names that they have in it. A query that cannot be parsed stays whole.
func ReplaceTables(query string, by func(schema, name string) (sql string, ok bool)) string {
	return replaceTables(query, by, true)
}

// QualifyTables names tables that a query reads with their schemas: by is a table's name with it. A query that cannot be parsed stays whole.
func QualifyTables(query string, by func(schema, name string) (sql string, ok bool)) string {
	return replaceTables(query, by, false)
}

// replaceTables puts other SQL in the place of tables; renamed: it has another name.
func replaceTables(query string, by func(schema, name string) (sql string, ok bool), renamed bool) string {
	reads, err := ReadsOf(query)
	if err != nil {
		return query
	}
	tree, _ := Parse(query)
	tables := map[int]bool{}
	for _, t := range reads.Tables {
		tables[t.Pos] = true
	}
	r := renaming{query: query}
	walk(tree.Stmts[0].Stmt, func(message any) bool {
		switch m := message.(type) {
		case *pg_query.ColumnRef:
			if len(m.Fields) > 2 && renamed {
				at := int(m.Location)
				r.edits = append(r.edits, edit{at, r.end(at, 2), Ident(m.Fields[1].GetString_().GetSval())})
			}
		case *pg_query.RangeVar:
			sql, ok := by(m.Schemaname, m.Relname)
			if !ok || !tables[int(m.Location)] {
				break
			}
			if m.Alias == nil && renamed {
				sql += " as " + Ident(m.Relname)
			}
			parts := 1
			if m.Schemaname != "" {
				parts = 2
			}
			r.edits = append(r.edits, edit{int(m.Location), r.end(int(m.Location), parts), sql})
		}
		return true
	})
	return r.text()
}
