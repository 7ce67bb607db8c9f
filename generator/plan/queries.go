package plan

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Query describes the query of a stream table for checks on a server, with the facts that the generated SQL relies on.
type Query struct {
	Name       string     // of the stream table, as it is written
	Probe      string     // a name for a relation that stands for it, like its own where no other one has that
	Text       diag.Block // in the spec
	SearchPath string     // as SQL, for SET: the path under which it means the same as in the compiler, once its tables are named by Tables
	Columns    []string   // of its result
	Whole      bool       // it has others besides, which only the server knows
	Followed   bool       // its changes are followed; otherwise it is recomputed
	Indexed    []Indexed
	Reads      []Relied
	Upstream   map[sqltext.Relation]int              // stream tables that it reads, as it writes them: their places in the order of refreshes
	Tables     map[sqltext.Relation]sqltext.Relation // relations that it reads, as it writes them, with their schemas; none if it needs them on its path
}

// Indexed is a column that the spec wants in an index.
type Indexed struct {
	At   diag.Pos
	Name string
}

// Relied is a relation that a query reads, with the columns that DDL gives it; none of a view.
type Relied struct {
	Relation sqltext.Relation
	Columns  []string
}

// tablesOf are the relations that a query reads, as it writes them, with their schemas.
func (c *compiler) tablesOf(query string) map[sqltext.Relation]sqltext.Relation {
	all := map[sqltext.Relation]sqltext.Relation{}
	reads, _ := sqltext.ReadsOf(query) // it was parsed before
	for _, t := range reads.Tables {
		if r := c.known.Relation(t.Schema, t.Name); r != nil {
			all[sqltext.Relation{Schema: t.Schema, Name: t.Name}] = sqltext.Relation{Schema: r.Schema, Name: r.Name}
		}
	}
	return all
}

// queries are those of all stream tables, in the order of their refreshes.
func (c *compiler) queries(tables []render.StreamTable) []Query {
	all := make([]Query, len(c.order))
	taken := map[string]bool{}
	for i, n := range c.order {
		t, view := &c.spec.StreamTables[n], c.views[n]
		probe := t.Relation.Name
		if taken[probe] {
			probe = fmt.Sprintf("sluice_query_%d", i+1)
		}
		taken[probe] = true
		q := Query{
			Name: t.Name, Probe: probe, Text: t.Query.Block, SearchPath: tables[i].OwnPath, Whole: view.Whole(), Followed: tables[i].Immediate || len(tables[i].Delta) > 0,
			Upstream: map[sqltext.Relation]int{}, Tables: map[sqltext.Relation]sqltext.Relation{},
		}
		if tables[i].Resolved != "" {
			q.Tables = c.tablesOf(sqltext.Body(t.Query.Text))
		}
		for _, o := range view.Output {
			q.Columns = append(q.Columns, o.Name)
		}
		for _, index := range t.Indexes {
			for _, column := range index {
				q.Indexed = append(q.Indexed, Indexed{column.At, column.Value})
			}
		}
		for _, r := range slices.Concat(view.Sources, view.Views) {
			if r.Kind != catalog.StreamTable {
				q.Reads = append(q.Reads, Relied{sqltext.Relation{Schema: r.Schema, Name: r.Name}, r.ColumnNames()})
			}
		}
		for written, m := range c.written[n] {
			q.Upstream[written] = slices.Index(c.order, m)
		}
		all[i] = q
	}
	return all
}
