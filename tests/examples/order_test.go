package examples

import (
	"fmt"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestPythonOrdered(t *testing.T) { orderedKilled(t, python(), "ordered.py") }

func TestNodeOrdered(t *testing.T) { orderedKilled(t, "node", nodeScript(t, "ordered.mjs")) }

const accountsSpec = `
version: 1
extension: {name: bank, version: 1.0.0, schema: pgtrickle}
inboxes:
  - {name: account_events, max_retries: 2, retry: {initial: 10ms, max: 10ms}, ordering: {sequence: number}}
`

// orderedKilled kills workers with kill -9 while they process messages of 40 accounts that arrived in any order, and some twice. Each is processed
// once and in sequence, so none fails but one that always does; those behind it wait.
func orderedKilled(t *testing.T, worker ...string) {
	db := installed.DB(t, installed.Text(t, accountsSpec))
	each := pgtest.ShortOrLong(30, 100)
	db.Exec(t, fmt.Sprintf(`
		create table accounts (account text primary key, balance bigint not null default 0, version bigint not null default 0);
		insert into accounts (account) select 'a' || n from generate_series(1, 40) n;
		insert into accounts (account) values ('bad');
		select setseed(0.5);
		select count(pgtrickle.inbox_receive('account_events', 'a' || a || '-' || n, 'booked', jsonb_build_object('amount', n), p_aggregate_id => 'a' || a, p_sequence => n::text))
		from (
			select a, n
			from generate_series(1, 40) a, (select generate_series(1, %d) union all select generate_series(7, 9)) n (n)
			order by random()
		) m;
		select pgtrickle.inbox_receive('account_events', 'bad-' || n, 'booked', case n when 3 then '{}' else '{"amount": 1}' end::jsonb, p_aggregate_id => 'bad', p_sequence => n::text)
		from generate_series(1, 5) n`, each))
	done := fmt.Sprintf(`
		select sum(version) = %d and exists (select from pgtrickle.account_events_dlq where event_id = 'bad-3') from accounts`, 40*each+2)
	command := append(worker, db.DSN(), "account_events")
	killedAt(t, db, "select sum(version) from accounts", 40*each, done, command, command, command)
	if got := pgtest.One[int](t, db, "select count(*) from accounts where balance = $1 and version = $2", each*(each+1)/2, each); got != 40 {
		t.Errorf("%d of 40 accounts have their balance", got)
	}
	if got := pgtest.One[string](t, db, "select string_agg(event_id, ' ' order by number) from pgtrickle.account_events where processed_at is null"); got != "bad-3 bad-4 bad-5" {
		t.Errorf("not processed: %s", got)
	}
	if got := pgtest.One[int](t, db, "select count(*) from pgtrickle.account_events where error is not null and event_id <> 'bad-3'"); got != 0 {
		t.Errorf("%d messages came out of order", got)
	}
}

func TestPythonLatest(t *testing.T) { latestKilled(t, python(), "latest.py") }

func TestNodeLatest(t *testing.T) { latestKilled(t, "node", nodeScript(t, "latest.mjs")) }

// latestKilled kills consumers with kill -9 while they follow 8000 events of 200 keys: what is stored is the newest of each.
func latestKilled(t *testing.T, consumer ...string) {
	source, target := events(t), pgtest.DB(t)
	target.Exec(t, "create table latest (key text primary key, id bigint not null, payload jsonb not null)")
	source.Exec(t, `
		select setseed(0.5);
		insert into events.outbox_shop_events (event_type, aggregate_id, payload)
		select 'order.changed', 'k' || (random() * 199)::integer, jsonb_build_object('n', n, 'text', 'ü') from generate_series(1, 8000) n`)
	var commands [][]string
	for n := range 3 {
		commands = append(commands, append(consumer[:len(consumer):len(consumer)], source.DSN(), target.DSN(), "shipping", fmt.Sprintf("c%d", n)))
	}
	killedAt(t, source, "select 8000 - lag_rows from events.pgt_consumer_group_lag where group_name = 'shipping'", 8000, nothingLeft, commands...)
	const all = "select string_agg(concat_ws(' ', key, id, payload), ',' order by key collate \"C\") from "
	want := pgtest.One[string](t, source, all+`(
		select distinct on (aggregate_id) aggregate_id as key, id, payload from events.outbox_shop_events order by aggregate_id, id desc
	) e`)
	if got := pgtest.One[string](t, target, all+"latest"); got != want {
		t.Errorf("stored %.300s, newest %.300s", got, want)
	}
}
