// Package objects turns a plan into database objects, in an order in which they can be created, with the rights on them.
//
// Files call downwards: objects, inbox_ordering, inbox_journal, first_names, stream_tables, immediate, outboxes, frame, surface, imperative, grants,
// policies, schemas, made, made_outboxes, relations, drop, build, sections, mentions, problems.
package objects

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/parallel"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Objects are the database objects of a version.
type Objects struct {
	List    []upgrade.Object  // in an order in which they can be created
	Made    []upgrade.Made    // objects that functions of the extension make at run time
	Origins map[string]Origin // of names that others may have, by kind and name
}

// Of turns a plan into objects; nil if two parts of the spec would make the same.
func Of(p *plan.Plan, errs *diag.List) *Objects {
	b := &builder{places: map[string]Origin{}, origins: map[string]Origin{}, errs: errs, checks: parallel.NewChecks(), mark: p.View.Mark(), internal: p.View.InternalName}
	b.all(p)
	b.checked()
	if !errs.Empty() {
		return nil
	}
	made := madeOf(p.View)
	for _, o := range b.objects {
		if o.Template == "imperative/pgt_inbox_script" {
			made = append(made, upgrade.Created(p.View.Extension, p.View.SchemaName, p.View.InternalName, o.SQL)...)
		}
	}
	return &Objects{List: inSections(b.objects), Made: made, Origins: b.origins}
}

// all adds everything, in an order in which it can be created.
func (b *builder) all(p *plan.Plan) {
	s, view := p.Spec, p.View
	b.runtime(s, view)
	for n, inbox := range view.Inboxes {
		b.at = from("inbox "+inbox.Name, s.Inboxes[n].Place)
		b.inbox(view, inbox)
	}
	if len(view.Outboxes) > 0 {
		b.outboxCatalog(view)
		for n, outbox := range view.EventOutboxes() {
			b.at = from("outbox "+outbox.Name, s.Outboxes[n].Place)
			b.outbox(outbox)
		}
		for n, t := range view.StreamTables {
			if t.Outbox != nil {
				b.at = from("the outbox of stream table "+t.ID(), s.StreamTables[p.Order[n]].Place)
				b.at.of = "stream table " + t.Table.Plain()
				b.outbox(*t.Outbox)
				b.outboxTriggers(t)
			}
		}
	}
	b.reads(view)
	b.streamTables(p)
	b.at = Origin{"the extension", "", s.Extension.At, s.Extension.Field("schema")}
	if view.FromSQL != nil {
		one := b.apart()
		one.inbox(view, *view.FromSQL)
		b.imperative(s, view, one)
	}
	b.interfaces(view)
	b.grants(p)
}

// runtime adds schemas and catalog.
func (b *builder) runtime(s *spec.Spec, view render.Extension) {
	b.at = Origin{"the extension", "", s.Extension.At, s.Extension.Field("schema")}
	b.schemas(s)
	b.add("extension/pgt_extension.sql", view)
	if view.HasSettings() {
		b.add("catalog/pgt_settings.sql", view, dumped)
		b.add("catalog/pgt_setting.sql", view)
	}
	b.add("catalog/pgt_version_history.sql", view, dumped)
	if view.OwnRights() { // before all tables whose policies read them
		b.add("catalog/pgt_rights.sql", view)
		b.add("catalog/pgt_own.sql", view)
		if view.OwnReaders() {
			b.add("catalog/pgt_own_groups.sql", view)
		}
		b.addStatement("grant", "public: pgt_own", "extension/own_only.sql", view, "")
	}
	b.add("catalog/pgt_tasks.sql", view)
	if len(view.StreamTables) > 0 {
		b.add("extension/pgt_is_own.sql", view)
		if len(view.MadeOutboxes()) > 0 {
			b.add("extension/pgt_adopt.sql", view)
			b.add("extension/pgt_missing.sql", view)
		}
		b.add("extension/pgt_drop_own.sql", view)
	}
	if view.Notifies() {
		b.add("shared/pgt_notify.sql", view)
	}
	if view.HasInboxes() {
		b.inboxes(view)
	}
	if len(view.StreamTables) > 0 {
		b.add("catalog/pgt_change_no.sql", view, resumes(fmt.Sprintf("select setval(%s, (select coalesce(max(s.own_no), 0) + 1 from %s s));\n",
			view.InInternal("pgt_change_no").Regclass(), view.InInternal("pgt_stream_table_state"))))
		for _, name := range []string{
			"pgt_stream_table_config", "pgt_stream_table_state", "pgt_source_config", "pgt_source_reader", "pgt_source_state", "pgt_stream_tables", "pgt_refresh_history", "pgt_refresh_history_index",
		} {
			b.add("catalog/"+name+".sql", view)
		}
	}
}

// inboxes adds the objects that all inboxes share, without the functions that users call.
func (b *builder) inboxes(view render.Extension) {
	if view.FromSQL != nil {
		b.add("catalog/pgt_inbox_config.sql", view, dumpedWhere("where is_imperative"))
	} else {
		b.add("catalog/pgt_inbox_config.sql", view)
	}
	b.add("catalog/pgt_inbox_claims.sql", view, dumpedWhere("where no = 0"))
	b.add("catalog/pgt_inbox_progress.sql", view)
	b.add("catalog/pgt_inbox_deltas.sql", view, dumpedWhere("where is_expired"))
	b.add("catalog/pgt_inbox_retry_queue.sql", view)
	b.add("catalog/pgt_inbox_retry_due.sql", view)
	b.add("catalog/pgt_inbox_leases.sql", view)
	b.add("catalog/pgt_inbox_dead.sql", view, dumpedWhere("where alerted"))
	if len(view.Wired()) > 0 {
		b.wireFormats(view)
	}
	names := []string{
		"pgt_inbox", "pgt_is_free", "pgt_processing_us", "pgt_count_attempt", "pgt_inbox_rebuild",
		"pgt_inbox_changed", "pgt_inbox_row_changed", "pgt_inbox_settle", "pgt_inbox_drain", "pgt_inbox_tick",
	}
	if view.Windows() {
		b.add("catalog/pgt_inbox_retiring.sql", view)
		names = append(names, "pgt_inbox_retired", "pgt_inbox_note_ids")
	}
	if len(view.Ordered()) > 0 {
		b.add("catalog/pgt_inbox_ordering_config.sql", view)
		names = append(names, "pgt_inbox_order_tick")
	}
	if len(view.Contiguous()) > 0 {
		b.add("catalog/pgt_inbox_sequences.sql", view, dumpedWhere("where is_expired"))
	}
	if view.Journals() {
		names = append(names, "pgt_inbox_touched")
	}
	b.add("inbox/inbox_is_my_partition.sql", view)
	for _, name := range names {
		b.add("inbox/"+name+".sql", view)
	}
	if len(view.OwnTables()) > 0 {
		for _, name := range []string{"pgt_require_table", "pgt_is_attached", "pgt_detach_table"} {
			b.add("inbox/"+name+".sql", view)
		}
	}
}

// wireFormats adds what decodes documents, and keeps those that cannot be decoded.
func (b *builder) wireFormats(view render.Extension) {
	b.add("catalog/pgt_inbox_quarantine.sql", view, holds)
	b.add("catalog/pgt_inbox_quarantine_new.sql", view)
	b.add("wire/pgt_json.sql", view)
	for _, format := range view.WireFormats() {
		b.add("wire/pgt_decode_"+format+".sql", view)
	}
	b.add("wire/pgt_decode.sql", view)
	b.add("wire/pgt_alert_quarantined.sql", view)
}

// inbox adds everything of one inbox, its table first.
func (b *builder) inbox(view render.Extension, i render.Inbox) {
	if i.Journal != nil {
		b.journalNumbers(i)
	}
	if i.Own == nil {
		b.add("inbox/table.sql", i, holds)
	} else {
		b.add("inbox/rows_view.sql", i, attached)
	}
	if i.LastDue != nil {
		b.add("scheduler/last_due.sql", i.LastDue, within(inboxSection))
	}
	if i.Own == nil {
		b.add("inbox/order_index.sql", i)
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
	if i.Ordering != nil {
		b.ordering(i)
		b.add("inbox/claim_ordered.sql", i)
	} else {
		b.add("inbox/claim.sql", i)
	}
	b.add("inbox/pending_view.sql", i)
	if i.Own != nil {
		b.add("inbox/own_pending_view.sql", i)
	}
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
	for _, task := range []string{i.FoldTask(), i.DrainTask()} {
		b.addTask(i.Schemas, task, inboxSection)
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
}

// inboxTriggers adds the triggers of a managed inbox.
func (b *builder) inboxTriggers(i render.Inbox) {
	b.add("inbox/updated_trigger.sql", i)
	b.add("inbox/deleted_trigger.sql", i)
	for _, template := range []string{"inserted_trigger", "moved_trigger", "truncated_trigger"} {
		b.add("inbox/"+template+".sql", i, fires("always"))
	}
	b.add("inbox/applied_trigger.sql", i, fires("replica"))
}

// ownTable adds the functions of an inbox over a table of the user's: those of its triggers, and those that create and drop them.
func (b *builder) ownTable(view render.Extension, i render.Inbox) {
	triggers := render.OwnTrigger{Extension: view, Of: i}
	b.add("inbox/pgt_inbox_changed.sql", triggers)
	b.add("inbox/pgt_inbox_row_changed.sql", triggers)
	b.add("inbox/detach_table.sql", i)
	b.add("inbox/attach_table.sql", i)
}

// interfaces adds the functions that users call, and the scheduler.
func (b *builder) interfaces(view render.Extension) {
	if view.HasInboxes() {
		for _, template := range []string{
			"inbox_is_my_partition_of", "inbox_receive", "inbox_receive_many", "inbox_pending", "inbox_claim",
			"pgt_require_marked", "inbox_mark_processed", "inbox_mark_processed_any", "inbox_mark_processed_many",
			"inbox_mark_failed", "inbox_mark_failed_any", "inbox_mark_failed_many",
			"inbox_claim_lease", "pgt_move_leases", "inbox_extend", "inbox_release",
			"replay_inbox_messages", "pause_inbox", "resume_inbox", "inbox_health", "inbox_status", "inbox_status_of",
		} {
			b.add("inbox/"+template+".sql", view)
		}
		if len(view.Ordered()) > 0 {
			b.add("inbox/inbox_ordering_gaps.sql", view)
		}
	}
	if len(view.Wired()) > 0 {
		b.add("inbox/inbox_receive_wire.sql", view)
		b.add("inbox/inbox_retry_quarantined.sql", view)
	}
	if len(view.StreamTables) > 0 {
		b.maintenanceGroups(view)
		b.frame(view)
		b.surface(view)
	}
	if len(view.Outboxes) > 0 {
		b.consumerGroups(view)
	}
	for _, template := range []string{"attach", "detach", "after_restore", "check_origin", "pgt_commit", "pgt_take_task", "tick", "tick_once", "run"} {
		b.add("scheduler/"+template+".sql", view)
	}
}
