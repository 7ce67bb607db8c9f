package objects

import (
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// outboxCatalog adds the tables that all outboxes and consumer groups share.
func (b *builder) outboxCatalog(view render.Extension) {
	b.add("catalog/pgt_outboxes.sql", view)
	b.add("catalog/pgt_outbox_state.sql", view, dumped)
	b.add("catalog/pgt_outbox_config.sql", view)
	b.add("catalog/pgt_outbox_groups.sql", view)
	b.add("group/pgt_group_no.sql", view, dumped)
	for _, name := range []string{"pgt_consumer_groups", "pgt_lease_log", "pgt_consumers", "pgt_consumer_claim_check_acks"} {
		b.add("group/"+name+".sql", view, dumped)
	}
	b.add("group/pgt_passed_rows.sql", view, dumped)
	b.add("group/pgt_passed_rows_type.sql", view)
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
			b.add("outbox/segment.sql", o)
			b.add("outbox/retire.sql", o)
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
	b.ownFunctions(o)
	b.addStatement("row", "pgt_outboxes: "+o.Name, "catalog/pgt_outbox_row.sql", o, "")
	b.addTask(o.Schemas, o.DrainTask(), outboxSection)
}

// specGroups adds the rows of the consumer groups that exist from the start.
func (b *builder) specGroups(p *plan.Plan) {
	for n, g := range p.View.Groups {
		b.at = from("consumer group "+g.Name, p.Spec.ConsumerGroups[n].Place)
		b.addStatement("row", "pgt_outbox_groups: "+g.Name, "catalog/pgt_outbox_group_row.sql", render.SpecGroup{Schemas: p.View.Schemas, Group: g}, "", within(outboxSection))
	}
}

// consumerGroups adds the functions of consumer groups and those that all outboxes share.
func (b *builder) consumerGroups(view render.Extension) {
	for _, name := range []string{
		"outbox/pgt_outbox_ids", "outbox/pgt_outbox_visible", "outbox/pgt_publishers", "outbox/pgt_outbox_next", "outbox/pgt_lanes_seen", "outbox/pgt_lane_waiting",
		"group/pgt_outbox_name", "group/pgt_lease_heads", "group/pgt_group_state", "outbox/pgt_safe_point", "outbox/pgt_outbox_done",
	} {
		b.add(name+".sql", view)
	}
	for _, name := range []string{
		"outbox/enable_outbox", "outbox/disable_outbox", "outbox/pgt_awaits_ack", "group/outbox_rows_consumed", "outbox/pgt_outbox_drain",
		"outbox/pgt_publication", "outbox/outbox_status", "outbox/pgt_watch_outboxes",
	} {
		b.add(name+".sql", view)
	}
	if len(view.EventOutboxes()) > 0 { // they name the outboxes
		b.add("outbox/outbox_publish.sql", view)
		b.add("outbox/outbox_publish_many.sql", view)
	}
	for _, name := range []string{
		"pgt_group", "pgt_held_groups", "pgt_lock_group", "pgt_count_ids", "pgt_dead_letter", "pgt_narrow_gaps", "pgt_settle", "pgt_grant_again",
		"pgt_lock_leases", "pgt_give_back_lanes", "pgt_watermark", "pgt_grant_lanes", "pgt_commit_lanes", "pgt_give_back", "pgt_is_left",
		"pgt_pass_over", "pgt_sort_rows", "pgt_grant_passed",
		"pgt_start", "create_consumer_group", "drop_consumer_group", "pgt_ids_after", "pgt_grant", "pgt_poll_bytes", "poll_outbox", "pgt_require_lease", "pgt_take_rows", "commit_offset", "ack_rows", "reject_rows", "release_rows", "leave_group", "replay_dead_letters", "discard_group_dead_letters",
		"extend_lease", "seek_offset", "consumer_heartbeat", "pause_group", "resume_group",
		"pgt_consumer_offsets", "pgt_consumer_leases", "pgt_consumer_active_leases", "pgt_consumer_status", "pgt_consumer_group_lag", "consumer_lag",
		"pgt_trim_leases", "pgt_watch_consumers",
	} {
		b.add("group/"+name+".sql", view)
	}
	b.add("outbox/pgt_watch_sequences.sql", view)
	b.addTask(view.Schemas, render.GroupsTask, sharedSection)
}

// ownFunctions adds those functions of an outbox that name its table.
func (b *builder) ownFunctions(o render.Outbox) {
	for _, own := range []struct {
		name string
		has  bool
	}{
		{"ids", true}, {"visible", true}, {"next", o.OrderingKey != ""}, {"types", o.Event && o.OrderingKey == ""}, {"hashes", o.OrderingKey != ""},
		{"lane", o.OrderingKey != ""},
	} {
		if own.has {
			b.add("outbox/own_"+own.name+".sql", o)
		}
	}
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
