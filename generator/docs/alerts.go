package docs

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
)

type object = upgrade.Object

// alert is a kind of notification on alertChannel. A test compares them with what the SQL sends.
type alert struct{ typ, fields, when string }

const (
	alertChannel  = "pg_trickle_alert"
	outboxChannel = render.OutboxChannel
	inboxChannel  = render.InboxChannel
)

var alerts = []alert{
	{"inbox_dlq_message", "inbox, event_id, event_type, retry_count, error", "A message became a dead letter."},
	{"inbox_dlq_batch", "inbox, count", "More became dead letters at once than are alerted one by one."},
	{"inbox_quarantined", "inbox, document_id, reason, topic, topic_partition, topic_offset", "A document could not be decoded."},
	{"inbox_quarantine_batch", "inbox, count", "More could not be decoded at once than are alerted one by one."},
	{"inbox_ordering_gap", "inbox, aggregate_id, missing_from, missing_to, gap_age_seconds", "A number has been missing in an ordered inbox for too long."},
	{"inbox_ordering_gap_batch", "inbox, count", "More gaps became that old at once than are alerted one by one."},
	{"inbox_replay", "inbox, count, event_type, include_processed", "Messages were made pending again."},
	{"refresh_failed", "stream_table, errors, error", "Refreshes of a stream table began to fail."},
	{"auto_suspended", "stream_table, errors, error", "It failed three times in a row, its fuse blew, or in immediate mode a source was altered: it is not kept up to date any more."},
	{"suspended", "stream_table, errors, error", "`suspend_stream_table` was called."},
	{"resumed", "stream_table, errors, error", "Its errors were forgotten: the next tick refreshes it."},
	{"refresh_completed", "stream_table, errors, error", "It was refreshed, after errors."},
	{"stream_table_differs", "stream_table, missing, extra", "A check found that a stream table differs from its query, which the one before did not."},
	{"outbox_full_refresh", "outbox, stream_table, outbox_id, refresh_id, inserted_count", "An outbox publishes its whole stream table."},
	{"outbox_storage_critical", "outbox, total_bytes", "An outbox has grown beyond `outbox_storage_critical_mb`."},
	{"consumer_unhealthy", "outbox, group, consumer, last_heartbeat_at", "A consumer was not heard of for a minute."},
	{"consumer_reaped", "outbox, group, consumer, last_offset", "A consumer was silent for so long that it is forgotten."},
	{"outbox_sequence_repaired", "outbox, cache, drawn_id, used_id, late_rows", "The sequence of an outbox cached numbers, or was behind after a failover; it was put right."},
	{"consumer_group_held", "outbox, group, holder, since", "A transaction polled and stays open: polls of others fail."},
	{"consumer_group_idle", "outbox, group, lag_rows, policy", "Nobody consumes for a group."},
	{"consumer_seeked", "group, consumer, outbox, offset", "A group was moved to another offset."},
}

func (w *writer) alerts() part {
	t := &table{Head: []string{"type", "When", "Other fields"}}
	for _, a := range alerts {
		if slices.ContainsFunc(w.Objects, func(o object) bool { return o.Kind == "function" && strings.Contains(o.SQL, "'"+a.typ+"'") }) {
			t.Rows = append(t.Rows, []text{code(a.typ), say(a.when), code(a.fields)})
		}
	}
	if len(t.Rows) == 0 {
		return part{}
	}
	var waking []string // what notifies at commit
	for _, o := range w.Outboxes {
		if o.Notify != nil {
			waking = append(waking, o.Notify.Payload)
		}
	}
	p := part{ID: "alerts", Title: "Alerts and notifications", Blocks: []block{
		paragraph(say("`listen %s`: a JSON object of less than 8000 bytes, once for each transition, when the transaction commits.", alertChannel)),
		{Table: t},
	}}
	if len(w.Outboxes) > 0 {
		p.Blocks = append(p.Blocks, paragraph(say("`listen %s`: the name of an outbox's table, when it has new rows. What applications write is notified by the next tick. "+
			"Poll now and then all the same: a row that commits late, below one that was notified, is not.", outboxChannel)))
	}
	if len(waking) > 0 {
		p.Blocks = append(p.Blocks, paragraph(say("Transactions that write %s notify when they commit, whatever their rows' ids.", strings.Join(waking, ", "))))
	}
	if slices.ContainsFunc(w.Inboxes, func(i render.Inbox) bool { return i.Notify != nil }) {
		p.Blocks = append(p.Blocks, paragraph(say("`listen %s`: the name of an inbox that has new messages, when they commit. Messages that are due again later are not notified.", inboxChannel)))
	}
	return p
}

// background lists what tick() does, and when.
func (w *writer) background() part {
	t := &table{Head: []string{"Task", "When", "What"}}
	row := func(task string, when, what text) { t.Rows = append(t.Rows, []text{code(task), when, what}) }
	for _, s := range w.StreamTables {
		if !s.Immediate {
			row(s.ID(), w.refreshed(s), joined(say("refreshes stream table "), linked("stream-table", s.ID())))
		}
	}
	if w.FromSQLTable != nil {
		row("stream tables of create_stream_table", say("as the schedule of each says"), say("refreshes it"))
	}
	for _, s := range w.Checked() {
		row(s.CheckTask(), say("every %s, one a tick at most", s.Check), joined(say("compares with its query stream table "), linked("stream-table", s.ID())))
	}
	for _, i := range w.Inboxes {
		row(i.FoldTask(), say("%s", every(i.Schedule, i.LastDue)), joined(say("counts, and alerts dead letters of "), linked("inbox", i.Name)))
		row(i.DrainTask(), seconds("inbox_drain_interval_seconds"), say("deletes what was processed and is past its retention"))
	}
	if len(w.Outboxes) > 0 {
		row(render.GroupsTask, say("each tick"), say("notifies outboxes, alerts silent consumers, trims the lease log"))
	}
	for _, o := range w.givenOutboxes() {
		row(o.DrainTask(), seconds("outbox_drain_interval_seconds"), say("deletes what every group has committed and is past its retention"))
	}
	if len(w.Sources) > 0 {
		row(render.PruneTask, say("each tick"), say("deletes changes that all stream tables have seen"))
	}
	if w.HasStreamTables() {
		row(render.HistoryTask, say("every minute"), say("deletes refreshes of more than a week ago"))
	}
	if len(t.Rows) == 0 {
		return part{}
	}
	return part{ID: "background-work", Title: "Scheduled jobs", Blocks: []block{
		paragraph(joined(say("All of it is done by "), w.function("tick"), say(", every %s, which has to be called: by pg_cron job `%s: run` (`jobs/pg_cron_1.4.sql` or `jobs/pg_cron_1.5.sql`, `jobs/remove.sql`), or by `sluice run`. "+
			"Several may call it at once. When each ran last and what went wrong is in ", w.TickEvery(), w.Extension.Extension.Extension), linked("table", w.InInternal("pgt_tasks").String()), say("."))),
		{Table: t},
	}}
}

func seconds(name string) text { return joined(say("every "), setting(name), say(" seconds")) }
