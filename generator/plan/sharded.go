package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Sharded turns the stream tables of a spec for Citus into view models. What cannot be computed shard by shard is an error at its place.
func Sharded(s *spec.Spec, errs *diag.List) []render.Sharded {
	compiled := compileViews(s, errs)
	var tables []render.Sharded
	for n := range s.StreamTables {
		t := &s.StreamTables[n]
		if view := compiled.views[n]; view != nil {
			on := sharder{t, view, compiled.known, compiled.named[n], errs}
			if t.RefreshMode == spec.RefreshFull {
				tables = append(tables, on.full(s)...)
			} else if key, ok := on.check(); ok {
				tables = append(tables, on.sharded(s, key))
			}
		}
	}
	return tables
}

// sharder looks at one stream table.
type sharder struct {
	*spec.StreamTable
	view  *ivm.Plan
	known *catalog.Catalog
	reads []*sqltext.TableRef // of the query, in the order of its text
	errs  *diag.List
}

const inFull = "refresh_mode: full takes any query that Citus runs"

func (t sharder) report(at diag.Pos, message, hint string) {
	t.errs.Add(diag.Error{Pos: at, Code: "not-on-citus", Message: message, Hint: hint})
}

// check finds the output column that has the value of the distribution column.
func (t sharder) check() (key ivm.Output, ok bool) {
	before := t.errs.Len()
	for _, reason := range t.view.Full {
		t.report(reason.Pos, "a stream table on Citus does not follow "+indefinite(reason.What), cmp.Or(reason.Hint, inFull))
	}
	t.checkSources()
	if t.errs.Len() > before || !t.view.Followed() {
		return key, false
	}
	at, problem := t.view.ShardKey(func(r *catalog.Relation) string { return r.Distributed.Column })
	if problem != nil {
		t.report(t.where(problem), problem.What, "docs/citus.md says which queries are computed shard by shard; "+inFull)
		return key, false
	}
	return t.view.Output[at], true
}

// where is the place of a problem in the query.
func (t sharder) where(problem *ivm.Unsharded) diag.Pos {
	switch {
	case problem.At > 0:
		return t.Query.Pos(problem.At)
	case problem.Table != nil:
		return t.place(problem.Table)
	}
	return t.view.Output[0].Pos
}

// place is where the query reads a table last.
func (t sharder) place(r *catalog.Relation) diag.Pos {
	at := t.Query.At
	for _, read := range t.reads {
		if read.Name == r.Name && (read.Schema == "" || read.Schema == r.Schema) {
			at = t.Query.Pos(read.Pos)
		}
	}
	return at
}

// checkSources refuses sources whose rows are not known to be on one node.
func (t sharder) checkSources() {
	for _, view := range t.view.Views {
		t.report(t.place(view), fmt.Sprintf("a stream table on Citus cannot read the view %s", view.SQLName()), "write its query in place of its name; "+inFull)
	}
	var first *catalog.Relation
	for _, r := range t.view.Sources {
		switch {
		case r.Kind != catalog.Table || r.ReadsOthers() || r.PartOfOthers():
			t.report(t.place(r), fmt.Sprintf("a stream table on Citus cannot read %s, which is not a plain table", r.SQLName()), "it reads distributed tables and reference tables; "+inFull)
		case r.Distributed == nil:
			t.report(t.place(r), fmt.Sprintf("it is not known how table %s is distributed", r.SQLName()),
				fmt.Sprintf("add select create_distributed_table('%s', '<column>') or create_reference_table('%s') to the DDL", r.Name, r.Name))
		case r.Distributed.Column == "":
		case !t.checkColumn(r):
		case first == nil:
			first = r
		case first.Distributed.Group != r.Distributed.Group:
			t.errs.Add(diag.Error{
				Pos: t.place(r), Code: "not-on-citus", Message: fmt.Sprintf("table %s is not colocated with %s", r.SQLName(), first.SQLName()),
				Hint: "distribute it by a column of the same type, with colocate_with, or make it a reference table",
				Also: []diag.Note{{Pos: first.Distributed.At, Message: first.Name + " is distributed here"}, {Pos: r.Distributed.At, Message: r.Name + " is distributed here"}},
			})
		}
	}
	for _, name := range sqltext.Names(t.Query.Text) {
		if strings.HasPrefix(name.Name, "pgt_source") || name.Name == "pgt_keys" {
			t.report(t.Query.Pos(name.Offset), fmt.Sprintf("generated SQL names its own parts %s", name.Name), "give it another name")
		}
	}
	schemas := map[string]string{} // of tables without an alias
	for _, read := range t.reads {
		if read.Only {
			t.report(t.Query.Pos(read.Pos), "a stream table on Citus cannot read ONLY a table", "leave ONLY out")
		}
		schema := cmp.Or(read.Schema, "public")
		if other, named := schemas[read.Name]; read.Alias == "" {
			if named && other != schema {
				t.report(t.Query.Pos(read.Pos), fmt.Sprintf("a stream table on Citus cannot read two tables as %s", read.Name), "give each an alias")
			}
			schemas[read.Name] = schema
		}
	}
}

// checkColumn refuses a distribution column whose values may be equal and not the same.
func (t sharder) checkColumn(r *catalog.Relation) bool {
	c := r.Columns[r.Column(r.Distributed.Column)]
	if !c.Varied && c.Collation == "" {
		return true
	}
	t.errs.Add(diag.Error{
		Pos: t.place(r), Code: "not-on-citus", Message: fmt.Sprintf("distribution column %s of %s has a type or collation whose equal values may differ, or a collation of its own", c.Name, r.SQLName()),
		Hint: "distribute the table by a number, a text of the default collation, or a uuid",
		Also: []diag.Note{{Pos: c.At, Message: "it stands here"}},
	})
	return false
}

// full is what templates know of one that is recomputed on the coordinator; none if its columns are not known.
func (t sharder) full(s *spec.Spec) []render.Sharded {
	if t.view.Whole() {
		t.report(*t.view.Open, "a stream table on Citus needs columns that are known", "name the columns")
		return nil
	}
	table := t.table(s)
	table.Mode = spec.RefreshFull
	return []render.Sharded{table}
}

// table is what templates know of any.
func (t sharder) table(s *spec.Spec) render.Sharded {
	base := (&planner{spec: s}).base(t.StreamTable)
	in := schemasOf(s).InInternal
	own := func(suffix string) render.Name { return in(spec.DerivedName(base + suffix)) }
	table := render.Sharded{
		Extension: s.Extension.Name, Schemas: schemasOf(s), Path: "stream_tables." + t.Name, Name: t.Name, Asked: t.RefreshMode, Mode: spec.RefreshDifferential,
		Query: sqltext.Body(t.Query.Text), SearchPath: searchPathOf(s), Every: t.Schedule.Every.Interval(), Schedule: time.Duration(t.Schedule.Every),
		Table: render.Name(t.Relation), Rows: own("_rows"), Changes: own("_changes"), RefreshFn: own("_refresh"), CheckFn: own("_check"),
	}
	if t.view.OwnNames {
		table.Query, table.SearchPath = qualified(table.Query, t.known), ownPath
	}
	for _, o := range t.view.Output {
		table.Columns = append(table.Columns, o.Name)
	}
	return table
}

// sharded is what templates know of one that is computed shard by shard.
func (t sharder) sharded(s *spec.Spec, key ivm.Output) render.Sharded {
	table := t.table(s)
	table.Key = key.Name
	marks := schemasOf(s).InInternal(spec.DerivedName((&planner{spec: s}).base(t.StreamTable) + "_marks"))
	for _, r := range t.view.Sources {
		table.Sources = append(table.Sources, render.ShardedSource{Name: nameOf(r), Column: r.Distributed.Column})
		if r.Distributed.Column == "" {
			table.Marks = marks
		} else if table.KeyType == "" {
			table.KeyType = r.Columns[r.Column(r.Distributed.Column)].Type
		}
	}
	slices.SortStableFunc(table.Sources, func(a, b render.ShardedSource) int { // distributed ones first
		switch {
		case (a.Column == "") == (b.Column == ""):
			return 0
		case b.Column == "":
			return -1
		}
		return 1
	})
	return table
}
