package objects

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/generator/parallel"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// reads adds the functions that watch the sources of stream tables.
func (b *builder) reads(view render.Extension) {
	if !view.HasStreamTables() {
		return
	}
	for _, name := range []string{
		"pgt_fit", "pgt_fit_else", "pgt_inheritance", "pgt_source_shape", "pgt_source_problem", "pgt_attach_source", "pgt_source_changed",
		"pgt_sources_fit", "pgt_watch_sources",
	} {
		b.add("source/"+name+".sql", view)
	}
	b.add("stream_table/pgt_applied.sql", view)
	b.add("stream_table/pgt_is_filled.sql", view)
	b.add("stream_table/checked_filled.sql", view)
	for _, name := range []string{
		"pgt_bypass", "pgt_fit_member", "pgt_fill_member", "pgt_note_turn", "pgt_take_turn", "pgt_wait", "pgt_refuse_writer", "checked_types",
		"pgt_require_seen", "pgt_own_statement",
	} {
		b.add("immediate/"+name+".sql", view)
	}
	b.add("immediate/pgt_open_setting.sql", view)
	b.addStatement("grant", "nobody: pgt_open_setting", "immediate/pgt_open_setting_hidden.sql", view, "")
	b.addStatement("row", "pgt_open_setting", "immediate/pgt_open_setting_row.sql", view, "")
	b.add("immediate/pgt_setting_name.sql", view)
	b.add("immediate/pgt_uncounted.sql", view)
	for _, read := range view.Reads {
		b.at.of = readOf(read)
		b.addStatement("row", "pgt_source_config: "+read.ID(), "catalog/pgt_source_row.sql", read, "")
		for _, need := range read.Needs {
			b.at.of = "stream table " + need.Reader.Plain()
			b.addStatement("row", "pgt_source_reader: "+read.ID()+" "+need.Reader.Plain(), "catalog/pgt_source_reader_row.sql", need, "")
		}
	}
}

// readOf is what the row of a source belongs to: a stream table that another one reads, or a table of users.
func readOf(read render.Read) string {
	if read.Made {
		return "stream table " + read.Table.Plain()
	}
	return "table " + read.Table.Plain()
}

// streamTables adds the functions of sources and stream tables, and claims the names of the relations that these functions create.
func (b *builder) streamTables(p *plan.Plan) {
	s, view := p.Spec, p.View
	for _, source := range view.Sources {
		b.at = Origin{"the change log of " + source.Table.Plain(), "table " + source.Table.Plain(), s.Field("stream_tables"), readerAt(s, source.Readers)}
		b.triggers(source, source.Triggers.Names())
		b.claimName(sqltext.Statement{Kind: "table", Schema: source.Log.Schema, Name: source.Log.Name})
		if source.Refreshed {
			b.add("source/unread.sql", source)
		}
		b.add("source/unread_count.sql", source)
		if !source.Made {
			b.add("source/capture.sql", source)
		}
	}
	for _, g := range view.MaintenanceGroups {
		if g.Turn.Name != "" {
			b.at.of = "stream table " + g.Members[0].Table.Plain()
			b.add("immediate/turn.sql", g)
		}
	}
	for _, c := range view.Captures {
		b.at = Origin{"what is pending of " + c.Table.Plain(), "table " + c.Table.Plain(), s.Field("stream_tables"), readerAt(s, c.Readers)}
		b.triggers(c.Source, c.TriggerNames())
		b.claimName(sqltext.Statement{Kind: "table", Schema: c.Log.Schema, Name: c.Log.Name})
		b.capture(c)
	}
	functions := parallel.Map(view.StreamTables, func(t render.StreamTable) (all []created) {
		for _, p := range functionsOf(t) {
			all = append(all, p.create())
		}
		return all
	})
	for i, t := range view.StreamTables {
		b.at = from("stream table "+t.Table.Plain(), s.StreamTables[p.Order[i]].Place)
		for _, index := range t.Indexes {
			b.origins["relation "+index.Name.String()] = b.at
		}
		for _, name := range append(t.Stores(), t.Table) {
			b.claimName(sqltext.Statement{Kind: "table", Schema: name.Schema, Name: name.Name})
		}
		if of := &s.StreamTables[p.Order[i]]; of.Rebuild == spec.RebuildOnline && !t.Online {
			b.errs.Add(notOnline(of.Field("rebuild"), t))
		}
		for _, c := range functions[i] {
			if c.of.Kind == "sequence" { // of its last transaction: older snapshots must retry
				b.addCreated(c, resumes(fmt.Sprintf("select setval(%s, pg_current_xact_id()::text::bigint);\n", t.Last.Regclass())), within(streamTableSection))
				continue
			}
			b.addCreated(c, within(streamTableSection))
		}
		b.addStatement("row", "pgt_stream_table_config: "+t.ID(), "catalog/pgt_stream_table_row.sql", t, "")
		b.addStatement("row", "pgt_stream_table_state: "+t.ID(), "catalog/pgt_stream_table_state_row.sql", t, "")
	}
}

// readerAt is where the first of some stream tables is named.
func readerAt(s *spec.Spec, readers []render.Name) diag.Pos {
	for i := range s.StreamTables {
		if t := &s.StreamTables[i]; slices.Contains(readers, render.Name(t.Relation)) {
			return t.Field("name")
		}
	}
	return s.Field("stream_tables")
}

// triggers notes where triggers on a table come from.
func (b *builder) triggers(source render.Source, names []string) {
	for _, name := range names {
		b.origins["trigger "+sqltext.Ident(name)+" on "+source.Table.String()] = b.at
	}
}

// functionsOf are the functions of one stream table.
func functionsOf(t render.StreamTable) []part {
	var all []part
	telling := t.Outbox != nil && !t.Immediate
	if len(t.Delta) > 0 {
		all = append(all, part{"stream_table/apply.sql", t})
		if telling {
			all = append(all, part{"stream_table/apply.sql", t.Publishing()})
		}
	}
	if t.Immediate {
		all = append(all, part{"immediate/last.sql", t})
	}
	if t.ComputedFn.Name != "" {
		all = append(all, part{"stream_table/computed.sql", t})
	}
	all = append(all, part{"stream_table/recompute.sql", t})
	if telling {
		all = append(all, part{"stream_table/recompute.sql", t.Publishing()})
	}
	if t.RegainFn.Name != "" {
		all = append(all, part{"immediate/regain.sql", t})
	}
	if len(t.Pending) > 0 {
		all = append(all, part{"immediate/maintain.sql", t})
	}
	if t.LastDue != nil {
		all = append(all, part{"scheduler/last_due.sql", t.LastDue})
	}
	return all
}

// maintenanceGroups adds the functions that the stream tables of a maintenance group share.
func (b *builder) maintenanceGroups(view render.Extension) {
	at := b.at
	for _, f := range view.MaintenanceGroups {
		b.at.of = "stream table " + f.Members[0].Table.Plain()
		b.add("immediate/apply.sql", f)
	}
	b.at = at
	for _, name := range []string{"pgt_catch_up", "pgt_fill_immediate", "pgt_tidy_marks"} {
		b.add("immediate/"+name+".sql", view)
	}
}
