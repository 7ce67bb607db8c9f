package live

import (
	"fmt"
	"strings"
)

// statement picks the next statement of a session.
func (r *randomRun) statement(s *app) string {
	if s == r.apps[3] {
		return r.pick(background)(r)
	}
	if s.conn.PgConn().TxStatus() == 'I' {
		s.savepoints = 0
		if r.rand.IntN(3) == 0 {
			return "begin"
		}
	} else if r.rand.IntN(3) == 0 {
		return r.control(s)
	}
	return r.pick(statements)(r)
}

// control goes on with an open transaction.
func (r *randomRun) control(s *app) string {
	switch n := r.rand.IntN(8); {
	case n < 2 && s.savepoints < 3:
		s.savepoints++
		return fmt.Sprintf("savepoint s%d", s.savepoints)
	case n < 4 && s.savepoints > 0:
		return fmt.Sprintf("rollback to s%d", s.savepoints)
	case n < 5 && s.savepoints > 0:
		s.savepoints--
		return fmt.Sprintf("release s%d", s.savepoints+1)
	case n < 7:
		return "commit"
	default:
		return "rollback"
	}
}

type choice struct {
	weight int
	make   func(r *randomRun) string
}

func (r *randomRun) pick(from []choice) func(*randomRun) string {
	total := 0
	for _, c := range from {
		total += c.weight
	}
	n := r.rand.IntN(total)
	for _, c := range from {
		if n -= c.weight; n < 0 {
			return c.make
		}
	}
	panic("unreachable")
}

func (r *randomRun) one(of ...string) string { return of[r.rand.IntN(len(of))] }

var inboxes = []string{"soon", "later", "frail"}

func (r *randomRun) inbox() string { return r.one(inboxes...) }
func (r *randomRun) id() string    { return fmt.Sprintf("m%02d", r.rand.IntN(40)) }
func (r *randomRun) kind() string  { return r.one("a", "b", "c") }
func (r *randomRun) retry() string { return r.one("0", "0", "0", "1", "2", "3", "4") }
func (r *randomRun) someIDs() string {
	ids := make([]string, 1+r.rand.IntN(4))
	for i := range ids {
		ids[i] = "'" + r.id() + "'"
	}
	return strings.Join(ids, ", ")
}

func (r *randomRun) received() string {
	return r.one("now()", "now()", "clock_timestamp()", "clock_timestamp() - interval '0.9 s'", "clock_timestamp() - interval '1.1 s'", "clock_timestamp() + interval '0.2 s'", "now() - interval '2 s'", "now() - interval '9 days'", "now() + interval '1 hour'", "'1950-01-01'", "date_trunc('minute', now())")
}

func (r *randomRun) processed() string {
	return r.one("null", "null", "null", "now()", "clock_timestamp()", "now() - interval '8 days'")
}

func (r *randomRun) available() string {
	return r.one("null", "null", "now() - interval '1 s'", "now() + interval '3 hours'")
}

// rows are those of an insert, or of a query for merge.
func (r *randomRun) rows(inbox string) string {
	rows := make([]string, 1+r.rand.IntN(5))
	for i := range rows {
		due := r.available()
		rows[i] = fmt.Sprintf("('%s', '%s', '{}'::jsonb, (%s)::timestamptz, (%s)::timestamptz, %s, 'g%d', (%s)::timestamptz)",
			r.id(), r.kind(), r.received(), r.processed(), r.retry(), r.rand.IntN(3), due)
		if inbox == "soon" {
			rows[i] = strings.TrimSuffix(rows[i], ", ("+due+")::timestamptz)") + ")"
		}
	}
	return strings.Join(rows, ", ")
}

func columns(inbox string) string {
	names := "event_id, event_type, payload, received_at, processed_at, retry_count, aggregate_id"
	if inbox != "soon" {
		names += ", available_at"
	}
	return names
}

func (r *randomRun) insert(conflict string) string {
	inbox := r.inbox()
	return fmt.Sprintf("insert into pgtrickle.%s (%s) values %s %s", inbox, columns(inbox), r.rows(inbox), conflict)
}

func (r *randomRun) update(set string) string {
	return fmt.Sprintf("update pgtrickle.%s set %s where event_id in (%s)", r.inbox(), set, r.someIDs())
}

func (r *randomRun) call(format string, args ...any) string {
	return "select pgtrickle." + fmt.Sprintf(format, args...)
}

var statements = []choice{
	{8, func(r *randomRun) string { return r.insert("on conflict (event_id) do nothing") }},
	{3, func(r *randomRun) string {
		return r.insert("on conflict (event_id) do update set event_type = excluded.event_type, processed_at = excluded.processed_at")
	}},
	{2, func(r *randomRun) string {
		return r.insert("on conflict (event_id) do update set retry_count = excluded.retry_count, received_at = excluded.received_at")
	}},
	{3, func(r *randomRun) string {
		return fmt.Sprintf("insert into pgtrickle.%s (event_id, event_type, payload) select 'n' || i, '%s', '{}' from generate_series(%d, 20) i on conflict do nothing", r.inbox(), r.kind(), r.rand.IntN(20))
	}},
	{2, func(r *randomRun) string { return r.copy() }},
	{2, func(r *randomRun) string { return r.merge() }},
	{4, func(r *randomRun) string { return r.update("processed_at = " + r.processed()) }},
	{3, func(r *randomRun) string { return r.update("retry_count = " + r.retry()) }},
	{2, func(r *randomRun) string { return r.update("event_type = '" + r.kind() + "'") }},
	{3, func(r *randomRun) string { return r.update("received_at = " + r.received()) }},
	{1, func(r *randomRun) string { return r.update("trace_id = 'x', error = 'y'") }},
	{3, func(r *randomRun) string {
		return fmt.Sprintf("update pgtrickle.%s set event_id = '%s' where event_id = '%s'", r.inbox(), r.id(), r.id())
	}},
	{2, func(r *randomRun) string { // one id leaves, another message takes it
		old := r.id()
		return fmt.Sprintf("update pgtrickle.later set event_id = 'r%d' where event_id = '%s'; insert into pgtrickle.later (event_id, event_type, payload) values ('%[2]s', 'a', '{}') on conflict do nothing", r.rand.IntN(1000), old)
	}},
	{2, func(r *randomRun) string {
		return fmt.Sprintf("update pgtrickle.later set available_at = %s where event_id in (%s)", r.available(), r.someIDs())
	}},
	{3, func(r *randomRun) string {
		return fmt.Sprintf("delete from pgtrickle.%s where event_id in (%s)", r.inbox(), r.someIDs())
	}},
	{1, func(r *randomRun) string {
		return fmt.Sprintf("with gone as (delete from pgtrickle.soon where event_id in (%s) returning *) insert into pgtrickle.later (%s) select %s from gone on conflict do nothing",
			r.someIDs(), columns("soon"), columns("soon"))
	}},
	{2, func(r *randomRun) string {
		return r.call("inbox_receive('%s', '%s', '%s', '{}')", r.inbox(), r.id(), r.kind())
	}},
	{4, func(r *randomRun) string { return r.call("inbox_mark_processed('%s', '%s')", r.inbox(), r.id()) }},
	{4, func(r *randomRun) string { return r.call("inbox_mark_failed('%s', '%s', 'no')", r.inbox(), r.id()) }},
	{4, func(r *randomRun) string {
		inbox := r.inbox()
		mark := r.one("inbox_mark_processed('%[1]s', event_id)", "inbox_mark_failed('%[1]s', event_id, 'no')")
		return r.call(mark+" from claimed('%[1]s', %[2]d) event_id", inbox, 1+r.rand.IntN(6))
	}},
	{3, func(r *randomRun) string {
		return fmt.Sprintf("select claimed('%s', %d)", r.inbox(), 1+r.rand.IntN(6))
	}},
	{2, func(r *randomRun) string {
		messages := strings.NewReplacer("'", "", ", ", `", "event_type": "a", "payload": {}}, {"event_id": "`).Replace(r.someIDs())
		return r.call(`inbox_receive_many('%s', '[{"event_id": "%s", "event_type": "b", "payload": 1}]')`, r.inbox(), messages)
	}},
	{2, func(r *randomRun) string {
		return r.call("inbox_mark_processed('%s', array[%s])", r.inbox(), r.someIDs())
	}},
	{2, func(r *randomRun) string {
		return r.call("inbox_mark_failed('%s', array[%s], 'no')", r.inbox(), r.someIDs())
	}},
	{4, func(r *randomRun) string { // those of frail count attempts that the test knows nothing of
		return r.call("inbox_claim_lease('later', %d, '%s')", 1+r.rand.IntN(6), r.one("1 hour", "1 hour", "20 ms"))
	}},
	{6, func(r *randomRun) string {
		call := r.one("inbox_mark_processed(%s)", "inbox_mark_failed(%s, 'no', p_lease_id => min(l.lease_id))", "inbox_extend(%s, '1 hour')", "inbox_release(%s)", "inbox_release(%s, '1 hour')")
		args := fmt.Sprintf("l.inbox_name, array_agg(u.event_id), min(l.lease_id) + %d", r.rand.IntN(8)/7)
		if strings.Contains(call, "p_lease_id") {
			args = "l.inbox_name, array_agg(u.event_id)"
		}
		return r.call(call+" from pgtrickle_internal.pgt_inbox_leases l, unnest(l.event_ids) u (event_id) group by l.inbox_name, l.lease_id order by random() limit 1", args)
	}},
	{4, func(r *randomRun) string { // the loop that docs/inbox.md recommends, for one message, in a transaction of its own if there is none
		return fmt.Sprintf("do $$ declare v text; begin for v in select claimed('%[1]s', 2) loop begin perform 1 / %[2]d; perform pgtrickle.inbox_mark_processed('%[1]s', v);"+
			" exception when division_by_zero then perform pgtrickle.inbox_mark_failed('%[1]s', v, sqlerrm); end; end loop; end $$", r.inbox(), r.rand.IntN(2))
	}},
	{4, func(r *randomRun) string { return fmt.Sprintf("select claimed('frail', %d)", 1+r.rand.IntN(2)) }},
	{2, func(r *randomRun) string {
		return r.call("replay_inbox_messages('%s', array[%s], p_include_processed => %s)", r.inbox(), r.someIDs(), r.one("true", "false"))
	}},
	{1, func(r *randomRun) string {
		return r.call("replay_inbox_messages('%s', p_event_type => '%s')", r.inbox(), r.kind())
	}},
	{1, func(r *randomRun) string { return r.call("tick_once()") }},
	{1, func(r *randomRun) string {
		return fmt.Sprintf("select event_id from pgtrickle.%s where event_id in (%s) for update skip locked", r.inbox(), r.someIDs())
	}},
}

// background is what the fourth session does.
var background = []choice{
	{12, func(*randomRun) string { return "call pgtrickle.tick()" }},
	{3, func(*randomRun) string {
		return "update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'"
	}},
	{1, func(r *randomRun) string {
		return fmt.Sprintf("begin; truncate pgtrickle.%s; %s", r.inbox(), r.one("commit", "rollback"))
	}},
	{1, func(*randomRun) string { return "select pgtrickle.after_restore()" }},
	{1, func(r *randomRun) string {
		return fmt.Sprintf("update pgtrickle.pgt_settings set value = '%s' where name = 'inbox_processed_retention_hours'", r.one("0", "72", "1"))
	}},
}

func (r *randomRun) copy() string {
	inbox := r.inbox()
	var rows strings.Builder
	for range 1 + r.rand.IntN(4) {
		fmt.Fprintf(&rows, "%s\t%s\t{}\t%s\n", r.id(), r.kind(), r.one("now", "yesterday", "1960-01-01", "tomorrow"))
	}
	return fmt.Sprintf("copy pgtrickle.%s (event_id, event_type, payload, received_at) from stdin\n%s", inbox, rows.String())
}

func (r *randomRun) merge() string {
	inbox := r.inbox()
	if r.db.Server.Major < 15 {
		return r.insert("on conflict do nothing")
	}
	return fmt.Sprintf(`merge into pgtrickle.%[1]s t using (values %[2]s) v (%[3]s) on t.event_id = v.event_id
when matched and v.event_type = 'a' then delete
when matched then update set processed_at = v.processed_at, retry_count = v.retry_count
when not matched then insert (%[3]s) values (v.%[4]s)`, inbox, r.rows(inbox), columns(inbox), strings.ReplaceAll(columns(inbox), ", ", ", v."))
}
