package plan

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// Triggers on the sources of stream tables in immediate mode maintain these within the statement.

// capture notes which columns of which tables a stream table in immediate mode reads.
func (p *planner) capture(n int) {
	view := p.compiled.views[n]
	for _, need := range view.Needs {
		r := need.Table
		c := p.captures[r]
		if c == nil {
			c = p.newCapture(r)
			p.captures[r] = c
			p.captured = append(p.captured, r)
		}
		setColumns(&c.Source, r, inOrder(r, union(c.ColumnList, need.Columns)))
		c.Whole = c.Whole || need.Whole
		c.Readers = append(c.Readers, render.Name(p.spec.StreamTables[n].Relation))
	}
}

func (p *planner) newCapture(r *catalog.Relation) *render.Capture {
	source := p.source(r)
	base := "immediate_" + r.Schema + "_" + r.Name
	trigger := func(event string) string { return p.trigger("immediate_"+event, r) }
	source.Log, source.XidIndex = p.in("pending_"+r.Schema+"_"+r.Name), p.in("pending_"+r.Schema+"_"+r.Name+"_xid")
	source.Triggers = render.Triggers{
		OnInsert: trigger("insert"), OnUpdate: trigger("update"), OnDelete: trigger("delete"), OnTruncate: trigger("truncate"), OnRow: trigger("row"), OnRoute: trigger("route"),
	}
	return &render.Capture{
		Source: *source, SearchPath: ownPath, State: p.in("pgt_stream_table_state"), OnBefore: trigger("before"), OnEnd: trigger("written"), Part: r.PartOfOthers(),
		BeforeFn: p.in(base + "_before"), StatementFn: p.in(base + "_statement"), RowFn: p.in(base + "_row"), EndFn: p.in(base + "_end"),
	}
}

// completeImmediate completes a stream table in immediate mode.
func (p *planner) completeImmediate(n int, t *render.StreamTable) {
	view, base := p.compiled.views[n], p.base(&p.spec.StreamTables[n])
	t.EffectiveMode, t.Strategy, t.Reason = spec.RefreshImmediate, string(view.Strategy), ""
	t.Immediate, t.Direct = true, view.Immediate.Direct && len(p.readers(n)) == 0 && !p.readsPart(view)
	t.LockKey, t.Last, t.MaintainFn = lockKey(p.spec.Extension.Schema+"."+p.traced.first(aStreamTable, t.ID())), p.in(base+"_last_xid"), p.in(base+"_maintain")
	t.PlainSame, t.FollowsSettings, t.Bags = view.Storage.PlainSame, view.Immediate.FollowsSettings, view.Immediate.Bags
	names := map[*catalog.Relation]string{}
	t.PendingDelta = p.stated(t, view, ivm.Tables{Stored: t.Rows.String(), Places: "p_places", Few: "__few", Log: func(r *catalog.Relation) string {
		if r.Before != nil {
			return r.Name + "_delta"
		}
		if names[r] == "" {
			names[r] = fmt.Sprintf("changes%d", len(names)+1)
			t.Pending = append(t.Pending, render.Changes{Source: p.part(view, r), CTE: names[r]})
		}
		return names[r]
	}})
	if t.Grouped {
		t.Accumulate, t.ChangedIf, t.Emptied = view.Accumulate, view.ChangedIf("d"), view.Emptied("m")
		if t.Extremes = view.Immediate.Extremes; len(t.Extremes) > 0 && len(t.States) == 0 {
			t.Regained, t.LostIf, t.RegainFn = p.reading(t, view.Immediate.Regained), view.LostIf("m", "d"), p.in(base+"_regain")
		}
	} else if t.Direct {
		t.KeyColumns, t.AffectedRows = view.Immediate.KeyColumns, p.reading(t, view.Immediate.Recomputed)
	}
}

// readsPart reports whether a view reads a partition. Statement triggers of a partition do not fire for statements on its parent.
func (p *planner) readsPart(view *ivm.Plan) bool {
	return slices.ContainsFunc(view.Needs, func(n ivm.Need) bool { return n.Table.PartOfOthers() })
}

// inStatement is where a trigger finds the changes of its table.
func inStatement(*catalog.Relation) string { return "changes1" }

// transitionTables have the rows of an event that has only one.
var transitionTables = map[ivm.Event]string{ivm.Insert: "new_rows", ivm.Delete: "old_rows"}

// reading returns the common table expressions of a statement on the changes of one table.
func (p *planner) reading(t *render.StreamTable, s ivm.Statement) []string {
	return s.Lines(ivm.Tables{Stored: t.Rows.String(), Places: "p_places", Log: inStatement})
}

// checked lists the captured tables that a view reads: a statement on table r checks the types of their columns.
func (p *planner) checked(view *ivm.Plan, r *catalog.Relation) []render.Source {
	checked := []render.Source{p.part(view, r)}
	for _, need := range view.Needs {
		if c := p.captures[need.Table]; need.Table != r && c != nil && !c.Made {
			checked = append(checked, p.part(view, need.Table))
		}
	}
	return slices.DeleteFunc(checked, func(s render.Source) bool { return len(s.ColumnList) == 0 })
}

// part is a captured table with the columns that one view reads.
func (p *planner) part(view *ivm.Plan, r *catalog.Relation) render.Source {
	source := p.captures[r].Source
	setColumns(&source, r, view.Need(r).Columns)
	source.Whole = view.Need(r).Whole
	return source
}

// completeCaptures notes which stream tables the triggers of each captured table maintain.
func (p *planner) completeCaptures() []render.Capture {
	var all []render.Capture
	for _, r := range p.captured {
		c, chained := p.captures[r], false // stream tables that read others follow what is pending
		for i, n := range p.compiled.order {
			t := p.tables[i]
			switch {
			case !t.Immediate:
				continue
			case !t.Direct && p.follows(n, r):
				c.Locked = append(c.Locked, t)
				chained = chained || len(p.compiled.reads[n]) > 0
				switch {
				case c.Part || !slices.Contains(c.Readers, t.Table):
				case len(t.States) > 0:
					c.Stated = append(c.Stated, t)
				default:
					c.Alone = append(c.Alone, p.alone(n, t, r))
				}
			case t.Direct && slices.Contains(c.Readers, t.Table):
				c.Steps = append(c.Steps, p.direct(n, t, r))
			}
			if t.OwnPath != ownPath && slices.Contains(c.Readers, t.Table) {
				c.SearchPath = t.OwnPath
			}
		}
		if chained {
			c.Alone, c.Stated = nil, nil
		}
		for n := range c.Steps {
			c.Steps[n].No = n
		}
		for n := range c.Alone {
			c.Alone[n].No = len(c.Steps) + n
		}
		all = append(all, *c)
	}
	return all
}

// direct is how a stream table follows a statement by itself.
func (p *planner) direct(n int, t render.StreamTable, r *catalog.Relation) render.Step {
	return p.step(n, t, r, p.compiled.views[n].Immediate.Step())
}

// alone is how a locked stream table follows a statement that is the only one open: it alone changed anything. What reads it reads the same delta.
func (p *planner) alone(n int, t render.StreamTable, r *catalog.Relation) render.Step {
	followed := p.compiled.views[n].Immediate.Alone(r, len(t.Feeds) > 0)
	step := p.step(n, t, r, followed)
	step.Alone, step.Merged, step.Moved, step.Put = true, followed.Kind == ivm.AddToGroups, followed.Kind == ivm.MoveRows, followed.Kind == ivm.PutRows
	step.KeyColumns = followed.KeyColumns
	return step
}

// step writes how a stream table follows each kind of statement on a table.
func (p *planner) step(n int, t render.StreamTable, r *catalog.Relation, followed ivm.Step) render.Step {
	view := p.compiled.views[n]
	step := render.Step{
		StreamTable: t, Of: p.part(view, r), Checked: p.checked(view, r), Trigger: p.captures[r].StatementFn,
		Few: followed.Kind != ivm.AddToGroups || view.Reads > 1, Rereads: view.Immediate.Bags || view.Strategy == ivm.RescanKeys,
		ByEvent: map[string][]string{}, Effects: map[string]render.Effect{},
	}
	for _, e := range ivm.Events {
		tables := ivm.Tables{Stored: t.Rows.String(), Log: inStatement, Added: e == ivm.Insert, Taken: e == ivm.Delete}
		if step.Few {
			tables.Few = ivm.ForFew
		}
		if tables.Added || tables.Taken {
			tables.Log = func(*catalog.Relation) string { return transitionTables[e] }
			for _, source := range step.Checked {
				tables.Where = append(tables.Where, source.Checked())
			}
		}
		if e == ivm.Update && followed.Kind == ivm.PutRows {
			tables.Added, tables.Log = true, func(*catalog.Relation) string { return "came" }
		}
		step.ByEvent[string(e)] = followed.ByEvent[e].Lines(tables)
		step.Effects[string(e)] = render.Effect(followed.Effects[e])
	}
	return step
}

// lockKey is the key of an advisory lock. It is made of the first name: writers may hold it while an upgrade waits to give another.
func lockKey(name string) string {
	digest := md5.Sum([]byte("sluice stream table " + name))
	return fmt.Sprint(int64(binary.BigEndian.Uint64(digest[:8])))
}
