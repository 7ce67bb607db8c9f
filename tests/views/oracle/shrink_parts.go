package oracle

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/tests/views/oracle/cases"
	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// steps removes steps, transactions around statements, and statements.
func (s *shrinker) steps() bool {
	changed := tree.Shorten(&s.c.Steps, 0, s.still)
	for _, step := range s.c.Steps {
		bare := slices.DeleteFunc(slices.Clone(step.Items), func(i *cases.Item) bool { return i.Kind == cases.Control })
		if len(bare) < len(step.Items) {
			changed = try(s, &step.Items, bare) || changed
		}
		changed = s.withoutSavepoints(step) || changed
		changed = tree.Shorten(&step.Items, 0, s.still) || changed
	}
	return changed
}

// lastCheckOnly removes all comparisons before the one that fails.
func (s *shrinker) lastCheckOnly() {
	last := s.c.Items()[max(s.failure.Item, 0):]
	var steps []*cases.Step
	for _, step := range s.c.Steps {
		items := slices.DeleteFunc(slices.Clone(step.Items), func(i *cases.Item) bool { return i.Kind == cases.Check && !slices.Contains(last, i) })
		steps = append(steps, &cases.Step{Items: items})
	}
	try(s, &s.c.Steps, steps)
}

// withoutSavepoints removes each savepoint with all that speaks of it.
func (s *shrinker) withoutSavepoints(step *cases.Step) bool {
	changed := false
	for _, item := range slices.Clone(step.Items) {
		name, ok := strings.CutPrefix(item.SQL.String(), "savepoint ")
		if !ok {
			continue
		}
		speaks := func(i *cases.Item) bool {
			return i.Kind == cases.Control && strings.HasSuffix(i.SQL.String(), " "+name)
		}
		changed = try(s, &step.Items, slices.DeleteFunc(slices.Clone(step.Items), speaks)) || changed
	}
	return changed
}

// tables removes tables with all that speaks of them.
func (s *shrinker) tables() bool {
	changed := false
	for _, tag := range s.c.Tables() {
		changed = s.without(tag) || changed
	}
	changed = tree.Shorten(&s.c.Schema, 0, s.still) || changed
	return tree.Shorten(&s.c.Rows, 0, s.still) || changed
}

func (s *shrinker) without(tag string) bool {
	before, rows, steps := s.c.Schema, s.c.Rows, s.c.Steps
	speaks := func(n *tree.Node) bool { return n.Tag == tag }
	s.c.Schema = slices.DeleteFunc(slices.Clone(before), speaks)
	s.c.Rows = slices.DeleteFunc(slices.Clone(rows), speaks)
	s.c.Steps = nil
	for _, step := range steps {
		items := slices.DeleteFunc(slices.Clone(step.Items), func(i *cases.Item) bool { return speaks(i.SQL) })
		s.c.Steps = append(s.c.Steps, &cases.Step{Items: items})
	}
	if s.still() {
		return true
	}
	s.c.Schema, s.c.Rows, s.c.Steps = before, rows, steps
	return false
}

// rows removes the first rows.
func (s *shrinker) rows() bool {
	changed := false
	for _, n := range s.c.Rows {
		changed = tree.Reduce(n, cases.Plain, s.still) || changed
	}
	return changed
}

// view makes queries smaller.
func (s *shrinker) view() bool {
	changed := false
	for _, v := range s.c.Views {
		changed = tree.Reduce(v.Query, cases.Plain, s.still) || changed
	}
	return changed
}

// statements makes smaller what changes rows and what makes tables.
func (s *shrinker) statements() bool {
	changed := false
	for _, item := range s.c.Items() {
		changed = tree.Reduce(item.SQL, cases.Plain, s.still) || changed
		if item.Data != nil {
			changed = tree.Reduce(item.Data, cases.Plain, s.still) || changed
		}
	}
	for _, n := range s.c.Schema {
		if s.c.PlainView(n.Tag) != nil {
			changed = tree.Reduce(n.Kids[0], cases.Plain, s.still) || changed
			continue
		}
		changed = s.reduceDefinition(n) || changed
	}
	return changed
}

// reduceDefinition removes constraints and the like; the columns go with their values only.
func (s *shrinker) reduceDefinition(n *tree.Node) bool {
	changed := false
	for list := range n.All() {
		if list.List == nil || list.List.Fixed {
			continue
		}
		for _, kid := range slices.Clone(list.Kids) {
			if kid.Tag == "" && len(list.Kids) > list.List.Min {
				rest := slices.DeleteFunc(slices.Clone(list.Kids), func(other *tree.Node) bool { return other == kid })
				changed = try(s, &list.Kids, rest) || changed
			}
		}
	}
	return changed
}

// columns removes columns that nothing needs, with their values.
func (s *shrinker) columns() bool {
	changed := false
	for _, tag := range s.c.Columns() {
		roots := append(slices.Clone(s.c.Schema), s.c.Rows...)
		for _, v := range s.c.Views {
			roots = append(roots, v.Query)
		}
		for _, item := range s.c.Items() {
			roots = append(roots, item.SQL)
			if item.Data != nil {
				roots = append(roots, item.Data)
			}
		}
		changed = tree.Drop(roots, tag, s.still) || changed
	}
	return changed
}
