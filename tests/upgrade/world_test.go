package upgrade

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// world uses everything of a version, so that something could be lost.
type world struct {
	db     *pgx.Conn
	rounds int
	held   map[string]int64 // the last id that the holder of each group was granted
	holder string
}

// quarantine is there in versions that have an inbox with a wire format.
const quarantine = "pgtrickle.pgt_inbox_quarantine"

// use receives, claims, publishes, polls, commits, rejects, writes sources and ticks.
func (w *world) use(t *testing.T) {
	t.Helper()
	w.rounds++
	w.held, w.holder = map[string]int64{}, fmt.Sprint("holder ", w.rounds)
	w.sources(t)
	exec(t, w.db, "set pg_trickle.tenant = 'te'")
	for _, inbox := range w.inboxes(t) {
		exec(t, w.db, "select pgtrickle.inbox_receive($1, 'm' || i || $3, 't' || i % 2, '{}') from generate_series(10 * $2, 10 * $2 + 9) i", inbox, w.rounds, w.suffix(t, inbox))
		exec(t, w.db, "select pgtrickle.inbox_mark_processed($1, event_id) from pgtrickle.inbox_claim($1, 2)", inbox)
		exec(t, w.db, "select pgtrickle.inbox_mark_failed($1, $3 || 10 * $2 + 9 || $4, 'no')", inbox, w.rounds, w.prefix(t, inbox)+"m", w.suffix(t, inbox))
	}
	for _, inbox := range w.remembering(t) {
		table := pgx.Identifier{"pgtrickle", inbox}.Sanitize()
		id := "event_id"
		if w.prefix(t, inbox) != "" {
			id = "message_id"
		}
		exec(t, w.db, "insert into "+table+" ("+id+", event_type, payload, received_at, processed_at) select 'past ' || $1::int, 't0', '{}', now() - interval '9 d', now() - interval '9 d'", w.rounds)
		for range 2 { // notes the ids, then deletes the messages
			exec(t, w.db, "select pgtrickle_internal.pgt_inbox_drain($1, 1000)", inbox)
		}
	}
	if w.has(t, quarantine) {
		for _, inbox := range w.inboxes(t) {
			// Of an inbox without a wire format, an error that changes nothing.
			w.db.Exec(t.Context(), "select pgtrickle.inbox_receive_wire($1, 'document ' || $2::int)", inbox, w.rounds)
		}
	}
	for _, outbox := range w.outboxes(t) {
		exec(t, w.db, "select pgtrickle.outbox_publish($1, 't' || i % 2, jsonb_build_object('n', i), 'k' || i % 3) from generate_series(1, 9) i", outbox)
	}
	exec(t, w.db, "call pgtrickle.tick()")
	refreshAll(t, w.db) // whatever their schedules
	for _, group := range w.groups(t) {
		exec(t, w.db, "select pgtrickle.commit_offset($1, 'quick', max(p.id)) from pgtrickle.poll_outbox($1, 'quick', 2) p having count(*) > 0", group)
		w.held[group] = pgtest.One[int64](t, w.db, "select coalesce(max(id), 0) from pgtrickle.poll_outbox($1, $2, 3, 10000)", group, w.holder)
		exec(t, w.db, "select pgtrickle.reject_rows($1, 'strict', array_agg(p.id), 'no') from pgtrickle.poll_outbox($1, 'strict', 1, 10000) p having count(*) > 0", group)
	}
	if w.has(t, "pgtrickle.pgt_settings") {
		exec(t, w.db, "update pgtrickle.pgt_settings set value = '17' where name = 'inbox_dlq_alert_max_per_refresh'")
	}
}

func (w *world) sources(t *testing.T) {
	t.Helper()
	exec(t, w.db, "insert into public.orders select 1000 + 10 * $1 + i, i, 5 * i, 'paid' from generate_series(1, 5) i", w.rounds)
	exec(t, w.db, "update public.orders set amount = amount + 1, status = 'paid' where id % 50 = $1", w.rounds)
	exec(t, w.db, "delete from public.orders where id % 50 = $1", 20+w.rounds)
}

func (w *world) has(t *testing.T, relation string) bool {
	t.Helper()
	return pgtest.One[bool](t, w.db, "select to_regclass($1) is not null", relation)
}

func (w *world) inboxes(t *testing.T) []string {
	t.Helper()
	return pgtest.Column[string](t, w.db, "select inbox_name from pgtrickle.pgt_inbox_config order by 1")
}

// remembering are the inboxes that remember ids longer than messages.
func (w *world) remembering(t *testing.T) []string {
	t.Helper()
	return pgtest.Column[string](t, w.db, "select inbox_name from pgtrickle.pgt_inbox_config c where to_jsonb(c) ->> 'dedup_window' is not null order by 1")
}

// prefix is what ids of an inbox begin with that keeps tenants apart.
func (w *world) prefix(t *testing.T, inbox string) string {
	t.Helper()
	return pgtest.One[string](t, w.db, "select case when to_jsonb(c) ->> 'tenant_column' is null then '' else 'te/' end from pgtrickle.pgt_inbox_config c where inbox_name = $1", inbox)
}

// suffix is what ids of an inbox end in that have a column more.
func (w *world) suffix(t *testing.T, inbox string) string {
	t.Helper()
	return pgtest.One[string](t, w.db, "select case when to_jsonb(c) ->> 'id_columns' is null then '' else '/0' end from pgtrickle.pgt_inbox_config c where inbox_name = $1", inbox)
}

func (w *world) outboxes(t *testing.T) []string {
	t.Helper()
	if !w.has(t, "pgtrickle_internal.pgt_outboxes") {
		return nil
	}
	return pgtest.Column[string](t, w.db, "select outbox_name from pgtrickle_internal.pgt_outboxes where kind = 'event' order by 1")
}

func (w *world) groups(t *testing.T) []string {
	t.Helper()
	if !w.has(t, "pgtrickle.pgt_consumer_groups") {
		return nil
	}
	return pgtest.Column[string](t, w.db, "select group_name from pgtrickle.pgt_consumer_groups order by 1")
}

// survey is what must survive an upgrade: texts by what they are about. A new version may lack some of that, and add rows to outboxes of stream
// tables, but no row up to before's newest.
func (w *world) survey(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	take := func(what, sql string, args ...any) {
		found[what] = strings.Join(pgtest.Column[string](t, w.db, "select x from ("+sql+") q (x) order by x collate \"C\"", args...), "\n")
	}
	for _, inbox := range w.inboxes(t) {
		if inbox == "mine" { // a table of the user's
			take("inbox "+inbox, "select concat_ws(' ', msg_id, type, body, got, done, tries, error) from public.incoming")
		} else {
			table := pgx.Identifier{"pgtrickle", inbox}.Sanitize()
			take("inbox "+inbox, "select concat_ws(' ', event_id, event_type, payload, received_at, processed_at, retry_count, error, aggregate_id) from "+table)
		}
		take("counts of "+inbox, "select concat_ws(' ', pending_count + dlq_count, processed_count) from pgtrickle.inbox_status() where inbox_name = $1", inbox)
	}
	for _, inbox := range w.remembering(t) {
		take("ids of "+inbox, "select concat_ws(' ', event_id, processed_at) from "+pgx.Identifier{"pgtrickle_internal", inbox + "_past_ids"}.Sanitize())
	}
	if w.has(t, quarantine) {
		for _, inbox := range w.inboxes(t) {
			take("quarantine of "+inbox, "select q::text from pgtrickle.pgt_inbox_quarantine q where q.inbox_name = $1", inbox)
		}
	}
	for _, outbox := range w.outboxes(t) {
		take("outbox "+outbox, "select concat_ws(' ', id, created_at, event_type, aggregate_id, payload, headers) from "+pgx.Identifier{"pgtrickle", "outbox_" + outbox}.Sanitize())
	}
	for _, group := range w.groups(t) {
		take("group "+group, "select concat_ws(' ', group_id, outbox_name, paused_at) from pgtrickle.pgt_consumer_groups where group_name = $1", group)
		take("dead letters of "+group, "select d::text from pgtrickle.pgt_consumer_dead_letters d where group_name = $1", group)
		take("consumers of "+group, "select concat_ws(' ', consumer_id, last_offset) from pgtrickle.pgt_consumer_status where group_name = $1", group)
		take("leases of "+group, "select concat_ws(' ', consumer_id, first_id, last_id, visibility_until, attempts) from pgtrickle.pgt_consumer_active_leases where group_name = $1", group)
		take("stand of "+group, "select committed_offset::text from pgtrickle.pgt_consumer_group_lag where group_name = $1", group)
	}
	if w.has(t, "pgtrickle.pgt_outbox_config") {
		for _, row := range pgtest.Rows(t, w.db, "select outbox_name, outbox_table_name, delta_rows_table_name from pgtrickle.pgt_outbox_config where kind = 'stream_table'") {
			take("outbox "+row[0], "select e::text from pgtrickle."+row[1]+" e")
			take("delta rows of "+row[0], "select e::text from pgtrickle."+row[2]+" e")
		}
	}
	take("settings", "select value from pgtrickle.pgt_settings where name = 'inbox_dlq_alert_max_per_refresh'")
	return found
}

// kept compares two surveys. gone are the things that the upgrade was allowed to lose.
func kept(t *testing.T, version string, before, after map[string]string, gone func(what string) bool) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(before)) {
		now, there := after[what]
		grows := strings.HasPrefix(what, "outbox ") || strings.HasPrefix(what, "delta rows ")
		switch {
		case gone(what), !there && strings.HasPrefix(what, "ids of "): // the inbox does not remember them any more
		case !there:
			t.Errorf("%s: %s is gone", version, what)
		case now != before[what] && !(grows && containsLines(now, before[what])):
			t.Errorf("%s: %s\nbefore:\n%.2000s\nafter:\n%.2000s", version, what, before[what], now)
		}
	}
}

func containsLines(text, lines string) bool {
	if lines == "" {
		return true
	}
	have := strings.Split(text, "\n")
	return !slices.ContainsFunc(strings.Split(lines, "\n"), func(line string) bool { return !slices.Contains(have, line) })
}
