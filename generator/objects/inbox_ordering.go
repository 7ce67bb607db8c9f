package objects

import "github.com/pgsluice/sluice/generator/render"

// ordering adds what hands out the messages of each aggregate in sequence, but for the claim.
func (b *builder) ordering(i render.Inbox) {
	b.add("inbox/backlog.sql", i)
	b.add("inbox/backlog_due.sql", i)
	b.add("inbox/backlog_changed.sql", i)
	b.add("inbox/backlog_fill.sql", i)
	if !i.ByRow() {
		b.add("inbox/backlog_marked.sql", i)
	}
	if i.Own == nil {
		b.add("inbox/backlog_trigger.sql", i, fires("always"))
		b.add("inbox/backlog_updated_trigger.sql", i, fires("always"))
		b.add("inbox/backlog_marked_trigger.sql", i)
		b.add("inbox/backlog_applied_trigger.sql", i, fires("replica"))
	}
	b.add("inbox/next_view.sql", i)
	if i.Ordering.Contiguous {
		b.add("inbox/backlog_gaps.sql", i)
		b.add("inbox/gaps_view.sql", i)
	}
}
