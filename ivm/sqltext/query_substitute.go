package sqltext

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Substitute is what a query reads in the place of a table.
type Substitute struct {
	Table string // the table's full name, whatever the query calls it
	Name  string // of the substitute, which has no schema
}

// SubstituteTables has a query read others in the place of tables. found gets a name as it is written, with or without its schema. Each keeps
// the name by which the query knows its columns; all else stays as it is, byte by byte, and a query that cannot be parsed stays whole.
func SubstituteTables(query string, found func(schema, name string) (Substitute, bool)) string {
	reads, err := ReadsOf(query)
	if err != nil {
		return query
	}
	tree, _ := pg_query.Parse(query)
	s := substitution{renaming: renaming{query: query, tables: map[int]*TableRef{}}, found: found}
	for _, t := range reads.Tables {
		s.tables[t.Pos] = t
	}
	s.selects(tree.Stmts[0].Stmt.GetSelectStmt())
	return s.text()
}

// substitution collects what is replaced in a query.
type substitution struct {
	renaming
	found func(schema, name string) (Substitute, bool)
}

// selects goes through a query, and those within it, whose tables are in scope nowhere else.
func (s *substitution) selects(stmt *pg_query.SelectStmt) {
	var tables []*pg_query.RangeVar
	var columns []*pg_query.ColumnRef
	walk(stmt, func(message any) bool {
		switch m := message.(type) {
		case *pg_query.SelectStmt:
			if m != stmt {
				s.selects(m)
				return false
			}
		case *pg_query.RangeVar:
			tables = append(tables, m)
		case *pg_query.ColumnRef:
			columns = append(columns, m)
		}
		return true
	})
	known := s.knownAs(tables)
	for _, c := range columns {
		if len(c.Fields) < 3 {
			continue
		}
		if t, ok := s.found(c.Fields[0].GetString_().GetSval(), c.Fields[1].GetString_().GetSval()); ok && known[t.Table] != "" {
			s.edits = append(s.edits, edit{int(c.Location), s.end(int(c.Location), 2), Ident(known[t.Table])})
		}
	}
}

// knownAs replaces tables of one FROM clause, and returns by which names those without an alias are known: their own, unless two of them have it.
func (s *substitution) knownAs(tables []*pg_query.RangeVar) map[string]string {
	known := map[string]string{}
	for _, v := range tables {
		t, ok := s.found(v.Schemaname, v.Relname)
		if at := int(v.Location); !ok || s.tables[at] == nil {
			continue
		}
		parts := 1
		if v.Schemaname != "" {
			parts = 2
		}
		text := Ident(t.Name)
		if v.Alias == nil {
			known[t.Table] = v.Relname
			if slices.ContainsFunc(tables, func(other *pg_query.RangeVar) bool {
				return other != v && other.Alias == nil && other.Relname == v.Relname
			}) {
				known[t.Table] = t.Table
			}
			text += " as " + Ident(known[t.Table])
		}
		s.edits = append(s.edits, edit{int(v.Location), s.end(int(v.Location), parts), text})
	}
	return known
}
