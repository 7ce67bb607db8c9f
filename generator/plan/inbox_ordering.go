package plan

import (
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
)

// receivedAt is the sequence that a managed inbox has without a column of its own.
const receivedAt = "received_at"

// waitsForNumbers reports whether an inbox keeps which numbers are processed.
func waitsForNumbers(i spec.Inbox) bool {
	return i.Ordering != nil && i.Ordering.Mode == spec.OrderingContiguous
}

// orderColumns are the columns of an inbox's table that its ordering goes by. The names of a managed inbox's columns stand for those that a table of the
// user's has for them.
func orderColumns(i *spec.Inbox) (aggregate, sequence string) {
	aggregate, sequence = i.Ordering.Aggregate, i.Ordering.Sequence
	if i.Managed() {
		return aggregate, sequence
	}
	names := spec.DefaultColumns()
	if i.Columns != nil {
		names = *i.Columns
	}
	if aggregate == "aggregate_id" {
		aggregate = names.AggregateID
	}
	if sequence == receivedAt {
		sequence = names.ReceivedAt
	}
	return aggregate, sequence
}

// orderingOf is the ordering of an inbox; timed says that the sequence is a timestamp.
func orderingOf(s *spec.Spec, i *spec.Inbox, timed bool) *render.Ordering {
	o := i.Ordering
	in := func(prefix string) render.Name {
		return render.Name{Schema: i.DerivedSchema(s.Extension), Name: spec.DerivedName(prefix + i.Name)}
	}
	internal := func(suffix string) render.Name { return schemasOf(s).InInternal(spec.DerivedName(i.Name + suffix)) }
	aggregate, sequence := orderColumns(i)
	v := &render.Ordering{
		Aggregate: render.ColumnName(aggregate), Sequence: render.ColumnName(sequence), Timestamps: timed,
		Contiguous: waitsForNumbers(*i), Start: o.Start, Skips: o.OnDeadLetter == spec.DeadLetterSkip,
		Lock:    render.LockKey("sluice inbox " + s.Extension.Schema + " " + i.Name),
		Backlog: internal("_backlog"), DueIndex: internal("_backlog_due"), GapIndex: internal("_backlog_gaps"),
		ChangedFn: internal("_backlog_changed"), MarkedFn: internal("_backlog_marked"), FillFn: internal("_backlog_fill"),
		NextView: in("next_"), GapsView: in("gaps_"),
	}
	if v.Timestamps { // another type, so another table: what stands in it is computed anew
		v.Backlog, v.DueIndex = internal("_backlog_by_time"), internal("_backlog_by_time_due")
	}
	if o.GapAlertAfter != nil {
		v.AlertAfter = o.GapAlertAfter.Interval()
	}
	return v
}
