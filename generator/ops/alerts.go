package ops

import "fmt"

// alert is a rule of Prometheus. Its runbook is the template of the same name.
type alert struct {
	Name, Expr, For, Severity string
	Summary                   string // with the labels of what it is about
	Description               string
}

const (
	warning  = "warning"
	critical = "critical"
)

// alerts are those of what the extension has: one for each state that sluice status reports, and those of relays.
func alerts(v view) []alert {
	all := background(v)
	if v.HasTables {
		all = append(all, ofTables(v)...)
	}
	if v.HasInboxes {
		all = append(all, ofInboxes(v)...)
	}
	if v.HasOutboxes {
		all = append(all, ofOutboxes(v)...)
	}
	if v.HasInboxes || v.HasOutboxes {
		all = append(all, ofRelays()...)
	}
	return all
}

// most is the largest value of a metric over the processes that serve it. A job of Prometheus watches one database.
func (v view) most(metric, more, by string) string {
	return fmt.Sprintf("max by (job, extension, %s) (sluice_%s{%s%s})", by, metric, v.Of, more)
}

func background(v view) []alert {
	return []alert{
		{"SluiceDown", fmt.Sprintf("max by (job, extension) (sluice_up{%[1]s}) == 0 or absent(sluice_task_runs_total{%[1]s}) unless on (extension) sluice_up{%[1]s}", v.Of), "2m", critical,
			"The status of extension {{ $labels.extension }} cannot be read",
			"Neither sluice run nor an exporter has delivered the status of the extension: its process, the database or the extension is not there."},
		{"SluiceBackgroundWorkStopped", fmt.Sprintf("min by (job, extension) (sluice_task_last_run_age_seconds{%[1]s}) > 180 or sum by (job, extension) (sluice_task_runs_total{%[1]s}) == 0", v.Of), "1m", critical,
			"Nothing does the background work of extension {{ $labels.extension }}",
			"No background task has run within three minutes. Stream tables are not refreshed, and retention deletes nothing."},
		{"SluiceTaskFailing", v.most("task_failing", `, task!~"stream table .*: check"`, "task") + " == 1", "5m", warning,
			"Task {{ $labels.task }} of extension {{ $labels.extension }} fails",
			"The last run of a background task ended with an error. It is tried again at the next tick."},
		{"SluiceObjectsMissing", fmt.Sprintf("max by (job, extension) (sluice_missing_objects{%s}) > 0", v.Of), "2m", critical,
			"Objects of extension {{ $labels.extension }} are missing",
			"Tables, sequences or functions of the extension do not exist any more."},
	}
}

func ofTables(v view) []alert {
	status := func(status string) string {
		return v.most("stream_table_status", fmt.Sprintf(", status=%q", status), "stream_table") + " == 1"
	}
	return []alert{
		{"SluiceStreamTableSuspended", status("suspended"), "0m", critical,
			"Stream table {{ $labels.stream_table }} is suspended",
			"Refreshes failed too often in a row, so the stream table is not refreshed any more and shows old rows."},
		{"SluiceStreamTableFailing", status("failing"), "5m", warning,
			"Stream table {{ $labels.stream_table }} fails to refresh",
			"The last refresh ended with an error. It is tried again when it is due; the third error in a row suspends the stream table."},
		{"SluiceStreamTableStale", status("stale"), "5m", warning,
			"Stream table {{ $labels.stream_table }} is stale",
			"It is refreshed, but reads a stream table that is failing or suspended."},
		{"SluiceStreamTableNotFilled", status("initializing"), "15m", warning,
			"Stream table {{ $labels.stream_table }} is not filled",
			"The stream table has no rows yet, because no refresh has filled it since it was created."},
		{"SluiceStreamTableDiffers", v.most("task_failing", `, task=~"stream table .*: check"`, "task") + " == 1", "0m", critical,
			"{{ $labels.task }} failed",
			"A scheduled check found rows of a stream table that its query does not have, or lacks, or the check ended with an error."},
	}
}

func ofInboxes(v view) []alert {
	health := func(health string) string {
		return v.most("inbox_health", fmt.Sprintf(", health=%q", health), "inbox") + " == 1"
	}
	all := []alert{
		{"SluiceInboxDegraded", health("degraded"), "5m", warning,
			"Inbox {{ $labels.inbox }} is degraded",
			"Messages wait for longer than the spec allows, or there are many dead letters."},
		{"SluiceInboxCritical", health("critical"), "2m", critical,
			"Inbox {{ $labels.inbox }} is critical",
			"Messages wait for much longer than the spec allows, or 100,000 or more are pending."},
		{"SluiceInboxPaused", v.most("inbox_paused", "", "inbox") + " == 1", "30m", warning,
			"Inbox {{ $labels.inbox }} is paused",
			"Claims hand out no messages, since somebody paused the inbox. It receives messages all the same."},
	}
	if len(v.Wired()) > 0 {
		all = append(all, alert{"SluiceInboxQuarantine", v.most("inbox_quarantined", "", "inbox") + " > 0", "5m", warning,
			"Inbox {{ $labels.inbox }} has documents in quarantine",
			"Documents arrived that do not have the wire format of the inbox."})
	}
	return all
}

func ofOutboxes(v view) []alert {
	const group = "group, outbox"
	return []alert{
		{"SluiceOutboxTooLarge", v.most("outbox_storage_degraded", "", "outbox") + " == 1", "15m", warning,
			"Outbox {{ $labels.outbox }} takes too much disk",
			"The outbox is larger than the setting outbox_storage_critical_mb allows. Most often a consumer group does not keep up."},
		{"SluiceOutboxGap", v.most("outbox_gap_age_seconds", "", "outbox") + " > 60", "1m", warning,
			"Outbox {{ $labels.outbox }} waits for an open transaction",
			"A transaction has published and is open for more than a minute. Retention, and events of the keys that it has published, wait for it."},
		{"SluiceGroupWithoutConsumers", v.most("group_lag_rows", "", group) + " > 0 and " + v.most("group_healthy_consumers", "", group) + " == 0", "5m", critical,
			"Consumer group {{ $labels.group }} of outbox {{ $labels.outbox }} has no consumers",
			"The group is behind, and none of its consumers showed a sign of life within a minute."},
		{"SluiceGroupHeld", v.most("group_held_seconds", "", group) + " > 0", "30s", critical,
			"Consumer group {{ $labels.group }} of outbox {{ $labels.outbox }} is held by an open transaction",
			"A transaction that polled stays open, so polls of all other consumers of the group fail."},
		{"SluiceGroupPaused", v.most("group_paused", "", group) + " == 1", "30m", warning,
			"Consumer group {{ $labels.group }} of outbox {{ $labels.outbox }} is paused",
			"Polls return no events, since somebody paused the group. The outbox keeps its events for it."},
		{"SluiceGroupDeadLetters", v.most("group_dead_letters", "", group) + " > 0", "5m", warning,
			"Consumer group {{ $labels.group }} of outbox {{ $labels.outbox }} has dead letters",
			"Events were rejected by their consumer, or failed too often."},
	}
}

func ofRelays() []alert {
	return []alert{
		{"SluiceRelayDown", "sluice_relay_up == 0", "2m", critical,
			"Pipeline {{ $labels.pipeline }} of the relay on {{ $labels.instance }} does not work",
			"A worker of the pipeline cannot reach its source or its sink. Events wait; none are lost."},
		{"SluiceRelayRejects", `sum by (job, pipeline) (increase(sluice_relay_events_total{outcome="rejected"}[15m])) > 0`, "0m", warning,
			"Pipeline {{ $labels.pipeline }} of the relay rejects events",
			"Events could not be delivered and became dead letters within the last 15 minutes."},
	}
}
