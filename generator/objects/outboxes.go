package objects

import (
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// outboxCatalog adds the tables that all outboxes and consumer groups share.
func (b *builder) outboxCatalog(view render.Extension) {
	b.add("catalog/pgt_outboxes.sql", view)
	b.add("catalog/pgt_outbox_state.sql", view, dumped)
	b.add("catalog/pgt_outbox_config.sql", view)
	b.add("group/pgt_group_no.sql", view, dumped)
	for _, name := range []string{"pgt_consumer_groups", "pgt_lease_log", "pgt_consumers", "pgt_consumer_claim_check_acks"} {
		b.add("group/"+name+".sql", view, dumped)
	}
	if len(view.TypedOutboxes()) > 0 {
		b.add("group/pgt_passed_rows.sql", view, dumped)
		b.add("group/pgt_passed_rows_type.sql", view)
	}
	b.add("group/pgt_consumer_dead_letters.sql", view, holds)
}

// outbox adds everything of one outbox, tables first.
func (b *builder) outbox(o render.Outbox) {
	if o.Event {
		b.origins["publication "+sqltext.Ident(o.Publication)] = b.at
		b.add("outbox/table.sql", o, holds)
		b.add("outbox/ids.sql", o, dumped, goesWithTable)
		if o.Segmented() {
			b.add("outbox/default.sql", o, holds)
		}
		if o.OrderingKey != "" {
			b.add("outbox/lane_index.sql", o)
			b.add("outbox/mark_key.sql", o)
			b.add("outbox/mark_key_trigger.sql", o)
		}
		if o.Notify != nil {
			b.add("shared/notify_trigger.sql", o.Notify, within(outboxSection))
		}
		if o.Archive.Name != "" {
			b.add("outbox/archive.sql", o, holds)
		}
		b.add("outbox/cloudevents_view.sql", o)
		b.add("outbox/debezium_view.sql", o)
	}
	if o.Made() {
		b.madeOutbox(o)
	}
	b.addStatement("row", "pgt_outboxes: "+o.Name, "catalog/pgt_outbox_row.sql", o, "")
	b.addTask(o.Schemas, o.DrainTask(), outboxSection)
}

// consumerGroups adds the functions of consumer groups and those that all outboxes share.
func (b *builder) consumerGroups(view render.Extension) {
	ordered := len(view.OrderedOutboxes()) > 0
	for _, name := range []string{
		"outbox/pgt_outbox_ids", "outbox/pgt_outbox_visible", "outbox/pgt_publishers",
	} {
		b.add(name+".sql", view)
	}
	if len(view.TypedOutboxes()) > 0 {
		b.add("outbox/pgt_outbox_types.sql", view)
	}
	if ordered {
		for _, name := range []string{"pgt_outbox_next", "pgt_lanes_seen", "pgt_lane_next", "pgt_lane_waiting"} {
			b.add("outbox/"+name+".sql", view)
		}
	}
	for _, name := range []string{"group/pgt_outbox_name", "group/pgt_lease_heads", "group/pgt_group_state"} {
		b.add(name+".sql", view)
	}
	if len(view.SegmentedOutboxes())+len(view.ArchivedOutboxes()) > 0 {
		b.add("outbox/pgt_safe_point.sql", view)
	}
	if len(view.SegmentedOutboxes()) > 0 {
		b.add("outbox/pgt_outbox_done.sql", view)
	}
	for _, o := range view.Outboxes {
		if o.Segmented() {
			b.add("outbox/segment.sql", o)
			b.add("outbox/retire.sql", o)
		}
	}
	if len(view.MadeOutboxes()) > 0 {
		b.add("outbox/enable_outbox.sql", view)
		b.add("outbox/disable_outbox.sql", view)
		b.add("outbox/pgt_awaits_ack.sql", view)
		b.add("group/outbox_rows_consumed.sql", view)
	}
	b.add("outbox/pgt_outbox_drain.sql", view)
	if len(view.EventOutboxes()) > 0 {
		b.add("outbox/pgt_publication.sql", view)
		b.add("outbox/outbox_publish.sql", view)
		b.add("outbox/outbox_publish_many.sql", view)
	}
	for _, name := range []string{"outbox_status", "pgt_watch_outboxes"} {
		b.add("outbox/"+name+".sql", view)
	}
	for _, name := range []string{
		"pgt_group", "pgt_held_groups", "pgt_lock_group", "pgt_count_ids", "pgt_dead_letter", "pgt_narrow_gaps", "pgt_settle", "pgt_grant_again",
	} {
		b.add("group/"+name+".sql", view)
	}
	if ordered {
		for _, name := range []string{"pgt_lock_leases", "pgt_give_back_lanes", "pgt_watermark", "pgt_grant_lanes", "pgt_commit_lanes"} {
			b.add("group/"+name+".sql", view)
		}
	}
	b.add("group/pgt_give_back.sql", view)
	if len(view.PlainOutboxes()) > 0 {
		b.add("group/pgt_is_left.sql", view)
	}
	if len(view.TypedOutboxes()) > 0 {
		for _, name := range []string{"pgt_pass_over", "pgt_sort_rows", "pgt_grant_passed"} {
			b.add("group/"+name+".sql", view)
		}
	}
	for _, name := range []string{
		"pgt_start", "create_consumer_group", "drop_consumer_group", "poll_outbox", "pgt_require_lease", "pgt_take_rows", "commit_offset", "ack_rows", "reject_rows", "release_rows", "leave_group", "replay_dead_letters", "discard_group_dead_letters",
		"extend_lease", "seek_offset", "consumer_heartbeat", "pause_group", "resume_group",
		"pgt_consumer_offsets", "pgt_consumer_leases", "pgt_consumer_active_leases", "pgt_consumer_status", "pgt_consumer_group_lag", "consumer_lag",
		"pgt_trim_leases", "pgt_watch_consumers",
	} {
		b.add("group/"+name+".sql", view)
	}
	b.add("outbox/pgt_watch_sequences.sql", view)
	b.addTask(view.Schemas, render.GroupsTask, sharedSection)
}

// madeOutbox adds the functions that create, write and drop the outbox of a stream table, and claims the names of the relations that they
// create.
func (b *builder) madeOutbox(o render.Outbox) {
	for _, name := range []render.Name{o.Table, o.DeltaRows, o.Latest, o.IDs} {
		b.claimName(sqltext.Statement{Kind: "table", Schema: name.Schema, Name: name.Name})
	}
	b.add("outbox/make.sql", o)
	b.add("outbox/unmake.sql", o)
	b.add("outbox/publish.sql", o)
	if o.Immediate {
		b.add("outbox/flush.sql", o)
	}
}

// outboxTriggers adds the trigger functions that publish the changes of a stream table in immediate mode.
func (b *builder) outboxTriggers(t render.StreamTable) {
	for _, c := range t.Outbox.Changed {
		b.add("outbox/changed.sql", render.ChangedIn{StreamTable: t, Changed: c})
	}
}
