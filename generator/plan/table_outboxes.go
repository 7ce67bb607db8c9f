package plan

import (
	"crypto/md5"
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
)

// outbox builds the view model of the outbox that a stream table has or can be given; nil if it can have none.
func (p *planner) outbox(n int, t *render.StreamTable) *render.Outbox {
	of := &p.spec.StreamTables[n]
	if of.Outbox == nil && (t.Immediate || !p.spec.CreatesOutboxes()) || t.Shape.Name != "" || t.Limited() {
		return nil
	}
	names := p.outboxNames[n]
	o := &render.Outbox{
		Consumers: given(p.spec.Roles.Consumer), Monitors: given(p.spec.Roles.Monitor),
		Extension: t.Extension, Schemas: t.Schemas, Path: t.Path, Name: t.ID(),
		StreamTable: t.ID(), PgtName: t.Table.Name, PgtID: pgtID(p.spec, p.traced.first(aStreamTable, t.ID())), Immediate: t.Immediate, Asked: of.Outbox != nil,
		OnFullRefresh: spec.FullRefreshDelta, IdlePolicy: spec.IdleAlert,
		Table: t.In(names.Table), DeltaRows: t.In(names.DeltaRows), Latest: t.In(names.Latest), IDs: t.In(names.IDs), Pending: t.InInternal(names.Pending),
		Shown: t.Table, Rows: t.Rows, State: t.State, SearchPath: t.OwnPath,
		Prefix: spec.FunctionPrefix("table_outbox_" + p.base(of)), TickNotifies: t.Immediate || t.EffectiveMode == spec.RefreshAtCommit,
	}
	o.MakeFn, o.UnmakeFn, o.PublishFn, o.FlushFn = o.OwnFn("make"), o.OwnFn("unmake"), o.OwnFn("tell"), o.OwnFn("flush")
	if o.Immediate {
		for _, event := range []string{"insert", "update", "delete", "truncate"} {
			o.Changed = append(o.Changed, render.Changed{
				Event: event, Trigger: spec.DerivedName(t.Extension + "_outbox_" + event), Fn: o.OwnFn(event),
			})
		}
	}
	if options := of.Outbox; options != nil {
		o.Roles = render.Roles{Consumer: options.Roles.Consumer, Monitor: options.Roles.Monitor}
		o.Consumers = given(p.spec.Roles.Consumer, options.Roles.Consumer)
		o.Monitors = given(p.spec.Roles.Monitor, options.Roles.Monitor)
		o.OnFullRefresh, o.Lenient = options.OnFullRefresh, options.OnColumnChange == spec.ColumnChangeFullRefresh
		if options.Retention != nil {
			o.Retention = options.Retention.Interval()
		}
		if options.InlineThresholdRows != nil {
			o.InlineThreshold = fmt.Sprint(*options.InlineThresholdRows)
		}
	}
	return o
}

// given are the roles that the spec names.
func given(roles ...string) []string {
	return slices.DeleteFunc(roles, func(name string) bool { return name == "" })
}

// pgtID is the uuid by which consumers identify a stream table. It is the same in every database and survives renames.
func pgtID(s *spec.Spec, name string) string {
	digest := md5.Sum([]byte("sluice stream table " + s.Extension.Schema + " " + name))
	return fmt.Sprintf("%x-%x-%x-%x-%x", digest[:4], digest[4:6], digest[6:8], digest[8:10], digest[10:])
}
