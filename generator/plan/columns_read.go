package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// setColumns says which columns of a relation are read.
func setColumns(s *render.Source, r *catalog.Relation, names []string) {
	s.ColumnList, s.TypeList, s.VariedList, s.ComparableList = names, nil, nil, nil
	for _, name := range names {
		c := r.Columns[r.Column(name)]
		s.TypeList, s.VariedList = append(s.TypeList, c.Type), append(s.VariedList, c.Varied)
		s.ComparableList = append(s.ComparableList, c.Equality.Comparable())
	}
}

// inOrder sorts columns as their table has them, so that a log keeps its columns when other stream tables read them first.
func inOrder(r *catalog.Relation, names []string) []string {
	slices.SortFunc(names, func(a, b string) int { return r.Column(a) - r.Column(b) })
	return names
}

// union appends to a list the names of another list that it lacks.
func union(list, others []string) []string {
	for _, name := range others {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func nameOf(r *catalog.Relation) render.Name { return render.Name{Schema: r.Schema, Name: r.Name} }
