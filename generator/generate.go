package generator

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Generate compiles a valid spec into its objects, as the next version after the released ones, oldest first. Problems that only show now, such
// as clashes between generated names, come back at their place in the spec; the extension is then nil.
func Generate(s *spec.Spec, released ...upgrade.Manifest) (*Extension, *diag.List) {
	errs := &diag.List{}
	traced := trace(s, released, errs)
	whole, original := materialized(s), materialized(traced.original(s))
	traced.nameTables(len(s.StreamTables), whole.StreamTables, original.StreamTables)
	e := build(whole, traced, errs)
	if e == nil {
		return nil, errs
	}
	if traced.moved() {
		e.follow(s, traced, original, errs)
	}
	upgrade.KeepOrder(traced.released, e.Objects)
	if last := traced.last; errs.Empty() && last.Version != "" {
		for _, refused := range upgrade.OtherColumns(last, e.Manifest()) {
			errs.Add(otherColumns(s, refused))
		}
	}
	if !errs.Empty() {
		return nil, errs
	}
	return e, errs
}

// build generates a spec, with the tables of inboxes in it; nil if something is wrong.
func build(s *spec.Spec, traced *lineage, errs *diag.List) *Extension {
	compiled := compileViews(s, errs)
	if errs.Empty() {
		compiled.checkCalculated()
	}
	unsupported(s, errs)
	endsQuotes(s, errs)
	checkExpressions(s, errs)
	if !errs.Empty() {
		return nil
	}
	view := viewOf(s)
	view.Plan = streamTables(s, compiled, traced)
	for _, t := range view.StreamTables {
		if t.Outbox != nil {
			view.Outboxes = append(view.Outboxes, *t.Outbox)
		}
	}
	view.Reads = readsOf(s, compiled, &view.Plan)
	b := &builder{places: map[string]origin{}, origins: map[string]origin{}, errs: errs, checks: newChecks(), mark: view.Mark(), internal: view.InternalName}
	b.all(s, compiled, view)
	b.checked()
	if !errs.Empty() {
		return nil
	}
	return &Extension{
		Name: s.Extension.Name, Version: s.Extension.Version, Schema: s.Extension.Schema, Objects: inSections(b.objects),
		named: traced.names(view.Schemas), made: madeOf(view), jobs: renderJobs(view), view: view, Every: view.Every, places: b.origins,
		Queries: compiled.queries(view.StreamTables), Artifacts: artifactsOf(s),
	}
}

func artifactsOf(s *spec.Spec) []string {
	var names []string
	for _, a := range s.Artifacts {
		names = append(names, a.Value)
	}
	return names
}

// all adds everything, in an order in which it can be created.
func (b *builder) all(s *spec.Spec, compiled *compiler, view render.Extension) {
	b.runtime(s, view)
	for n, inbox := range view.Inboxes {
		b.at = from("inbox "+inbox.Name, s.Inboxes[n].Place)
		b.inbox(inbox)
	}
	if len(view.Outboxes) > 0 {
		b.outboxCatalog(view)
		for n, outbox := range view.EventOutboxes() {
			b.at = from("outbox "+outbox.Name, s.Outboxes[n].Place)
			b.outbox(outbox)
		}
		for n, t := range view.StreamTables {
			if t.Outbox != nil {
				b.at = from("the outbox of stream table "+t.ID(), s.StreamTables[compiled.order[n]].Place)
				b.outbox(*t.Outbox)
				b.outboxTriggers(t)
			}
		}
	}
	b.reads(view)
	b.streamTables(s, compiled, view)
	b.at = origin{"the extension", s.Extension.At, s.Extension.Field("schema")}
	b.interfaces(view)
	b.grants(s, view)
}

func checkExpressions(s *spec.Spec, errs *diag.List) {
	for n := range s.Inboxes {
		i := &s.Inboxes[n]
		if i.EventID == "" {
			continue
		}
		if err := sqltext.CheckExpression(i.EventID); err != nil {
			errs.Add(badExpression(i.Field("event_id"), "event_id", err))
		}
	}
}

// runtime adds schemas and catalog.
func (b *builder) runtime(s *spec.Spec, view render.Extension) {
	b.at = origin{"the extension", s.Extension.At, s.Extension.Field("schema")}
	b.schemas(s)
	b.add("extension/pgt_extension.sql", view)
	if view.HasSettings() {
		b.add("catalog/pgt_settings.sql", view, dumped)
		b.add("catalog/pgt_settings_check.sql", view)
		b.add("catalog/pgt_settings_trigger.sql", view)
		b.add("catalog/pgt_setting.sql", view)
	}
	b.add("catalog/pgt_origin.sql", view, dumped)
	b.add("catalog/pgt_version_history.sql", view, dumped)
	b.add("catalog/pgt_tasks.sql", view)
	if len(view.StreamTables)+len(view.EventOutboxes()) > 0 {
		b.add("extension/pgt_restored.sql", view)
	}
	if len(view.StreamTables) > 0 {
		for _, name := range []string{"pgt_is_own", "pgt_adopt", "pgt_missing", "pgt_drop_own"} {
			b.add("extension/"+name+".sql", view)
		}
	}
	if len(view.Inboxes) > 0 {
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

// inboxes adds what all inboxes share, but for the functions that users call.
func (b *builder) inboxes(view render.Extension) {
	b.add("catalog/pgt_inbox_config.sql", view)
	b.add("catalog/pgt_inbox_paused.sql", view, dumped)
	for _, name := range []string{
		"pgt_inbox_progress", "pgt_inbox_deltas", "pgt_inbox_deltas_last", "pgt_inbox_rates", "pgt_inbox_retry_queue", "pgt_inbox_retry_due", "pgt_inbox_retry_received",
	} {
		b.add("catalog/"+name+".sql", view)
	}
	b.add("catalog/pgt_inbox_totals.sql", view, dumpedWhere("where is_expired"))
	b.add("catalog/pgt_inbox_dead.sql", view, dumpedWhere("where is_alert"))
	b.add("catalog/pgt_inbox_dead_age.sql", view)
	b.add("catalog/pgt_inbox_counted.sql", view)
	b.add("inbox/inbox_is_my_partition.sql", view)
	for _, slot := range view.AttemptSlots() {
		b.add("catalog/pgt_attempts.sql", slot)
	}
	for _, name := range []string{
		"pgt_inbox", "pgt_count_attempt", "pgt_finish_attempts", "pgt_inbox_changed", "pgt_inbox_summary",
		"pgt_inbox_fold", "pgt_inbox_list", "pgt_inbox_settle", "pgt_inbox_audit", "pgt_inbox_alert", "pgt_inbox_drain", "pgt_inbox_rebuild", "pgt_inbox_tick",
	} {
		b.add("inbox/"+name+".sql", view)
	}
}

// inbox adds everything of one inbox, its table first.
func (b *builder) inbox(i render.Inbox) {
	b.add("inbox/table.sql", i, holds)
	if i.LastDue != nil {
		b.add("scheduler/last_due.sql", i.LastDue, within(inboxSection))
	}
	b.add("inbox/order_index.sql", i)
	// Of those that begin again, some are hints, and the inbox is counted anew with the others.
	anew := func(sequence render.Name) option {
		return resumes(fmt.Sprintf("select setval(%s, 0);\n", sequence.Regclass()))
	}
	b.add("inbox/claim_cursor.sql", i, anew(i.ClaimCursor))
	b.add("inbox/rescan_after.sql", i, anew(i.RescanAfter))
	b.add("inbox/alone_until.sql", i)
	b.add("inbox/high_watermark.sql", i, anew(i.HighWatermark))
	b.add("inbox/received.sql", i, anew(i.Received))
	for _, template := range []string{"inserted", "updated"} {
		b.add("inbox/"+template+".sql", i)
	}
	b.add("inbox/updated_trigger.sql", i)
	b.add("inbox/deleted_trigger.sql", i)
	for _, template := range []string{"inserted_trigger", "moved_trigger", "truncated_trigger"} {
		b.add("inbox/"+template+".sql", i, fires("always"))
	}
	b.add("inbox/applied_trigger.sql", i, fires("replica"))
	for _, template := range []string{"claim", "receive", "mark_processed", "mark_failed"} {
		b.add("inbox/"+template+".sql", i)
	}
	if !i.Materialize {
		b.add("inbox/pending_view.sql", i)
	}
	if i.DeadLetter && !i.Materialize {
		b.add("inbox/dlq_view.sql", i)
	}
	if i.Stats {
		b.add("inbox/stats_view.sql", i)
	}
	b.addStatement("row", i.HighWatermark.String(), "inbox/high_watermark_row.sql", i, "")
	b.addStatement("grant", "public: "+i.HighWatermark.String(), "inbox/high_watermark_grant.sql", i, "")
	b.addStatement("row", fmt.Sprintf("pgt_inbox_config: %s", i.Name), "catalog/pgt_inbox_row.sql", i, "")
	for _, task := range []string{i.FoldTask(), i.DrainTask()} {
		b.addTask(i.Schemas, task, inboxSection)
	}
}

// interfaces adds the functions that users call, and the scheduler.
func (b *builder) interfaces(view render.Extension) {
	if len(view.Inboxes) > 0 {
		for _, template := range []string{
			"inbox_is_my_partition_of", "inbox_receive", "inbox_pending", "inbox_claim", "inbox_mark_processed", "inbox_mark_failed",
			"replay_inbox_messages", "pause_inbox", "resume_inbox", "inbox_health", "inbox_status", "inbox_status_of",
		} {
			b.add("inbox/"+template+".sql", view)
		}
	}
	if len(view.StreamTables) > 0 {
		b.add("stream_table/pgt_filling.sql", view)
		b.families(view)
		b.frame(view)
		b.surface(view)
	}
	if len(view.Sources) > 0 {
		b.add("source/pgt_prune.sql", view)
		b.addTask(view.Schemas, render.PruneTask, sharedSection)
	}
	if len(view.Outboxes) > 0 {
		b.consumerGroups(view)
	}
	for _, template := range []string{"pgt_note_version", "attach", "detach", "after_restore", "check_origin", "pgt_commit", "tick", "tick_once", "run"} {
		b.add("scheduler/"+template+".sql", view)
	}
}

func renderJobs(view render.Extension) map[string]string {
	jobs := map[string]string{}
	for file, template := range map[string]string{
		"pg_cron_1.4.sql": "ops/pg_cron_1.4.sql",
		"pg_cron_1.5.sql": "ops/pg_cron_1.5.sql",
		"grant.sql":       "ops/pg_cron_grant.sql",
		"remove.sql":      "ops/pg_cron_remove.sql",
	} {
		text, err := render.Execute(template, view)
		if err != nil {
			panic(err)
		}
		jobs[file] = text
	}
	return jobs
}
