package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// refreshGroups groups the stream tables in the order of their refreshes. A stream table that reads a source through several paths must be
// refreshed from one snapshot with the stream tables on these paths, or it would join old rows with new ones. Every other stream table forms a
// group of its own.
func (p *planner) refreshGroups() [][]render.StreamTable {
	group := make([]int, len(p.compiled.order)) // by place in the order: the place of the group's first
	for i := range group {
		group[i] = i
	}
	for i, n := range p.compiled.order {
		if p.immediate(n) || p.atCommit(n) || !p.diamond(n) {
			continue
		}
		members := []int{i}
		p.each(n, func(m int) { members = append(members, slices.Index(p.compiled.order, m)) })
		merge(group, members)
	}
	var groups [][]render.StreamTable
	for i := range group {
		if group[i] != i {
			continue
		}
		var tables []render.StreamTable
		for j := range group {
			if group[j] == i {
				tables = append(tables, p.tables[j])
			}
		}
		groups = append(groups, tables)
	}
	return groups
}

// merge makes one group of the members' groups.
func merge(group, members []int) {
	first := len(group)
	for _, m := range members {
		first = min(first, group[m])
	}
	old := map[int]bool{}
	for _, m := range members {
		old[group[m]] = true
	}
	for i := range group {
		if old[group[i]] {
			group[i] = first
		}
	}
}

// readsDiamond reports whether a stream table, or one that it reads, is a diamond's.
func (p *planner) readsDiamond(n int) bool {
	found := p.diamond(n)
	p.each(n, func(m int) { found = found || p.diamond(m) })
	return found
}

// diamond reports whether a stream table reads something by several ways, one of them through another stream table.
func (p *planner) diamond(n int) bool {
	seen := map[*catalog.Relation]bool{}
	found := false
	note := func(tables map[*catalog.Relation]bool) {
		for r := range tables {
			found = found || seen[r]
		}
		for r := range tables {
			seen[r] = true
		}
	}
	own := map[*catalog.Relation]bool{}
	for _, r := range p.compiled.views[n].Sources {
		if r.Kind != catalog.StreamTable {
			own[r] = true
		}
	}
	note(own)
	for _, m := range unique(p.compiled.reads[n]) {
		below := map[*catalog.Relation]bool{}
		p.each(m, func(k int) { p.addTables(k, below) })
		p.addTables(m, below)
		note(below)
	}
	return found
}

func (p *planner) addTables(n int, tables map[*catalog.Relation]bool) {
	for _, r := range p.compiled.views[n].Sources {
		tables[r] = true
	}
}

// each visits the stream tables that one reads, directly or not.
func (p *planner) each(n int, visit func(int)) {
	for _, m := range unique(p.compiled.reads[n]) {
		visit(m)
		p.each(m, visit)
	}
}

func unique(all []int) []int {
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
}
