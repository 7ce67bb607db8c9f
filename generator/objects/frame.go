package objects

import "github.com/pgsluice/sluice/generator/render"

// frame adds the functions that all stream tables share: they create, refresh and fill one that is named.
func (b *builder) frame(view render.Extension) {
	if view.AnyAtCommit() {
		b.add("at_commit/pgt_commits.sql", view)
		b.add("at_commit/pgt_written.sql", view)
	}
	for _, f := range []struct {
		template string
		used     bool
	}{
		{"pgt_stream_table_name", true}, {"pgt_time_was_up", true},
		{"pgt_attach_stream_table", true},
		{"pgt_fit_stream_table", true},
		{"pgt_blow_fuse", view.AnyFuse()}, {"pgt_recompute_reason", view.Counts()},
		{"pgt_outbox_gets", len(view.MadeOutboxes()) > 0}, {"pgt_refresh_immediate", view.AnyImmediate() && view.AnyDeferred()},
		{"pgt_refresh_differential", view.AnyDelta()}, {"pgt_refresh_full", view.RefreshesInSteps()}, {"pgt_refresh", true},
		{"pgt_digest", view.AnyDelta() || view.AnyImmediate()}, {"pgt_try_stream_table", view.AnyDelta()},
		{"pgt_recompute_readers", view.Chained()}, {"pgt_cron_due", view.AnyCron()}, {"pgt_tick", true},
		{"pgt_refresh_group", view.HasRefreshGroups()}, {"pgt_any_due", view.HasRefreshGroups()},
		{"pgt_refresh_in_order", view.Diamonds() || view.HasRefreshGroups()}, {"pgt_agrees", view.Diamonds() || view.HasRefreshGroups()}, {"pgt_lock_paths", view.Diamonds()},
		{"refresh_stream_table", true}, {"pgt_fall_in_step", view.AnyAtCommit()}, {"pgt_fill_table", true}, {"pgt_fill", true},
	} {
		if f.used {
			b.add("stream_table/"+f.template+".sql", view)
		}
	}
	if view.AnyImmediate() {
		b.add("immediate/pgt_try_immediate.sql", view)
	}
	if view.AnyAtCommit() {
		maintain := part{"at_commit/pgt_maintain_written.sql", view}.create()
		b.addCreated(maintain)
		b.revoke(maintain) // pgt_at_commit() calls it as its owner; called by others, it would lose what their transaction writes next
		b.add("at_commit/pgt_at_commit.sql", view)
		b.add("at_commit/pgt_at_commit_trigger.sql", view)
		b.addStatement("grant", "nobody: pgt_at_commit is always called", "at_commit/pgt_at_commit_always.sql", view, "")
	}
}
