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

func orderingOf(s *spec.Spec, i *spec.Inbox) *render.Ordering {
	o := i.Ordering
	in := func(prefix string) render.Name {
		return render.Name{Schema: i.Relation.Schema, Name: spec.DerivedName(prefix + i.Relation.Name)}
	}
	internal := func(suffix string) render.Name { return schemasOf(s).InInternal(spec.DerivedName(i.Name + suffix)) }
	v := &render.Ordering{
		Aggregate: render.ColumnName(o.Aggregate), Sequence: render.ColumnName(o.Sequence), Timestamps: o.Sequence == receivedAt,
		Contiguous: waitsForNumbers(*i), Start: o.Start, Skips: o.OnDeadLetter == spec.DeadLetterSkip,
		Lock:    firstLockKey("sluice inbox " + s.Extension.Schema + " " + i.Name),
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
