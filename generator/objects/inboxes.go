package objects

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// inboxes adds the objects that all inboxes share, without the functions that users call.
func (b *builder) inboxes(view render.Extension) {
	created := dumpedWhere(fmt.Sprintf("where inbox_name in (select c.inbox_name from %s c where c.is_imperative)", view.In("pgt_inbox_config")))
	b.add("inbox/pgt_tenant.sql", view) // before the tables whose policies call them
	b.add("inbox/pgt_by_tenant.sql", view)
	b.add("catalog/pgt_inbox_config.sql", view, dumpedWhere("where is_imperative"))
	b.add("catalog/pgt_inbox_claims.sql", view, dumpedWhere("where no = 0"))
	b.add("catalog/pgt_inbox_progress.sql", view)
	b.add("catalog/pgt_inbox_deltas.sql", view, dumpedWhere("where is_expired"))
	b.add("catalog/pgt_inbox_duplicates.sql", view)
	b.add("catalog/pgt_inbox_retry_queue.sql", view)
	b.add("catalog/pgt_inbox_retry_due.sql", view)
	b.add("catalog/pgt_inbox_leases.sql", view)
	b.add("catalog/pgt_inbox_leases_held.sql", view)
	b.add("catalog/pgt_inbox_leases_again.sql", view)
	b.add("catalog/pgt_inbox_dead.sql", view, dumpedWhere("where alerted"))
	b.add("catalog/pgt_inbox_retiring.sql", view)
	b.add("catalog/pgt_inbox_ordering_config.sql", view, created)
	b.add("catalog/pgt_inbox_wakes.sql", view)
	b.add("catalog/pgt_inbox_priority_config.sql", view, created)
	b.add("catalog/pgt_inbox_sequences.sql", view, dumpedWhere("where is_expired"))
	b.add("catalog/pgt_inbox_partitions.sql", view)
	if view.HasWires() {
		b.add("wire/pgt_inbox_quarantine.sql", view, holds)
		for _, name := range []string{
			"inbox_quarantine_new", "json", "decode_cloudevents", "decode_debezium", "decode_debezium_outbox", "decode_maxwell", "decode", "alert_quarantined",
		} {
			b.add("wire/pgt_"+name+".sql", view)
		}
	}
	for _, name := range []string{
		"pgt_inbox_function", "inbox_is_my_partition", "pgt_inbox", "pgt_is_free", "pgt_claim_state", "pgt_move_cursor", "pgt_claimed_part", "pgt_note_part", "pgt_processing_us", "pgt_processing_us_local", "pgt_count_attempt",
		"pgt_inbox_rebuild", "pgt_inbox_changed", "pgt_inbox_row_changed", "pgt_inbox_settle", "pgt_inbox_drain", "pgt_inbox_tick", "pgt_inbox_retired",
		"pgt_inbox_note_ids", "pgt_inbox_order_tick", "pgt_inbox_level_watermarks", "pgt_inbox_touched", "pgt_split_id", "pgt_id_time", "pgt_partitions",
		"pgt_see_partitions", "pgt_most_of_errors", "pgt_require_table", "pgt_require_utc", "pgt_is_attached", "pgt_detach_table",
	} {
		b.add("inbox/"+name+".sql", view)
	}
}

// inbox adds everything of one inbox, its table first.
func (b *builder) inbox(view render.Extension, i render.Inbox) {
	if i.Journal != nil {
		b.journalNumbers(i)
	}
	if i.Own == nil {
		b.add("inbox/table.sql", i, holds)
	} else if !i.Any {
		b.add("inbox/rows_view.sql", i, attached)
	}
	if i.LastDue != nil {
		b.add("scheduler/last_due.sql", i.LastDue, within(inboxSection))
	}
	if i.Own == nil {
		b.add("inbox/order_index.sql", i)
	}
	if i.Tenant != nil {
		b.tenant(i)
	}
	if i.Journal != nil {
		b.journal(i)
	}
	// A sequence that was lost may start again: some are hints, and with the others the inbox is counted again.
	restarted := func(sequence render.Name) option {
		return resumes(fmt.Sprintf("select setval(%s, 0);\n", sequence.Regclass()))
	}
	b.add("inbox/claim_cursor.sql", i, restarted(i.ClaimCursor))
	for _, sequence := range i.Attempts {
		b.add("inbox/attempts.sql", sequence)
	}
	b.add("inbox/high_watermark.sql", i, restarted(i.HighWatermark))
	if i.Own == nil {
		b.inboxTriggers(i)
	} else {
		b.ownTable(view, i)
	}
	if i.Window != "" {
		b.window(i)
	}
	if i.Feed.Name != "" {
		b.add("inbox/feed.sql", i)
		if i.Own == nil {
			b.add("inbox/feed_trigger.sql", i, fires("always"))
		}
	}
	b.claims(i)
	b.add("inbox/pending_view.sql", i)
	if i.Own != nil && !i.Materialize {
		b.add("inbox/own_pending_view.sql", i)
	}
	b.inboxFunctions(i)
	if i.DeadLetter && !i.Materialize {
		b.add("inbox/dlq_view.sql", i)
	}
	if i.Stats {
		b.add("inbox/stats_view.sql", i)
	}
	if i.Notify != nil && i.Own == nil {
		b.add("shared/notify_trigger.sql", i.Notify, within(inboxSection))
	}
	b.addStatement("row", i.HighWatermark.String(), "inbox/high_watermark_row.sql", i, "")
	b.addStatement("grant", "public: "+i.HighWatermark.String(), "inbox/high_watermark_grant.sql", i, "")
	b.addStatement("row", fmt.Sprintf("pgt_inbox_config: %s", i.Name), "catalog/pgt_inbox_row.sql", i, "")
	if o := i.Ordering; o != nil {
		b.addStatement("row", fmt.Sprintf("pgt_inbox_ordering_config: %s", i.Name), "catalog/pgt_inbox_ordering_row.sql", i, "")
		if i.Own == nil { // else attach() fills it
			b.addStatement("row", i.BacklogID(), "inbox/backlog_filled.sql", i, "")
		}
	}
	if i.Priority != nil {
		b.priorityRows(i)
	}
	for _, task := range []string{i.FoldTask(), i.DrainTask()} {
		b.addTask(i.Schemas, task, inboxSection)
	}
}

// inboxFunctions adds what functions that users call execute, beside the claim.
func (b *builder) inboxFunctions(i render.Inbox) {
	if i.EventID != "" {
		b.add("inbox/event_id.sql", i)
	}
	for _, does := range render.OwnFunctions {
		if does != "lease" || i.Retry != nil {
			b.add("inbox/"+does+".sql", i)
		}
	}
}

// claims adds what hands out messages.
func (b *builder) claims(i render.Inbox) {
	switch {
	case i.Ordering != nil:
		b.ordering(i)
		b.add("inbox/claim_ordered.sql", i)
	case i.Priority != nil:
		b.priority(i)
		b.add("inbox/claim_by_priority.sql", i)
	default:
		if i.Tenant != nil {
			b.tenantClaims(i)
		}
		b.add("inbox/claim.sql", i)
	}
}

// window adds what remembers the ids of an inbox longer than its messages.
func (b *builder) window(i render.Inbox) {
	// The ids of messages that are still there are noted again after a restore: else the restored messages would be taken for duplicates.
	b.add("inbox/past_ids.sql", i, holds, dumpedWhere(fmt.Sprintf(
		"where not exists (select from %s r where r.inbox_name = %s and event_id = any (r.event_ids))", i.InInternal("pgt_inbox_retiring"), sqltext.Literal(i.Name))))
	b.add("inbox/past_ids_index.sql", i)
	b.add("inbox/known.sql", i)
	b.add("inbox/known_trigger.sql", i, fires("always"))
	if i.Tenant != nil {
		b.addStatement(upgrade.Policy, i.PastIDs.String(), "inbox/past_ids_policy.sql", i, dropPolicies(i.PastIDs, "tenant"))
	}
}

// inboxTriggers adds the triggers of a managed inbox.
func (b *builder) inboxTriggers(i render.Inbox) {
	b.add("inbox/updated_trigger.sql", i)
	b.add("inbox/deleted_trigger.sql", i)
	b.add("inbox/truncated_trigger.sql", i, fires("always"))
	b.add("inbox/applied_trigger.sql", i, fires("replica"))
	b.add("inbox/inserted_trigger.sql", i, fires("always"))
	b.add("inbox/moved_trigger.sql", i, fires("always"))
}

// ownTable adds the functions of an inbox over a table of the user's: those of its triggers, and those that create and drop them.
func (b *builder) ownTable(view render.Extension, i render.Inbox) {
	triggers := render.OwnTrigger{Extension: view, Of: i}
	if i.ByRow() {
		b.add("inbox/own_truncated.sql", triggers)
	} else {
		b.add("inbox/pgt_inbox_changed.sql", triggers)
	}
	b.add("inbox/pgt_inbox_row_changed.sql", triggers)
	if !i.Any {
		b.add("inbox/detach_table.sql", i)
		b.add("inbox/attach_table.sql", i)
	}
}
