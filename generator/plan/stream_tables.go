package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// streamTables turns compiled views into view models.
func streamTables(s *spec.Spec, compiled *compiler, traced *Lineage) (plan render.Plan) {
	p := &planner{
		spec: s, compiled: compiled, traced: traced, outboxNames: s.OutboxNames(),
		sources: map[*catalog.Relation]*render.Source{}, captures: map[*catalog.Relation]*render.Capture{},
	}
	for _, n := range compiled.order {
		if p.immediate(n) {
			p.capture(n)
		} else {
			p.follow(n)
		}
	}
	for _, n := range compiled.order {
		p.tables = append(p.tables, p.table(n))
	}
	groups := p.maintenanceGroups()
	p.nameGroups(groups)
	for i := range p.tables {
		p.tables[i].Upstream = p.upstream(compiled.order[i])
		p.tables[i].Feeds = p.feeds(compiled.order[i])
		p.tables[i].Online = p.online(compiled.order[i], &p.tables[i])
	}
	for _, r := range p.order {
		plan.Sources = append(plan.Sources, *p.sources[r])
	}
	plan.RefreshGroups = p.refreshGroups()
	for _, group := range plan.RefreshGroups {
		for i := range p.tables {
			if contains(group, p.tables[i]) {
				p.tables[i].First = slices.MinFunc(group, byUpstream).ID()
			}
		}
		if len(group) > 1 {
			p.lockPaths(group)
		}
	}
	plan.StreamTables, plan.Captures = p.tables, p.completeCaptures()
	p.takeTurns(groups, plan.Captures)
	plan.MaintenanceGroups = p.completeGroups(groups, plan.Captures)
	return plan
}

// online reports whether a stream table is rebuilt beside its old rows. A stream table that others follow is not, because they would follow
// rows that readers do not see yet; in immediate mode writers fill it.
func (p *planner) online(n int, t *render.StreamTable) bool {
	return p.spec.StreamTables[n].Rebuild != spec.RebuildLocked && !t.Immediate && len(t.Feeds) == 0 && t.Shape.Name == ""
}

// lockPaths notes the locks that keep the sources of a refresh group unchanged: on their change logs, or on the sources themselves where they
// have none and PostgreSQL can lock them.
func (p *planner) lockPaths(group []render.StreamTable) {
	var logs, tables []string
	foreign := ""
	add := func(list *[]string, name render.Name) {
		if !slices.Contains(*list, name.String()) {
			*list = append(*list, name.String())
		}
	}
	for i, t := range p.tables {
		if !contains(group, t) {
			continue
		}
		for _, r := range p.compiled.views[p.compiled.order[i]].Sources {
			switch source := p.sources[r]; {
			case r.Kind == catalog.StreamTable:
			case source != nil:
				add(&logs, source.Log)
			default:
				add(&tables, nameOf(r))
				if r.Kind == catalog.Foreign {
					foreign = nameOf(r).Plain()
				}
			}
		}
	}
	for i := range p.tables {
		if !contains(group, p.tables[i]) {
			continue
		}
		p.tables[i].Seldom = false // each is filled by itself: the first tick makes them of one moment
		if p.readsDiamond(p.compiled.order[i]) {
			p.tables[i].Diamond, p.tables[i].PathLogs, p.tables[i].PathTables, p.tables[i].PathForeign = true, logs, tables, foreign
		}
	}
}

func contains(group []render.StreamTable, t render.StreamTable) bool {
	return slices.ContainsFunc(group, func(g render.StreamTable) bool { return g.Table == t.Table })
}

// table is what templates know of a stream table, but for what it takes to know all of them.
func (p *planner) table(n int) render.StreamTable {
	t, view := &p.spec.StreamTables[n], p.compiled.views[n]
	table := render.StreamTable{
		Extension: p.spec.Extension.Name, Schemas: schemasOf(p.spec), Path: p.path(t),
		StreamTableNames: p.names(t, view), Storage: storage(view), Timing: p.timing(n),
		Refresh: render.Refresh{RefreshMode: t.RefreshMode, EffectiveMode: spec.RefreshFull, Reason: p.reason(n), Strategy: string(ivm.Recompute)},
	}
	table.Definition = p.definition(n)
	table.Indexes = p.indexes(t, &table)
	p.recompute(&table, view)
	table.Compared = p.compared(n, &table)
	if inbox := p.inboxOf(t); inbox != nil {
		table.Grants = given(p.spec.Roles.Consumer, inbox.Roles.Consumer)
	}
	if p.immediate(n) {
		p.completeImmediate(n, &table)
	}
	if p.incremental(n) {
		table.EffectiveMode, table.Strategy = spec.RefreshDifferential, string(view.Strategy)
		if t.RefreshMode == spec.RefreshAtCommit {
			table.EffectiveMode, table.AtCommit = spec.RefreshAtCommit, true
		}
		p.addChanges(&table, view)
		if t.RefreshMode == spec.RefreshAuto {
			table.Most = recomputeShare(view)
		}
		if t.Fuse != nil {
			table.Fuse = fmt.Sprint(*t.Fuse)
		}
	}
	for _, need := range p.watched(n) {
		table.Logs = append(table.Logs, *p.sources[need.Table])
	}
	table.Check, table.CheckEvery = checkEvery(t, table.EffectiveMode)
	table.Outbox = p.outbox(n, &table)
	return table
}

// recompute says how everything is computed.
func (p *planner) recompute(table *render.StreamTable, view *ivm.Plan) {
	if !view.Whole() && !slices.Equal(table.Visible, table.Stored) {
		table.RowsSQL = view.Recompute.Rows()
	}
	query := ivm.Query{SQL: table.Computes, Stored: table.Rows.String()}
	if view.Strategy != ivm.MergeRows && (table.Grouped || table.RowsSQL == "") {
		query.Computed = fmt.Sprintf("%s(null::%s)", table.ComputedFn, table.Rows)
	} else {
		table.ComputedFn = render.Name{}
	}
	table.Rebuild, table.RebuildSigned = view.Recompute.Lines(query, false), view.Recompute.Lines(query, true)
}

// recomputeShare is the share of a table's rows from which on computing everything is cheaper than following changes, as measured: an update
// counts twice. Where least and greatest values go, or groups are recomputed, much of the table is read for each change; groups over a join are
// computed in parallel.
func recomputeShare(view *ivm.Plan) string {
	switch {
	case len(view.Immediate.Extremes) > 0:
		return "0.04"
	case view.Strategy == ivm.RescanKeys:
		return "0.1"
	case view.Strategy == ivm.MergeGroups && !view.AddsUp:
		return "0.13"
	}
	return "0.2"
}

// addChanges says how a stream table follows its sources' logs.
func (p *planner) addChanges(t *render.StreamTable, view *ivm.Plan) {
	names := map[*catalog.Relation]string{}
	log := func(r *catalog.Relation) string {
		if r.Clock {
			return "(select s.moment from " + t.State.String() + " s where s.stream_table = __self)"
		}
		if r.Before != nil {
			return r.Name + "_delta"
		}
		if names[r] == "" {
			source, need := *p.sources[r], view.Need(r)
			source.Bounded = t.AtCommit
			setColumns(&source, r, need.Columns)
			source.Whole = need.Whole
			changes := render.Changes{Source: source, Few: "__few"}
			if len(view.Sources) > 1 && !t.AtCommit {
				changes.Few += strconv.Itoa(len(names) + 1)
			}
			if view.Raw {
				names[r] = source.Unread(changes.Few, t.FewAtMost())
			} else {
				names[r] = fmt.Sprintf("changes%d", len(names)+1)
				changes.CTE, changes.Where = names[r], view.Chosen(r, "c")
			}
			t.Changes = append(t.Changes, changes)
			t.Logs = append(t.Logs, source)
		}
		return names[r]
	}
	t.Moves = view.Moves != nil
	tables := view.Tables(ivm.Tables{Log: log, Stored: t.Rows.String(), Raw: view.Raw})
	if view.Reads > 1 || view.Strategy == ivm.RescanKeys || view.Apply.Repeats() || len(view.States) > 0 {
		tables.Few = "__few"
	}
	t.Delta = p.stated(t, view, tables)
}

// reason says why a stream table is recomputed.
func (p *planner) reason(n int) string {
	if p.spec.StreamTables[n].RefreshMode == spec.RefreshFull {
		return "refresh_mode is full"
	}
	var reasons []string
	for _, r := range p.compiled.views[n].Full {
		reasons = append(reasons, fmt.Sprintf("%s at line %d", r.What, r.Pos.Line))
	}
	if len(reasons) == 0 {
		return ""
	}
	return "cannot be followed: " + strings.Join(reasons, ", ")
}
