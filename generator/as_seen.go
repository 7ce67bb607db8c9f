package generator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// asSeen is the query of a stream table over what check_stream_table() puts in the place of the tables that it follows: their rows as of its
// frontier. Views are spelled out, as they read these tables, too. Empty where no table is followed by a log.
func (p *planner) asSeen(n int) string {
	if !p.incremental(n) {
		return ""
	}
	view := p.compiled.views[n]
	s := seeing{planner: p, tables: tablesOf(view), among: slices.Concat(view.Sources, view.Views), names: map[*catalog.Relation]string{}}
	query := s.query(sqltext.Body(p.spec.StreamTables[n].Query.Text), searchPath(p.spec))
	if len(s.views) == 0 {
		return query
	}
	return "with " + strings.Join(s.views, ",\n") + "\nselect *\nfrom (\n" + query + "\n) q"
}

// seeing rewrites the queries that one stream table is made of.
type seeing struct {
	*planner
	tables []*catalog.Relation          // that it follows
	among  []*catalog.Relation          // what its queries read
	names  map[*catalog.Relation]string // of views that are spelled out
	views  []string                     // the same as WITH queries, each after those that it reads
}

// query puts substitutes in the place of what a text reads, whose names are looked up along a path.
func (s *seeing) query(text string, path []string) string {
	return sqltext.SubstituteTables(text, func(schema, name string) (sqltext.Substitute, bool) {
		r := s.relation(schema, name, path)
		switch {
		case r == nil:
			return sqltext.Substitute{}, false
		case r.Kind == catalog.View:
			return sqltext.Substitute{Table: nameOf(r).Plain(), Name: s.view(r)}, true
		case !slices.Contains(s.tables, r): // nothing of it is needed
			return sqltext.Substitute{}, false
		}
		// As pgt_seen_rows() derives it.
		return sqltext.Substitute{Table: nameOf(r).Plain(), Name: "seen_" + strings.TrimPrefix(s.sources[r].Log.Name, "changes_")}, true
	})
}

// relation is what a name means along a path.
func (s *seeing) relation(schema, name string, path []string) *catalog.Relation {
	if schema != "" {
		path = []string{schema}
	}
	for _, in := range path {
		for _, r := range s.among {
			if r.Schema == in && r.Name == name {
				return r
			}
		}
	}
	return nil
}

// view spells a view out, and returns what it is called.
func (s *seeing) view(r *catalog.Relation) string {
	if name := s.names[r]; name != "" {
		return name
	}
	query := s.query(sqltext.Body(r.Query), r.SearchPath)
	name := fmt.Sprintf("view_seen_%d", len(s.views)+1)
	columns := ""
	for _, alias := range r.Aliases {
		columns += ", " + sqltext.Ident(alias)
	}
	if columns != "" {
		columns = " (" + columns[2:] + ")"
	}
	s.names[r] = name
	s.views = append(s.views, fmt.Sprintf("%s%s as (\n%s\n)", name, columns, query))
	return name
}
