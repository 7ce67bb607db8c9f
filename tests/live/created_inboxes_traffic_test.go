package live

import (
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestCreatedInboxesUnderTraffic upgrades an extension, and has its spec take an inbox over, while applications send messages to it, workers process them and
// ticks run: none is lost, none is processed twice, and counts are exact.
func TestCreatedInboxesUnderTraffic(t *testing.T) {
	versions, released := createdVersions(t, 3)
	db := pgtest.DB(t)
	db.SuperExec(t, pgtest.MakeRoles("created_worker"))
	defer db.SuperExec(t, "drop owned by created_worker; drop role created_worker")
	db.Exec(t, versions[0].Install(generator.Plain))
	db.Exec(t, trackedDDL+"select box.create_inbox('letters', 'app', 2, p_retention_hours => 0); create table done (id text); create table orders_done (id bigint); "+
		"select box.enable_inbox_tracking('orders', 'app.orders', 'no', p_received_at_column => 'got', p_max_retries => 2); "+
		"select box.create_inbox('turns'); alter table box.turns add column \"the 'number\" bigint; create table turns_done (no bigint generated always as identity, id text); "+
		"select box.enable_inbox_ordering('turns', p_sequence_column => 'the ''number')")
	stop := make(chan struct{})
	var all sync.WaitGroup
	session := func(work func(n int, exec func(sql string, args ...any) error) error) {
		conn := db.Connect(t)
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				err := work(n, func(sql string, args ...any) error {
					_, err := conn.Exec(t.Context(), sql, args...)
					return err
				})
				if err == nil {
					continue
				}
				text := pgtest.ErrorText(err)
				if !regexp.MustCompile(`\((40P01|42P01|42703|42883|20000|XX000|0A000|42704|55006)\)`).MatchString(text) {
					t.Error(text)
				}
				conn.Exec(t.Context(), "rollback")
			}
		})
	}
	for sender := range 2 {
		session(func(n int, exec func(string, ...any) error) error {
			if n%5 == 4 {
				return exec("insert into app.orders (no, event_type, payload) values ($1, 't', '{}')", 2*n+sender)
			} else if n%5 == 3 {
				return exec("select box.inbox_receive('orders', $1, 't', '{}')", fmt.Sprint(-2*n-sender))
			} else if n%2 == 0 {
				return exec("insert into app.letters (event_id, event_type, payload) values ($1, 't', '{}')", fmt.Sprint("plain ", sender, " ", n))
			}
			return exec("select box.inbox_receive('letters', $1, 't', '{}')", fmt.Sprint(sender, " ", n))
		})
	}
	for range 2 {
		session(func(n int, exec func(string, ...any) error) error {
			if n%5 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			if n%2 == 0 {
				return exec("with c as (select event_id from box.inbox_claim('orders', 5)), d as (insert into orders_done select event_id::bigint from c) select box.inbox_mark_processed('orders', event_id) from c")
			}
			return exec("with c as (select event_id from box.inbox_claim('letters', 5)), d as (insert into done select event_id from c) select box.inbox_mark_processed('letters', event_id) from c")
		})
	}
	sent := 0
	session(func(n int, exec func(string, ...any) error) error { // two messages for each aggregate, the later one first
		time.Sleep(30 * time.Millisecond) // an aggregate has one message at a time
		err := exec("select box.inbox_receive('turns', a || '-' || i, 't', '{}', p_aggregate_id => 'A' || a, p_sequence => i::text) from generate_series(1, 5) a, unnest(array[$1, $1 - 1]) i", 2*sent+2)
		if err == nil {
			sent++
		}
		return err
	})
	for range 2 {
		session(func(n int, exec func(string, ...any) error) error {
			return exec("with c as (select event_id from box.inbox_claim('turns', 5)), d as (insert into turns_done (id) select event_id from c) select box.inbox_mark_processed('turns', event_id) from c")
		})
	}
	session(func(n int, exec func(string, ...any) error) error { return exec("call box.tick()") })
	traffic := func(n int) {
		pgtest.UntilTrue(t, db, fmt.Sprintf("select (select count(*) from app.letters) > %[1]d and (select count(*) from app.orders) > %[1]d / 2 and (select count(*) from box.turns) > %[1]d", n))
	}
	for n := range 3 { // it forgets the order and knows it again, while claims wait
		traffic(10 * n)
		db.Exec(t, "begin; select box.disable_inbox_ordering('turns'); select box.enable_inbox_ordering('turns', p_sequence_column => 'the ''number'); commit")
	}
	for n, e := range versions[1:] {
		traffic(40 * (n + 1))
		conn := db.Connect(t)
		began := time.Now()
		if _, err := commandtest.Apply(t.Context(), conn, e, commandtest.ApplyOptions{Released: released, Retry: time.Minute}); err != nil {
			t.Errorf("to %s: %s", e.Version, pgtest.ErrorText(err))
		}
		t.Logf("to %s: %s", e.Version, time.Since(began))
	}
	traffic(120)
	close(stop)
	all.Wait()
	for range 3 {
		db.Exec(t, "call box.tick()")
	}
	for {
		if n := pgtest.One[int](t, db, "with c as (select event_id from box.inbox_claim('letters', 500)), d as (insert into done select event_id from c) select count(box.inbox_mark_processed('letters', event_id)) from c"); n == 0 {
			break
		}
	}
	for {
		if n := pgtest.One[int](t, db, "with c as (select event_id from box.inbox_claim('orders', 500)), d as (insert into orders_done select event_id::bigint from c) select count(box.inbox_mark_processed('orders', event_id)) from c"); n == 0 {
			break
		}
	}
	// A message that was looked at before the one ahead of it was processed is looked at again later: as long as it is old, at most.
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		n := pgtest.One[int](t, db, "with c as (select event_id from box.inbox_claim('turns', 500)), d as (insert into turns_done (id) select event_id from c) select count(box.inbox_mark_processed('turns', event_id)) from c")
		if n == 0 && pgtest.One[int](t, db, "select count(*) from box.inbox_pending('turns')") == 0 {
			break
		} else if n == 0 {
			time.Sleep(50 * time.Millisecond)
		}
	}
	turns := pgtest.Rows(t, db, `select count(*) = (select count(*) from box.turns), count(*) > 100, coalesce(bool_and(d.number = d.nth), false), (select not is_imperative from box.pgt_inbox_config where inbox_name = 'turns')
		from (select split_part(id, '-', 2)::int as number, row_number() over (partition by split_part(id, '-', 1) order by no) as nth from turns_done) d`)
	if fmt.Sprint(turns) != "[[t t t t]]" {
		t.Errorf("turns: all processed, many, each in its turn and once, the spec's: %v; left are %v", turns, pgtest.Rows(t, db, "select b::text from box_internal.turns_backlog b order by 1 limit 20"))
	}
	orders := pgtest.Rows(t, db, `select (select count(*) from app.orders) = (select count(*) from orders_done), (select count(distinct id) from orders_done) = (select count(*) from orders_done),
		s.processed_count = (select count(*) from orders_done), s.pending_count, (select count(*) > 50 from orders_done), not c.is_imperative
		from box.inbox_status() s join box.pgt_inbox_config c using (inbox_name) where s.inbox_name = 'orders'`)
	if fmt.Sprint(orders) != "[[t t t 0 t t]]" {
		t.Errorf("orders: all processed, once, counted, pending, many, the spec's: %v", orders)
	}
	got := pgtest.Rows(t, db, `select (select count(*) from app.letters) = (select count(*) from done), (select count(distinct id) from done) = (select count(*) from done),
		s.processed_count = (select count(*) from done), s.pending_count, (select count(*) > 100 from done), not c.is_imperative
		from box.inbox_status() s join box.pgt_inbox_config c using (inbox_name) where s.inbox_name = 'letters'`)
	if fmt.Sprint(got) != "[[t t t 0 t t]]" {
		t.Errorf("all processed, once, counted, pending, many, the spec's: %v", got)
	}
}
