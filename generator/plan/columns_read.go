package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// tablesOf are the tables that a view reads, each once.
func tablesOf(view *ivm.View) []*catalog.Relation {
	var tables []*catalog.Relation
	for _, read := range leaves(view) {
		if !slices.Contains(tables, read.Table) {
			tables = append(tables, read.Table)
		}
	}
	return tables
}

// leaves are the places at which a view reads a relation.
func leaves(view *ivm.View) []*algebra.Source {
	var all []*algebra.Source
	algebra.Walk(view.Root, func(n algebra.Node) {
		if read, ok := n.(*algebra.Source); ok {
			all = append(all, read)
		}
	})
	return all
}

// setColumns says which columns of a relation are read.
func setColumns(s *render.Source, r *catalog.Relation, names []string) {
	s.ColumnList, s.TypeList, s.VariedList, s.ComparableList = names, nil, nil, nil
	for _, name := range names {
		c := r.Columns[r.Column(name)]
		s.TypeList, s.VariedList = append(s.TypeList, c.Type), append(s.VariedList, c.Varied)
		s.ComparableList = append(s.ComparableList, c.Equality.Comparable())
	}
}

// columnsRead are the columns of a table that a view reads.
func columnsRead(view *ivm.View, r *catalog.Relation) []string {
	var names []string
	if view.Root == nil {
		return nil
	}
	algebra.Walk(view.Root, func(n algebra.Node) {
		if read, ok := n.(*algebra.Source); ok && read.Table == r {
			for _, c := range read.Cols {
				if name := r.Columns[c.Attr].Name; !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	})
	return names
}

// inOrder sorts columns as their table has them, so that a log keeps its columns when other stream tables read them first.
func inOrder(r *catalog.Relation, names []string) []string {
	slices.SortFunc(names, func(a, b string) int { return r.Column(a) - r.Column(b) })
	return names
}

// union is a list and what others have beside it.
func union(list, others []string) []string {
	for _, name := range others {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func nameOf(r *catalog.Relation) render.Name { return render.Name{Schema: r.Schema, Name: r.Name} }
