// Package objects turns a plan into database objects, in an order in which they can be created, with the rights on them.
//
// Files call downwards: objects, imperative, imperative_merge, inboxes, inbox_ordering, inbox_priority, inbox_journal, inbox_tenants, first_names, stream_tables, stream_tables_from_sql, immediate, outboxes, frame, surface,
// grants, policies, schemas, made, made_outboxes, relations, drop, build, kept_rows, sections, mentions, problems.
package objects

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/parallel"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
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
	if p.View.FromSQLTable != nil {
		made = append(made, upgrade.CreatedStreamTables(p.View.Extension, p.View.InternalName))
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
		b.specGroups(p)
	}
	b.reads(view)
	b.streamTables(p)
	b.at = Origin{"the extension", "", s.Extension.At, s.Extension.Field("schema")}
	if view.FromSQL != nil {
		b.imperative(s, view)
	}
	b.interfaces(view)
	b.grants(p)
}

// runtime adds schemas and catalog.
func (b *builder) runtime(s *spec.Spec, view render.Extension) {
	b.at = Origin{"the extension", "", s.Extension.At, s.Extension.Field("schema")}
	b.schemas(s)
	b.add("extension/pgt_extension.sql", view)
	b.add("catalog/pgt_spec.sql", view)
	for _, row := range view.SpecRows() {
		b.addStatement("row", "pgt_spec: "+row.Name, "catalog/pgt_spec_row.sql", row, "")
	}
	b.add("catalog/pgt_modules.sql", view)
	b.add("extension/runtime_version.sql", view)
	b.add("catalog/pgt_settings.sql", view, dumped)
	b.add("catalog/pgt_setting.sql", view)
	b.add("catalog/pgt_version_history.sql", view, dumped)
	for _, name := range []string{"pgt_require_version", "pgt_keep_settings", "pgt_lock_for_upgrade"} {
		b.add("extension/"+name+".sql", view)
	}
	b.add("extension/pgt_derived_name.sql", view)
	if view.OwnRights() { // before all tables whose policies read them
		b.add("catalog/pgt_rights.sql", view)
		b.add("catalog/pgt_own.sql", view)
		if view.OwnReaders() {
			b.add("catalog/pgt_own_groups.sql", view)
		}
		b.addStatement("grant", "public: pgt_own", "extension/own_only.sql", view, "")
	}
	b.add("catalog/pgt_tasks.sql", view)
	if view.HasStreamTables() {
		for _, name := range []string{"pgt_is_own", "pgt_adopt", "pgt_missing", "pgt_drop_own"} {
			b.add("stream_table/"+name+".sql", view)
		}
	}
	b.add("shared/pgt_notify.sql", view)
	if view.HasInboxes() {
		b.inboxes(view)
	}
	if view.HasStreamTables() {
		b.add("catalog/pgt_change_no.sql", view, resumes(fmt.Sprintf("select setval(%s, (select coalesce(max(s.own_no), 0) + 1 from %s s));\n",
			view.InInternal("pgt_change_no").Regclass(), view.InInternal("pgt_stream_table_state"))))
		for _, name := range []string{
			"pgt_stream_table_config", "pgt_stream_table_state", "pgt_source_config", "pgt_source_reader", "pgt_source_state",
		} {
			b.add("catalog/"+name+".sql", view)
		}
		b.add("source/pgt_refused_writes.sql", view)
		for _, name := range []string{"pgt_stream_tables", "pgt_refresh_history", "pgt_refresh_history_index"} {
			b.add("catalog/"+name+".sql", view)
		}
	}
	if view.FromSQLTable != nil {
		b.add("catalog/pgt_created_stream_tables.sql", view, dumped)
	}
}

// interfaces adds the functions that users call, and the scheduler.
func (b *builder) interfaces(view render.Extension) {
	if view.HasInboxes() {
		for _, template := range []string{
			"inbox_is_my_partition_of", "inbox_receive", "inbox_receive_many", "inbox_pending", "inbox_claim",
			"pgt_refuse_id", "pgt_require_id", "pgt_refuse_message", "pgt_refuse_messages", "pgt_refuse_sequence", "pgt_given", "pgt_require_messages", "pgt_is_leased", "pgt_may_mark", "pgt_require_marked", "inbox_mark_processed", "inbox_mark_processed_any", "inbox_mark_processed_many",
			"inbox_mark_failed", "inbox_mark_failed_any", "inbox_mark_failed_many",
			"pgt_lease", "pgt_lease_attempts", "pgt_end_leases", "inbox_claim_lease", "pgt_move_leases", "inbox_extend", "inbox_release",
			"replay_inbox_messages", "pause_inbox", "resume_inbox", "inbox_health", "inbox_status", "inbox_status_of", "inbox_ordering_gaps",
			"pgt_attach_inboxes", "pgt_detach_inboxes", "pgt_tick_inboxes",
		} {
			b.add("inbox/"+template+".sql", view)
		}
	}
	if view.HasWires() {
		b.add("wire/inbox_receive_wire.sql", view)
		b.add("wire/inbox_retry_quarantined.sql", view)
	}
	if view.HasStreamTables() {
		b.maintenanceGroups(view)
		b.frame(view)
		b.surface(view)
		for _, name := range []string{"pgt_attach_stream_tables", "pgt_detach_sources", "pgt_detach_stream_tables", "pgt_restore_stream_tables", "pgt_tick_stream_tables"} {
			b.add("stream_table/"+name+".sql", view)
		}
	}
	if view.FromSQLTable != nil {
		b.streamTablesFromSQL(view)
	}
	if len(view.Outboxes) > 0 {
		b.consumerGroups(view)
		for _, name := range []string{"pgt_attach_outboxes", "pgt_detach_outboxes", "pgt_restore_outboxes", "pgt_tick_outboxes"} {
			b.add("outbox/"+name+".sql", view)
		}
	}
	for _, template := range []string{"attach", "detach", "after_restore", "check_origin", "pgt_commit", "pgt_take_task", "pgt_note_error", "tick", "tick_once", "run"} {
		b.add("scheduler/"+template+".sql", view)
	}
}
