package generator

import (
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// readsOf lists the relations that stream tables read, with what the generated SQL takes for granted of them.
func readsOf(s *spec.Spec, compiled *compiler, sources []render.Source) []render.Read {
	var reads []render.Read
	for _, n := range compiled.order {
		view := compiled.views[n]
		for _, r := range slices.Concat(view.Sources, view.Views) {
			reader := render.Name(s.StreamTables[n].Relation)
			at := slices.IndexFunc(reads, func(known render.Read) bool { return known.Table == nameOf(r) })
			if at < 0 {
				reads = append(reads, readOf(s, r, sources))
				at = len(reads) - 1
			}
			reads[at].Readers = append(reads[at].Readers, reader)
		}
	}
	return reads
}

func nameOf(r *catalog.Relation) render.Name { return render.Name{Schema: r.Schema, Name: r.Name} }

func readOf(s *spec.Spec, r *catalog.Relation, sources []render.Source) render.Read {
	read := render.Read{SchemaName: s.Extension.Schema, Table: nameOf(r), Kind: kindOf(r), Made: r.Kind == catalog.StreamTable}
	for i := range sources {
		if sources[i].Table == read.Table {
			read.Log, read.Columns = &sources[i].Log, sources[i].ColumnList
		}
	}
	for _, name := range read.Columns {
		if r.Columns[r.Column(name)].NotNull {
			read.NotNull = append(read.NotNull, name)
		}
	}
	read.Key = keyRead(r, read.Columns)
	return read
}

func kindOf(r *catalog.Relation) string {
	switch r.Kind {
	case catalog.Table, catalog.Partitioned, catalog.StreamTable:
		return "table"
	case catalog.View:
		return "view"
	}
	return "other"
}

// keyRead are the columns of the primary key, if all of them are read: only then a plan can rely on it.
func keyRead(r *catalog.Relation, columns []string) []string {
	var key []string
	for _, attr := range r.Key {
		if !slices.Contains(columns, r.Columns[attr].Name) {
			return nil
		}
		key = append(key, r.Columns[attr].Name)
	}
	if r.ReadsOthers() {
		return nil
	}
	return key
}
