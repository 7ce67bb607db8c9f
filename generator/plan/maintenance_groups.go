package plan

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// maintenanceGroups groups the stream tables in immediate mode that follow the same tables, directly or through others. One that reads no table of users
// never changes and has none.
func (p *planner) maintenanceGroups() [][]int {
	group := make([]int, len(p.compiled.order)) // by place in the order: the place of the group's first
	for i := range group {
		group[i] = i
	}
	changes := func(n int) bool {
		return p.immediate(n) && slices.ContainsFunc(p.captured, func(r *catalog.Relation) bool { return r.Kind != catalog.StreamTable && p.follows(n, r) })
	}
	for _, r := range p.captured {
		var members []int
		for i, n := range p.compiled.order {
			if changes(n) && p.follows(n, r) {
				members = append(members, i)
			}
		}
		merge(group, members)
	}
	var groups [][]int
	for i, n := range p.compiled.order {
		var members []int
		for j := range group {
			if group[j] == i {
				members = append(members, j)
			}
		}
		if len(members) > 0 && changes(n) {
			groups = append(groups, members)
		}
	}
	return groups
}

// groupOf names the objects that the members of a maintenance group share, after its first member.
func (p *planner) groupOf(members []int) render.MaintenanceGroup {
	base := p.base(&p.spec.StreamTables[p.compiled.order[members[0]]])
	return render.MaintenanceGroup{
		Schemas: schemasOf(p.spec), State: p.in("pgt_stream_table_state"),
		PendingFn: p.in(base + "_apply_pending"),
	}
}

// nameGroups sets the maintenance group of stream tables and captures.
func (p *planner) nameGroups(groups [][]int) {
	for n, members := range groups {
		f := p.groupOf(members)
		for _, i := range members {
			p.tables[i].PendingFn = f.PendingFn
			for _, r := range p.captured {
				if p.follows(p.compiled.order[i], r) {
					p.captures[r].PendingFn, p.captures[r].Counts = f.PendingFn, fmt.Sprintf("_%d", n+1)
				}
			}
		}
	}
}

// takeTurns numbers the maintenance groups in which writers of several tables may stand in each other's way: what one table has them lock is not what
// another does.
func (p *planner) takeTurns(groups [][]int, captures []render.Capture) {
	var locks [][]string
	for _, c := range captures {
		if c.Made || len(c.Locked) == 0 {
			continue
		}
		var keys []string
		for _, t := range c.Locked {
			keys = append(keys, t.LockKey)
		}
		locks = append(locks, keys)
	}
	if len(locks) < 2 || !slices.ContainsFunc(locks, func(keys []string) bool { return !slices.Equal(keys, locks[0]) }) {
		return
	}
	for n, members := range groups {
		for i := range captures {
			if c := &captures[i]; c.PendingFn == p.groupOf(members).PendingFn && !c.Made && len(c.Locked) > 0 {
				c.TurnNo, c.Place, c.Turn = n+1, i+1, p.turnOf(members)
			}
		}
	}
}

// turnOf is the sequence that tells which turns writers of a maintenance group take.
func (p *planner) turnOf(members []int) render.Name {
	return p.in(p.base(&p.spec.StreamTables[p.compiled.order[members[0]]]) + "_turn")
}

// completeGroups lists the members and captured tables of each maintenance group.
func (p *planner) completeGroups(groups [][]int, captures []render.Capture) []render.MaintenanceGroup {
	var all []render.MaintenanceGroup
	for _, members := range groups {
		f := p.groupOf(members)
		for _, i := range members {
			f.Members = append(f.Members, p.tables[i])
		}
		for _, c := range captures {
			if c.PendingFn == f.PendingFn {
				f.Captures = append(f.Captures, c)
				if c.TurnNo > 0 {
					f.Turn = c.Turn
				}
			}
		}
		all = append(all, f)
	}
	return all
}
