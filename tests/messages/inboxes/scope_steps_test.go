package inboxes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func (s *small) exec(conn *pgx.Conn, sql string, args ...any) error {
	if _, err := conn.Exec(context.Background(), sql, args...); err != nil {
		return fmt.Errorf("%s\nin: %s %v", pgtest.ErrorText(err), sql, args)
	}
	return nil
}

func list[T any](conn *pgx.Conn, toRow pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := conn.Query(context.Background(), sql, args...)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, toRow)
	if err != nil {
		return nil, fmt.Errorf("%w in: %s %v", err, sql, args)
	}
	return all, nil
}

// returns compares the one value that a statement returns.
func returns[T comparable](conn *pgx.Conn, want T, sql string, args ...any) error {
	got, err := list(conn, pgx.RowTo[T], sql, args...)
	if err == nil && (len(got) != 1 || got[0] != want) {
		err = fmt.Errorf("%v instead of %v from %s %v", got, want, sql, args)
	}
	return err
}

// fails compares the error of a statement.
func fails(conn *pgx.Conn, want, sql string, args ...any) error {
	_, err := conn.Exec(context.Background(), sql, args...)
	var failed *pgconn.PgError
	if errors.As(err, &failed) && failed.Code == want {
		return nil
	}
	return fmt.Errorf("error %s is wanted of %s %v, and not: %v", want, sql, args, err)
}

func (s *small) find(id string) *message {
	return s.messages[slices.IndexFunc(s.messages, func(m *message) bool { return m.id == id })]
}

const receive = "select pgtrickle.inbox_receive($1, $2, 't', '{}', p_aggregate_id => $3, p_sequence => $4)"

func (s *small) receive(conn *pgx.Conn, m *message) error {
	var sequence *string
	if s.ordered {
		text := fmt.Sprint(m.sequence)
		sequence = &text
	}
	return returns(conn, m.state == "absent", receive, s.inbox, m.id, m.aggregate, sequence)
}

// publish does what a sender does, that commits at once, or a publisher in a transaction that stays open.
func (s *small) publish(who, verb, id string) (err error) {
	if who == "sender" {
		m := s.find(id)
		if err := s.receive(s.admin, m); err != nil {
			return err
		}
		if m.state == "absent" {
			m.state = "pending"
		}
		return nil
	}
	if verb == "receive" {
		if err := s.exec(s.publisher, "begin"); err != nil {
			return err
		}
		err := s.receive(s.publisher, s.find(id))
		s.find(id).state = "open"
		return err
	}
	state := "absent"
	switch verb {
	case "commit":
		state, err = "pending", s.exec(s.publisher, "commit")
	case "roll-back":
		err = s.exec(s.publisher, "rollback")
	case "die":
		s.publisher, err = s.kill(s.publisher)
	}
	s.messages[slices.IndexFunc(s.messages, func(m *message) bool { return m.state == "open" })].state = state
	return err
}

// kill ends a session as its client's death does; another takes its place.
func (s *small) kill(conn *pgx.Conn) (*pgx.Conn, error) {
	pid := int32(conn.PgConn().PID())
	if err := s.exec(s.admin, "select pg_terminate_backend($1)", pid); err != nil {
		return nil, err
	}
	for returns(s.admin, 0, "select count(*)::int from pg_stat_activity where pid = $1", pid) != nil {
		time.Sleep(time.Millisecond)
	}
	return s.db.Connect(s.t), nil
}

// tick lets two seconds pass, after which ticks look at messages that wait for others, and ticks.
func (s *small) tick() error {
	if s.ordered {
		if err := s.exec(s.admin, fmt.Sprintf("update pgtrickle_internal.%s_backlog set due_at = due_at - interval '2 seconds' where is_waiting", s.inbox)); err != nil {
			return err
		}
	}
	if err := s.exec(s.admin, "update pgtrickle_internal.pgt_tasks set last_run_at = '-infinity'"); err != nil {
		return err
	}
	if err := s.exec(s.admin, "call pgtrickle.tick()"); err != nil {
		return err
	}
	s.ticked()
	return returns(s.admin, 0, "select count(*)::int from pgtrickle_internal.pgt_tasks where last_error is not null")
}

type handedOut struct {
	ID    string
	Lease *int64
}

// hand claims or leases messages. A claim that returns none is over at once.
func (s *small) hand(w, verb string) error {
	conn := s.workers[w]
	query := "select event_id, null from pgtrickle.inbox_claim($1, $2)"
	if verb == "lease" {
		query = "select event_id, lease_id from pgtrickle.inbox_claim_lease($1, $2, '10 hours')"
	} else if err := s.exec(conn, "begin"); err != nil {
		return err
	}
	rows, err := list(conn, pgx.RowToStructByPos[handedOut], query, s.inbox, scopeLimit)
	if err != nil {
		return err
	}
	var got []*message
	for _, r := range rows {
		got = append(got, s.find(r.ID))
	}
	if err := s.claimed(got, scopeLimit, verb == "lease"); err != nil {
		return err
	}
	for n, m := range got {
		if verb == "claim" {
			m.holder = w
			continue
		}
		s.lose(m)
		m.lease, m.leased, m.expired, m.claims = *rows[n].Lease, w, false, 0
	}
	if verb == "claim" && len(got) == 0 {
		return s.exec(conn, "commit")
	}
	s.open[w] = verb == "claim"
	return nil
}

// lose notes that whoever leased a message has it no more.
func (s *small) lose(m *message) {
	if m.leased != "" {
		s.lost[m.leased] = lost{m.lease, m.id}
	}
}

func ids(messages []*message) (ids []string) {
	for _, m := range messages {
		ids = append(ids, m.id)
	}
	return ids
}

// work does what a worker does, in the transaction of its claim or with its lease.
func (s *small) work(w, verb string) error {
	conn, held := s.workers[w], s.heldBy(w)
	var lease *int64
	if len(held) > 0 && !s.open[w] {
		id := held[0].lease
		lease = &id
	}
	switch verb {
	case "claim", "lease":
		return s.hand(w, verb)
	case "mark":
		return s.mark(w, held, lease)
	case "mark-first":
		return s.mark(w, held[:1], lease)
	case "fail":
		return s.fail(w, held, lease)
	case "stale":
		return fails(conn, "55000", "select pgtrickle.inbox_mark_processed($1, array[$2::text], $3)", s.inbox, s.lost[w].event, s.lost[w].id)
	case "release":
		if err := returns(conn, int64(len(held)), "select pgtrickle.inbox_release($1, $2::text[], $3)", s.inbox, ids(held), lease); err != nil {
			return err
		}
		for _, m := range held {
			m.lease, m.leased, m.expired, m.leases, m.claims = 0, "", false, 0, 0
		}
		return nil
	case "expire":
		for _, m := range held {
			m.expired = true
			m.leases++
		}
		return s.expire(*lease)
	case "roll-back":
		if err := returns(conn, int64(1), "select pgtrickle.inbox_mark_processed($1, array[$2::text])", s.inbox, held[0].id); err != nil {
			return err
		}
	}
	return s.end(w, verb)
}

// end ends the transaction of a claim, and with it what is not marked.
func (s *small) end(w, how string) (err error) {
	switch how {
	case "die":
		s.workers[w], err = s.kill(s.workers[w])
	case "roll-back":
		err = s.exec(s.workers[w], "rollback")
	default:
		err = s.exec(s.workers[w], "commit")
	}
	for _, m := range s.messages {
		if m.holder == w {
			m.holder = ""
			m.claims++
		}
	}
	s.open[w] = false
	return err
}

func (s *small) mark(w string, held []*message, lease *int64) error {
	err := returns(s.workers[w], int64(len(held)), "select pgtrickle.inbox_mark_processed($1, $2::text[], $3)", s.inbox, ids(held), lease)
	for _, m := range held {
		if lease == nil {
			s.lose(m)
		}
		s.processed(m)
	}
	if err == nil && s.open[w] {
		err = s.end(w, "end")
	}
	return err
}

func (s *small) fail(w string, held []*message, lease *int64) error {
	for _, m := range held {
		if lease == nil {
			s.lose(m)
		}
		s.failed(m)
		m.holder = ""
		if err := returns(s.workers[w], m.failures, "select pgtrickle.inbox_mark_failed($1, $2, 'failed', $3)", s.inbox, m.id, lease); err != nil {
			return err
		}
	}
	if s.open[w] {
		return s.end(w, "end")
	}
	return nil
}

// expire lets the time of a lease pass.
func (s *small) expire(lease int64) error {
	err := s.exec(s.admin, fmt.Sprintf(`update pgtrickle.%s i set available_at = i.available_at - interval '1 day'
from pgtrickle_internal.pgt_inbox_leases l where l.inbox_name = '%[1]s' and l.lease_id = $1 and i.event_id = any (l.event_ids) and i.available_at = l.until`, s.inbox), lease)
	if err != nil {
		return err
	}
	return s.exec(s.admin, "update pgtrickle_internal.pgt_inbox_leases set until = until - interval '1 day' where inbox_name = $1 and lease_id = $2", s.inbox, lease)
}

// pass lets the delays after failures pass.
func (s *small) pass() error {
	var delayed []*message
	for _, m := range s.messages {
		if m.delayed {
			m.delayed = false
			delayed = append(delayed, m)
		}
	}
	return s.exec(s.admin, fmt.Sprintf("update pgtrickle.%s set available_at = available_at - interval '1 day' where event_id = any ($1)", s.inbox), ids(delayed))
}

type stored struct {
	ID        string
	Processed bool
	Dead      bool
	Failures  int
	Error     *string
}

// look compares the committed messages with the model, and learns which of those that had all their attempts are dead letters by now.
func (s *small) look() error {
	rows, err := list(s.admin, pgx.RowToStructByPos[stored],
		fmt.Sprintf("select event_id, processed_at is not null, processed_at is null and retry_count >= $1, retry_count, error from pgtrickle.%s", s.inbox), s.maxRetries)
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, r := range rows {
		m := s.find(r.ID)
		found[r.ID] = true
		if r.Dead && m.state == "pending" && s.isWorn(m) {
			// Whether its last lease, which has ended, still marks it depends on whether a tick has removed the lease.
			m.state, m.failures, m.lease, m.leased, m.expired = "dead", r.Failures, 0, "", false
		}
		if m.state == "absent" || m.state == "open" || r.Processed != (m.state == "processed") || r.Dead != (m.state == "dead") || m.state == "pending" && r.Failures != m.failures {
			return fmt.Errorf("stored is %+v, and it should be %+v", r, *m)
		}
	}
	for _, m := range s.messages {
		if !found[m.id] && m.state != "absent" && m.state != "open" {
			return fmt.Errorf("%s is lost", m.id)
		}
	}
	return nil
}

// Finish ends what is open, lets time pass, and processes all there is.
func (s *small) Finish() error {
	if slices.ContainsFunc(s.messages, func(m *message) bool { return m.state == "open" }) {
		if err := s.publish("publisher", "commit", ""); err != nil {
			return err
		}
	}
	for _, w := range []string{"a", "b"} {
		if s.open[w] {
			if err := s.end(w, "roll-back"); err != nil {
				return err
			}
		}
	}
	for _, m := range s.messages {
		if m.lease != 0 && !m.expired {
			if err := s.work(m.leased, "expire"); err != nil {
				return err
			}
		}
	}
	if err := s.pass(); err != nil {
		return err
	}
	return s.drain()
}

// drain processes all there is, without a tick but for what came late.
func (s *small) drain() error {
	if err := s.processAll(); err != nil {
		return err
	}
	if slices.ContainsFunc(s.messages, func(m *message) bool { return m.late || s.isWorn(m) }) {
		if err := errors.Join(s.tick(), s.processAll()); err != nil {
			return err
		}
	}
	if err := s.look(); err != nil {
		return err
	}
	for _, m := range s.messages {
		if s.isFree(m) {
			return fmt.Errorf("%s is not handed out in the end: %+v", m.id, *m)
		}
	}
	return s.counts()
}

// processAll claims and marks until nothing comes.
func (s *small) processAll() error {
	for more := true; more; {
		if err := s.hand("z", "claim"); err != nil {
			return err
		}
		if more = s.open["z"]; more {
			if err := s.mark("z", s.heldBy("z"), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// counts compares what status says with the messages there are.
func (s *small) counts() error {
	want := map[string]int64{}
	for _, m := range s.messages {
		want[m.state]++
	}
	return returns(s.admin, fmt.Sprintf("%d %d %d", want["pending"], want["dead"], want["processed"]),
		"select pending_count || ' ' || dlq_count || ' ' || processed_count from pgtrickle.inbox_status() where inbox_name = $1", s.inbox)
}
