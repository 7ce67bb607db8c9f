package render

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// What an inbox has on a table of the user's, which attach() creates.

// TriggerEvents are what the triggers of an inbox fire after, as their names end.
var TriggerEvents = []string{
	"updated", "deleted", "inserted", "moved", "truncated", "applied", "notify", "feed", "ordered", "reordered", "marked", "marked_applied",
	"inserted_by_priority", "updated_by_priority", "deleted_by_priority", "applied_by_priority",
}

// byStatement are those of triggers for statements, which pass by what is written through a partition. TRUNCATE of the table itself fires one.
var byStatement = []string{"updated", "deleted", "marked", "inserted_by_priority", "updated_by_priority", "deleted_by_priority"}

// fires reports whether the inbox has the trigger of an event: not where nobody is woken, there is no change feed, no ordering, or no priority.
func (i Inbox) fires(event string) bool {
	if i.ByRow() && slices.Contains(byStatement, event) {
		return false
	}
	switch event {
	case "notify":
		return i.Notify != nil
	case "feed":
		return i.Feed.Name != ""
	case "ordered", "reordered", "marked", "marked_applied":
		return i.Ordering != nil
	case "inserted_by_priority", "updated_by_priority", "deleted_by_priority", "applied_by_priority":
		return i.Priority != nil
	}
	return true
}

// TriggerName is the name of a trigger on the inbox's table, as SQL.
func (i Inbox) TriggerName(event string) string {
	if i.Own == nil {
		return "sluice_" + event
	}
	return sqltext.Ident(i.Own.Triggers[event])
}

// Fired are the events whose triggers the table has.
func (i Inbox) Fired() []string {
	return slices.DeleteFunc(slices.Clone(TriggerEvents), func(event string) bool { return !i.fires(event) })
}

// TriggerList lists the names of the triggers on the table.
func (i Inbox) TriggerList() []string {
	var names []string
	for _, event := range TriggerEvents {
		if i.fires(event) {
			names = append(names, i.Own.Triggers[event])
		}
	}
	return names
}

// OnTable is the statements that create the indexes and triggers on a user's table: those of a managed inbox, inside a function.
func (i Inbox) OnTable() string {
	templates := []string{"order_index", "id_index"}
	if !i.ByRow() {
		templates = append(templates, "updated_trigger", "deleted_trigger")
	}
	templates = append(templates, "inserted_trigger", "moved_trigger", "truncated_trigger", "applied_trigger")
	var out strings.Builder
	add := func(path string, data any) {
		sql := Must(path, data)
		for strings.HasPrefix(sql, "--") {
			_, sql, _ = strings.Cut(sql, "\n")
		}
		out.WriteString(sqltext.Deeper(4, sql))
	}
	for _, name := range templates {
		if name != "id_index" || i.Own.IDIndex.Name != "" {
			add("inbox/"+name+".sql", i)
		}
	}
	if i.Feed.Name != "" {
		add("inbox/feed_trigger.sql", i)
	}
	if i.Ordering != nil {
		for _, name := range []string{"backlog_trigger", "backlog_updated_trigger", "backlog_marked_trigger", "backlog_applied_trigger"} {
			if name != "backlog_marked_trigger" || !i.ByRow() {
				add("inbox/"+name+".sql", i)
			}
		}
	}
	if i.Priority != nil {
		for _, name := range []string{"inserted", "updated", "deleted", "applied"} {
			if name == "applied" || !i.ByRow() {
				add("inbox/priority_"+name+"_trigger.sql", i)
			}
		}
	}
	if i.Notify != nil {
		add("shared/notify_trigger.sql", i.Notify)
	}
	return out.String()
}

// OverTable is the statements that put the inbox over a user's table, inside a function.
func (i Inbox) OverTable() string { return piece("over_table", i) }

// TriggerArray is the list as an array.
func (i Inbox) TriggerArray() string { return texts(i.TriggerList()) + "::name[]" }

// IndexArray is an array of the names of the indexes on the table.
func (i Inbox) IndexArray() string {
	names := []string{i.OrderIndex.String()}
	if i.Own.IDIndex.Name != "" {
		names = append(names, i.Own.IDIndex.String())
	}
	return texts(names)
}

// IndexComment says that an index is the extension's.
func (i Inbox) IndexComment() string {
	return sqltext.Marked("Of inbox "+i.Name+".", sqltext.Mark(i.Extension, i.SchemaName))
}
