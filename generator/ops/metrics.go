package ops

import (
	"strings"

	"github.com/pgsluice/sluice/generator/render"
)

// query reads metrics of one kind of object. postgres_exporter joins Namespace and the column to a metric's name, so no two queries have the same.
type query struct {
	Namespace string
	SQL       string
	Labels    []string
	Values    []value
}

// value is a column that is a metric.
type value struct{ Column, Type, Help string }

// Kind is the type as postgres_exporter spells it.
func (v value) Kind() string { return strings.ToUpper(v.Type) }

// Indented is the query's text as a block of YAML.
func (q query) Indented(by int) string {
	return strings.ReplaceAll(strings.TrimSuffix(q.SQL, "\n"), "\n", "\n"+strings.Repeat(" ", by))
}

// queries read what sluice run serves.
func queries(v view) []query {
	var all []query
	add := func(there bool, namespace, labels string, values ...value) {
		if there {
			all = append(all, query{namespace, render.Must("ops/"+namespace+".sql", v), append([]string{"extension"}, strings.Fields(labels)...), values})
		}
	}
	gauge := func(column, help string) value { return value{column, "gauge", help} }
	counter := func(column, help string) value { return value{column, "counter", help} }
	add(v.HasTables, "sluice_stream_table", "stream_table", gauge("consecutive_errors", "Refreshes that failed in a row."))
	add(v.HasTables, "sluice_stream", "stream_table status", gauge("table_status", "1 for the status that a stream table has."))
	add(v.HasTables, "sluice_stream_table_staleness", "stream_table", gauge("seconds", "How old the rows are."))
	add(v.HasTables && len(v.Sources) > 0, "sluice_stream_table_waiting", "stream_table", gauge("rows", "Rows of change logs that a stream table has not seen."))
	inbox := []value{
		gauge("pending", "Messages that are to be processed."), gauge("dead_letters", "Messages that failed too often."),
		counter("processed_total", "Messages that were processed."), gauge("oldest_pending_age_seconds", "Age of the oldest pending message."),
		gauge("paused", "1 if claims hand out nothing."), gauge("bytes", "Bytes on disk."),
	}
	if len(v.Wired()) > 0 {
		inbox = append(inbox, gauge("quarantined", "Documents that could not be read."))
	}
	add(v.HasInboxes, "sluice_inbox", "inbox", inbox...)
	add(v.HasInboxes, "sluice", "inbox health", gauge("inbox_health", "1 for the health that an inbox has."))
	add(v.HasInboxes, "sluice_missing", "", gauge("objects", "Objects that status finds missing."))
	add(v.HasOutboxes, "sluice_outbox", "outbox", gauge("rows", "Rows of an outbox."), gauge("oldest_age_seconds", "Age of the oldest row."),
		gauge("bytes", "Bytes on disk."), gauge("storage_degraded", "1 if it takes more than outbox_storage_critical_mb."))
	add(v.HasOutboxes, "sluice_outbox_gap", "outbox", gauge("age_seconds", "Age of the oldest transaction that a gap of ids waits for."))
	add(v.HasOutboxes, "sluice_group", "group outbox", gauge("lag_rows", "Committed rows that a group has not acknowledged."),
		gauge("leased_rows", "Rows in progress."), gauge("consumers", "Consumers of a group."), gauge("healthy_consumers", "Those that showed a sign of life within a minute."),
		gauge("dead_letters", "Rows that were rejected or failed too often."), gauge("paused", "1 if polls return nothing."),
		gauge("held_seconds", "Time that a transaction has kept others from polling."))
	add(true, "sluice_task", "task", counter("runs_total", "Runs of a background task."), gauge("failing", "1 if the last run failed."))
	add(true, "sluice_task_last_run", "task", gauge("age_seconds", "Time since a background task ran."))
	return all
}
