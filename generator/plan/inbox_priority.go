package plan

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
)

// priorityColumn is the column of an inbox's table that decides. The name of a managed inbox's column stands for that which a table of the user's has for it.
func priorityColumn(i *spec.Inbox) render.ColumnName {
	if !i.Managed() && i.Columns != nil && i.Priority.Column == "event_type" {
		return render.ColumnName(i.Columns.EventType)
	}
	return render.ColumnName(i.Priority.Column)
}

// priorityOf gives inbox v its priority.
func priorityOf(s *spec.Spec, i *spec.Inbox, v *render.Inbox) {
	internal := func(suffix string) render.Name { return schemasOf(s).InInternal(spec.DerivedName(i.Name + suffix)) }
	p := &render.Priority{
		Column: priorityColumn(i), MaxWait: i.Priority.MaxWait.Interval(),
		Backlog: internal("_by_priority"), DueIndex: internal("_by_priority_due"),
		ChangedFn: internal("_priority_changed"), FillFn: internal("_priority_fill"),
		ClaimTurn: internal("_claim_turn"),
	}
	v.Priority = p
	if len(i.Priority.Tiers) > 0 {
		v.Columns.Priority = p.Column
	}
	var levels []int
	for _, entry := range i.Priority.Map {
		p.Map = append(p.Map, render.Mapped{Value: entry.Value, Level: entry.Priority})
		levels = append(levels, entry.Priority)
	}
	rest := spec.LowestPriority
	for _, tier := range i.Priority.Tiers {
		view := render.Name{Schema: i.DerivedSchema(s.Extension), Name: spec.DerivedName("pending_" + i.Name + "_" + tier.Name)}
		p.Tiers = append(p.Tiers, render.Tier{Inbox: *v, Tier: tier.Name, Min: tier.Min, Max: tier.Max, View: view, Every: tier.Schedule.String()})
		levels = append(levels, tier.Min)
		rest = spec.LowestPriority + 1 // below the tiers
	}
	levels = append(levels, rest)
	slices.Sort(levels)
	for _, level := range slices.Compact(levels) {
		p.Levels = append(p.Levels, render.Level{Inbox: *v, Level: level, Cursor: internal(fmt.Sprintf("_claim_cursor_%d", level))})
	}
}
