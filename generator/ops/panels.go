package ops

import "fmt"

// row is a heading of the dashboard with panels below it.
type row struct {
	title  string
	panels []chart
}

// chart is a panel: time series of some queries, in a unit as Grafana names it.
type chart struct {
	title, unit string
	series      []series
}

// series is a query of PromQL, and how its lines are named.
type series struct{ expr, legend string }

// rows are those of what the extension has.
func rows(v view) []row {
	all := []row{{"State", []chart{
		{"Status can be read", "bool_yes_no", []series{{fmt.Sprintf("max by (job) (sluice_up{%s})", v.Of), "{{job}}"}}},
		{"Problems that sluice status shows", "none", []series{{fmt.Sprintf("max by (job) (sluice_problems{%s})", v.Of), "{{job}}"}}},
	}}}
	if v.HasTables {
		all = append(all, row{"Stream tables", []chart{
			v.chart("Staleness", "s", "stream_table_staleness_seconds", "stream_table"),
			v.chart("Rows waiting in change logs", "short", "stream_table_waiting_rows", "stream_table"),
			v.chart("Refreshes that failed in a row", "none", "stream_table_consecutive_errors", "stream_table"),
		}})
	}
	if v.HasInboxes {
		all = append(all, row{"Inboxes", []chart{
			v.chart("Pending messages", "short", "inbox_pending", "inbox"),
			v.chart("Age of the oldest pending message", "s", "inbox_oldest_pending_age_seconds", "inbox"),
			v.chart("Dead letters", "short", "inbox_dead_letters", "inbox"),
			{"Messages processed per second", "ops", []series{{fmt.Sprintf("max by (job, inbox) (rate(sluice_inbox_processed_total{%s}[$__rate_interval]))", v.Of), "{{inbox}}"}}},
		}})
	}
	if v.HasOutboxes {
		all = append(all, row{"Outboxes", []chart{
			v.chart("Rows", "short", "outbox_rows", "outbox"),
			v.chart("Size on disk", "bytes", "outbox_bytes", "outbox"),
			v.chart("Age of the oldest row", "s", "outbox_oldest_age_seconds", "outbox"),
		}}, row{"Consumer groups", []chart{
			v.chart("Lag in rows", "short", "group_lag_rows", "group"),
			v.chart("Leased rows", "short", "group_leased_rows", "group"),
			{"Consumers", "none", []series{v.series("group_healthy_consumers", "group", " healthy"), v.series("group_consumers", "group", " all")}},
			v.chart("Dead letters", "short", "group_dead_letters", "group"),
		}})
	}
	all = append(all, row{"Background work", []chart{
		{"Tick duration", "s", []series{quantile("sluice_tick_seconds_bucket", v.Of, "extension", 0.5), quantile("sluice_tick_seconds_bucket", v.Of, "extension", 0.99)}},
		v.chart("Time since a task ran", "s", "task_last_run_age_seconds", "task"),
		v.chart("Tasks that fail", "none", "task_failing", "task"),
	}})
	if v.HasInboxes || v.HasOutboxes {
		all = append(all, row{"Relay", relay()})
	}
	return all
}

func relay() []chart {
	return []chart{
		{"Events per second by outcome", "ops", []series{{"sum by (pipeline, outcome) (rate(sluice_relay_events_total[$__rate_interval]))", "{{pipeline}} {{outcome}}"}}},
		{"Age of events at delivery", "s", []series{
			quantile("sluice_relay_event_age_seconds_bucket", "", "pipeline", 0.5), quantile("sluice_relay_event_age_seconds_bucket", "", "pipeline", 0.99),
		}},
		{"Retries per second", "ops", []series{{"sum by (pipeline) (rate(sluice_relay_retries_total[$__rate_interval]))", "{{pipeline}}"}}},
		{"Pipeline works", "bool_yes_no", []series{{"min by (pipeline) (sluice_relay_up)", "{{pipeline}}"}}},
	}
}

// chart shows one metric of each object.
func (v view) chart(title, unit, metric, by string) chart {
	return chart{title, unit, []series{v.series(metric, by, "")}}
}

func (v view) series(metric, by, which string) series {
	return series{fmt.Sprintf("max by (job, %s) (sluice_%s{%s})", by, metric, v.Of), "{{" + by + "}}" + which}
}

func quantile(metric, of, by string, q float64) series {
	return series{fmt.Sprintf("histogram_quantile(%g, sum by (%s, le) (rate(%s{%s}[$__rate_interval])))", q, by, metric, of), fmt.Sprintf("{{%s}} p%g", by, 100*q)}
}
