package docs

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

func (w *writer) streamTables() part {
	if len(w.StreamTables) == 0 {
		return part{}
	}
	p := part{ID: "stream-tables", Title: "Stream tables", Blocks: []block{paragraph(joined(
		say("Each holds what its query would return, row for row. Read them like tables; grant `select` to the roles that read them. Writing to them is an error. `sluice explain NAME` shows the cost of each part of a query, and why one is recomputed. Their health: "),
		linked("view", w.In("pgt_stream_tables").String()), say("."),
	))}}
	for _, t := range w.StreamTables {
		p.Parts = append(p.Parts, w.streamTable(t))
	}
	return p
}

func (w *writer) streamTable(t render.StreamTable) part {
	return part{ID: anchor("stream-table", t.ID()), Kind: "stream table", Title: t.ID(), IsName: true, Blocks: []block{
		{Facts: w.streamFacts(t)},
		{SQL: t.Query},
		{Table: streamColumns(t)},
	}}
}

func (w *writer) streamFacts(t render.StreamTable) []fact {
	mode := say("%s", t.EffectiveMode)
	if t.RefreshMode != t.EffectiveMode {
		mode = say("%s (asked for: %s)", t.EffectiveMode, t.RefreshMode)
	}
	if t.Reason != "" {
		mode = joined(mode, say(": %s", t.Reason))
	}
	facts := []fact{
		{"Select from", code(t.Table.String())},
		{"In the spec", code(t.Path)},
		{"Reads", w.reads(t)},
		{"Refresh mode", mode},
		{"Strategy", joined(code(t.Strategy), plain(": "+t.StrategyText()))},
		{"Refreshed", w.refreshed(t)},
		{"Rows are found by", rowKey(t)},
	}
	if len(t.Indexes) > 0 {
		facts = append(facts, fact{"Indexes", indexes(t)})
	}
	if t.Fuse != "" {
		facts = append(facts, fact{"Fuse", say("suspended when more than %s rows of a source have changed", t.Fuse)})
	}
	if t.Check != "" {
		facts = append(facts, fact{"Compared with its query", joined(say("every %s, as ", t.Check), w.function("check_stream_table"), say(" does"))})
	}
	if t.Outbox != nil {
		facts = append(facts, fact{"Outbox", w.outboxOf(t)})
	}
	return append(facts, fact{"Stored in", code(t.Rows.String())})
}

func (w *writer) outboxOf(t render.StreamTable) text {
	if t.Outbox.Asked {
		return linked("outbox", t.Outbox.Name)
	}
	return joined(say("none; "), w.function("enable_outbox"), say(" gives it one"))
}

// refreshed says when.
func (w *writer) refreshed(t render.StreamTable) text {
	switch {
	case t.Immediate:
		return say("within each statement that changes what it reads")
	case t.AtCommit:
		return say("when a transaction commits that wrote what it reads")
	case t.Schedule == "calculated":
		return say("as often as what reads it: %s", t.Calculated)
	}
	return say("%s", every(t.Schedule, t.LastDue))
}

// reads links what a stream table reads to where it is described.
func (w *writer) reads(t render.StreamTable) text {
	var names []text
	for _, r := range w.readBy(t) {
		inbox := slices.IndexFunc(w.Inboxes, func(i render.Inbox) bool { return i.Table == r.Table })
		switch {
		case r.Made:
			names = append(names, linked("stream-table", r.ID()))
		case inbox >= 0:
			names = append(names, linked("inbox", w.Inboxes[inbox].Name))
		case r.Kind == "table":
			names = append(names, code(r.Table.String()))
		default:
			names = append(names, joined(code(r.Table.String()), say(" (%s)", r.Kind)))
		}
	}
	if len(names) == 0 {
		return say("nothing")
	}
	return listed(names)
}

func rowKey(t render.StreamTable) text {
	if t.Repeats {
		return say("all columns: equal rows are stored once, with a count")
	}
	if len(t.Identity) == 0 {
		return say("being the only one")
	}
	var names []text
	for _, name := range t.Identity {
		names = append(names, code(name))
	}
	return listed(names)
}

func indexes(t render.StreamTable) text {
	var all []text
	for _, i := range t.Indexes {
		var names []string
		for _, name := range i.Names {
			names = append(names, sqltext.Ident(name))
		}
		all = append(all, code("("+strings.Join(names, ", ")+")"))
	}
	return listed(all)
}

func streamColumns(t render.StreamTable) *table {
	columns := &table{Head: []string{"Column", "Type", "Null"}}
	for _, c := range t.Columns {
		typ, null := text{{Text: "as the query has it"}}, "yes"
		if c.Type != "" {
			typ = code(c.Type)
		}
		if c.NotNull {
			null = "no"
		}
		columns.Rows = append(columns.Rows, []text{code(c.Name), typ, plain(null)})
	}
	return columns
}
