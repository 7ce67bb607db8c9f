package artifact

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Columns of what functions make, and of views over what their templates select.
var (
	statsColumns = []render.DBTColumn{
		{Name: "event_type", Type: "text"}, {Name: "pending", Type: "bigint"}, {Name: "processed", Type: "bigint"},
		{Name: "dead_letter", Type: "bigint"}, {Name: "avg_processing_time_sec", Type: "numeric"},
	}
	madeOutboxColumns = []render.DBTColumn{
		{Name: "id", Type: "bigint"}, {Name: "pgt_id", Type: "uuid"}, {Name: "refresh_id", Type: "uuid"}, {Name: "created_at", Type: "timestamptz"},
		{Name: "inserted_count", Type: "integer"}, {Name: "deleted_count", Type: "integer"}, {Name: "is_claim_check", Type: "boolean"},
		{Name: "payload", Type: "jsonb"},
	}
	deltaRowsColumns = []render.DBTColumn{
		{Name: "outbox_id", Type: "bigint"}, {Name: "row_num", Type: "integer"}, {Name: "op", Type: "character(1)"}, {Name: "payload", Type: "jsonb"},
	}
)

// dbtLister collects relations by schema, in the order in which they come.
type dbtLister struct {
	extension *Extension
	objects   map[string]upgrade.Object
	sources   []render.DBTSource
}

// dbtSources lists the relations that users read: stream tables, inboxes and outboxes.
func (e *Extension) dbtSources() []render.DBTSource {
	l := &dbtLister{extension: e, objects: map[string]upgrade.Object{}}
	for _, o := range e.described() {
		l.objects[o.ID()] = o
	}
	for _, t := range e.view.StreamTables {
		var columns []render.DBTColumn
		for _, name := range t.Visible {
			columns = append(columns, render.DBTColumn{Name: name})
		}
		l.add(t.Table, render.DBTTable{
			Description: fmt.Sprintf("Stream table of Sluice extension %s:\n%s", e.Name, t.Query), Columns: columns, Test: "stream_table_healthy",
		})
	}
	for _, i := range e.view.Inboxes {
		l.inbox(i)
	}
	for _, o := range e.view.Outboxes {
		l.outbox(o)
	}
	return l.sources
}

func (l *dbtLister) inbox(i render.Inbox) {
	var columns []render.DBTColumn
	if i.Own == nil {
		columns = l.columns(i.Table)
		l.object(i.Table, "table", columns, "inbox_healthy")
	} else {
		for _, used := range i.Used() {
			columns = append(columns, render.DBTColumn{Name: used.Name.Name(), Type: used.Type})
		}
		l.add(i.Table, render.DBTTable{Description: "The table of inbox " + i.Name + ".", Columns: columns, Test: "inbox_healthy"})
	}
	if !i.Materialize { // stream tables, if it is
		l.object(i.PendingView, "view", columns, "")
		if i.DeadLetter {
			l.object(i.DLQView, "view", columns, "")
		}
	}
	if i.Stats {
		l.object(i.StatsView, "view", statsColumns, "")
	}
}

func (l *dbtLister) outbox(o render.Outbox) {
	if o.Event {
		l.object(o.Table, "table", l.columns(o.Table), "")
		return
	}
	once := ""
	if !o.Asked {
		once = ", once it is enabled"
	}
	l.add(o.Table, render.DBTTable{
		Description: fmt.Sprintf("Outbox of %s: a row for each refresh that changed it%s.", o.Shown, once), Columns: madeOutboxColumns,
	})
	l.add(o.DeltaRows, render.DBTTable{
		Description: fmt.Sprintf("The rows of claim checks of %s, what went before what came%s.", o.Table, once), Columns: deltaRowsColumns,
	})
	l.add(o.Latest, render.DBTTable{Description: fmt.Sprintf("The newest row of %s%s.", o.Table, once), Columns: madeOutboxColumns})
}

// object adds a relation that is an object of the extension, described as it is commented.
func (l *dbtLister) object(name render.Name, kind string, columns []render.DBTColumn, test string) {
	l.add(name, render.DBTTable{Description: l.objects[kind+" "+name.String()].Comment, Columns: columns, Test: test})
}

// columns are those of a table that is an object.
func (l *dbtLister) columns(name render.Name) []render.DBTColumn {
	table, err := sqltext.DefineTable(l.objects["table "+name.String()].SQL)
	if err != nil {
		panic(fmt.Sprintf("table %s: %v", name, err)) // it was parsed before
	}
	var columns []render.DBTColumn
	for _, c := range table.Columns {
		columns = append(columns, render.DBTColumn{Name: c.Name, Type: c.Type})
	}
	return columns
}

// add puts a relation into the source of its schema. The extension's own is named like it.
func (l *dbtLister) add(name render.Name, table render.DBTTable) {
	table.Name = name.Name
	for n := range l.sources {
		if l.sources[n].Schema == name.Schema {
			l.sources[n].Tables = append(l.sources[n].Tables, table)
			return
		}
	}
	source := render.DBTSource{Name: l.extension.Name, Schema: name.Schema, Tables: []render.DBTTable{table}}
	if name.Schema != l.extension.Schema {
		source.Name += "_" + name.Schema
	}
	l.sources = append(l.sources, source)
}
