package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// planner lays out the stream tables of a spec.
type planner struct {
	spec     *spec.Spec
	compiled *compiler
	traced   *Lineage
	sources  map[*catalog.Relation]*render.Source
	order    []*catalog.Relation
	captures map[*catalog.Relation]*render.Capture
	captured []*catalog.Relation
	tables   []render.StreamTable

	outboxNames []spec.OutboxNames // of each stream table of the spec
}

// in names an object that users do not call or read by its name.
func (p *planner) in(full string) render.Name {
	return schemasOf(p.spec).InInternal(spec.DerivedName(full))
}

// incremental reports whether a stream table is kept up to date by changes.
func (p *planner) incremental(n int) bool {
	return p.compiled.views[n].Strategy != ivm.Recompute && p.spec.StreamTables[n].RefreshMode != spec.RefreshFull && !p.immediate(n)
}

// immediate reports whether a stream table is in immediate mode.
func (p *planner) immediate(n int) bool {
	return p.spec.StreamTables[n].RefreshMode == spec.RefreshImmediate
}

// follows reports whether a stream table changes with a table in the same statement.
func (p *planner) follows(n int, r *catalog.Relation) bool {
	if p.compiled.views[n].Follows(r) {
		return true
	}
	return slices.ContainsFunc(p.compiled.reads[n], func(m int) bool { return p.immediate(m) && p.follows(m, r) })
}

// readers are the stream tables that follow one by its changes.
func (p *planner) readers(n int) []int {
	var readers []int
	for m := range p.compiled.reads {
		if slices.Contains(p.compiled.reads[m], n) && (p.immediate(m) || p.incremental(m)) {
			readers = append(readers, m)
		}
	}
	return readers
}

func (p *planner) source(r *catalog.Relation) *render.Source {
	base := "changes_" + r.Schema + "_" + r.Name
	trigger := func(event string) string { return p.trigger("log_"+event, r) }
	return &render.Source{
		Extension: p.spec.Extension.Name, Schemas: schemasOf(p.spec),
		Table: render.Name{Schema: r.Schema, Name: r.Name}, Made: r.Kind == catalog.StreamTable,
		Log: p.in(base), XidIndex: p.in(base + "_xid"), MarkIndex: p.in(base + "_truncated"), ChangeNo: p.in("pgt_change_no"),
		Triggers: render.Triggers{
			OnInsert: trigger("insert"), OnUpdate: trigger("update"), OnDelete: trigger("delete"), OnTruncate: trigger("truncate"), OnRow: trigger("row"), OnRoute: trigger("route"),
		},
		CaptureFn: p.in(base + "_capture"), UnreadFn: p.in("unread_" + r.Schema + "_" + r.Name),
		CountFn: p.in("unread_" + r.Schema + "_" + r.Name + "_count"), State: p.in("pgt_stream_table_state"),
	}
}

// trigger names a trigger on a table. The name contains the table, because partitions get copies of the triggers of several tables above them
// and can be sources themselves. An inbox keeps its first name here, since its triggers stay when it is renamed.
func (p *planner) trigger(event string, r *catalog.Relation) string {
	name := r.Name
	if r.Schema == p.spec.Extension.Schema {
		name = p.traced.first(anInbox, name)
	}
	return spec.DerivedName(p.spec.Extension.Name + "_" + event + "_" + r.Schema + "_" + name)
}

// base is the prefix of the names of a stream table's objects.
func (p *planner) base(t *spec.StreamTable) string {
	if t.Relation.Schema == p.spec.Extension.Schema {
		return t.Relation.Name
	}
	return t.Relation.Schema + "_" + t.Relation.Name
}

// path is where in the spec a stream table comes from.
func (p *planner) path(t *spec.StreamTable) string {
	if i := p.inboxOf(t); i != nil {
		return "inboxes." + i.Name
	}
	return "stream_tables." + t.Name
}

// inboxOf is the inbox that a stream table stands for a relation of; nil if none.
func (p *planner) inboxOf(t *spec.StreamTable) *spec.Inbox {
	for n := range p.spec.Inboxes {
		if i := &p.spec.Inboxes[n]; i.Materialize && i.At == t.At {
			return i
		}
	}
	return nil
}
