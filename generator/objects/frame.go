package objects

import "github.com/pgsluice/sluice/generator/render"

// frame adds the functions that all stream tables share: they create, refresh and fill one that is named.
func (b *builder) frame(view render.Extension) {
	b.add("at_commit/pgt_commits.sql", view)
	b.add("at_commit/pgt_written.sql", view)
	for _, name := range []string{
		"pgt_stream_table_name", "pgt_time_was_up", "pgt_attach_stream_table", "pgt_fit_stream_table", "pgt_blow_fuse", "pgt_recompute_reason", "pgt_outbox_gets",
		"pgt_refresh_immediate", "pgt_refresh_differential", "pgt_refresh_full", "pgt_refresh", "pgt_digest", "pgt_try_stream_table", "pgt_recompute_readers", "pgt_cron_due",
		"pgt_tick", "pgt_any_due", "pgt_refresh_in_order", "pgt_agrees", "pgt_lock_paths", "refresh_stream_table", "pgt_fall_in_step", "pgt_fill_table",
		"pgt_fill",
	} {
		b.add("stream_table/"+name+".sql", view)
	}
	b.add("immediate/pgt_try_immediate.sql", view)
	maintain := part{"at_commit/pgt_maintain_written.sql", view}.create()
	b.addCreated(maintain)
	b.revoke(maintain) // pgt_at_commit() calls it as its owner; called by others, it would lose what their transaction writes next
	b.add("at_commit/pgt_at_commit.sql", view)
	b.add("at_commit/pgt_at_commit_trigger.sql", view)
	b.addStatement("grant", "nobody: pgt_at_commit is always called", "at_commit/pgt_at_commit_always.sql", view, "")
}
