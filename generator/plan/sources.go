package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// readsOf lists the relations that stream tables read, with the facts about them that the generated SQL relies on.
func readsOf(s *spec.Spec, compiled *compiler, plan *render.Plan) []render.Read {
	var reads []render.Read
	for _, n := range compiled.order {
		view := compiled.views[n]
		for _, r := range slices.Concat(view.Sources, view.Views) {
			reader := render.Name(s.StreamTables[n].Relation)
			at := slices.IndexFunc(reads, func(known render.Read) bool { return known.Table == nameOf(r) })
			if at < 0 {
				reads = append(reads, readOf(s, r, plan))
				at = len(reads) - 1
			}
			need := needOf(reads[at], r, view)
			need.Reader = reader
			reads[at].Needs = append(reads[at].Needs, need)
			if r.Kind == catalog.View && view.Followed() {
				reads[at].Kind = "view"
			}
			reads[at].Readers = append(reads[at].Readers, reader)
		}
	}
	return reads
}

func readOf(s *spec.Spec, r *catalog.Relation, plan *render.Plan) render.Read {
	read := render.Read{Schemas: schemasOf(s), Table: nameOf(r), Kind: kindOf(r), Made: r.Kind == catalog.StreamTable, Part: r.PartOfOthers()}
	for _, source := range plan.Sources {
		if source.Table == read.Table {
			read.Log, read.Columns, read.Whole = &source, source.ColumnList, source.Whole || source.Watched
		}
	}
	for _, capture := range plan.Captures {
		if capture.Table == read.Table {
			read.Pending, read.Columns, read.Whole = &capture, union(slices.Clone(read.Columns), capture.ColumnList), read.Whole || capture.Whole
		}
	}
	return read
}

// needOf is what a view's SQL takes for granted of a relation. What changes of rows alone need beside the columns' names is checked by the
// table that stores them; groups are added up as types allow, and looked up by keys that are never null.
func needOf(read render.Read, r *catalog.Relation, view *ivm.Plan) render.Need {
	need := render.Need{Read: read}
	need.Needs, need.Readers = nil, nil
	if read.Log == nil && read.Pending == nil {
		return need
	}
	needed := view.Need(r)
	need.Columns, need.Whole = needed.Columns, needed.Whole
	if read.Made {
		return need
	}
	need.UniqueOn = needed.UniqueOn
	for _, name := range need.Columns {
		if c := r.Columns[r.Column(name)]; !c.Varied && sqltext.IsString(c.Type) {
			need.Alike = append(need.Alike, name)
		}
	}
	if !view.Groups && !need.Whole {
		return need
	}
	for _, name := range need.Columns {
		need.Types = append(need.Types, r.Columns[r.Column(name)].Type)
	}
	need.NotNull = needed.NotNull
	return need
}

// kindOf returns "table", or "other" for relations on which no plan depends. A view has the kind "view" where its query became part of a plan.
func kindOf(r *catalog.Relation) string {
	switch r.Kind {
	case catalog.Table, catalog.Partitioned, catalog.StreamTable:
		return "table"
	}
	return "other"
}
