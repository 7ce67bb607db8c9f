package demo

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Tally counts what writers sent, and what the inbox said to it.
type Tally struct {
	Sent       int `json:"sent"`
	Received   int `json:"received"`
	Duplicates int `json:"duplicates"`
}

func (t *Tally) add(other Tally) {
	t.Sent += other.Sent
	t.Received += other.Received
	t.Duplicates += other.Duplicates
}

// Tallies are by event type.
type Tallies map[string]Tally

// Total sums up all types.
func (t Tallies) Total() Tally {
	var total Tally
	for _, one := range t {
		total.add(one)
	}
	return total
}

func (t Tallies) count(kind string, stored bool) {
	one := Tally{Sent: 1, Received: 1}
	if !stored {
		one = Tally{Sent: 1, Duplicates: 1}
	}
	sum := t[kind]
	sum.add(one)
	t[kind] = sum
}

// feed sends the whole plan from several writers, each taking the next statement that nobody has taken.
func feed(ctx context.Context, dsn string, sends []Send, writers int) (Tallies, error) {
	var next atomic.Int64
	each := make([]Tallies, writers)
	group, ctx := errgroup.WithContext(ctx)
	for i := range each {
		each[i] = Tallies{}
		group.Go(func() error {
			return withConn(ctx, dsn, fmt.Sprintf("writer %d", i+1), func(conn *pgx.Conn) error {
				for at := next.Add(1); int(at) <= len(sends); at = next.Add(1) {
					if err := send(ctx, conn, sends[at-1], each[i]); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	err := group.Wait()
	all := Tallies{}
	for _, one := range each {
		for kind, tally := range one {
			sum := all[kind]
			sum.add(tally)
			all[kind] = sum
		}
	}
	return all, err
}

func send(ctx context.Context, conn *pgx.Conn, s Send, tallies Tallies) error {
	switch s.How {
	case byInsert:
		return insert(ctx, conn, s, tallies)
	case byFunction:
		return receive(ctx, conn, s, tallies)
	default:
		return insertRows(ctx, conn, s, tallies)
	}
}

// insert is the plain statement that any application can send.
func insert(ctx context.Context, conn *pgx.Conn, s Send, tallies Tallies) error {
	e := s.Events[0]
	done, err := conn.Exec(ctx, `
		insert into pgtrickle.`+s.Inbox+` (event_id, event_type, source, aggregate_id, payload)
		values ($1, $2, $3, $4, $5)
		on conflict (event_id) do nothing`,
		e.ID, e.Type, sourceOf[s.Inbox], e.OrderID, e.Payload)
	if err == nil {
		tallies.count(e.Type, done.RowsAffected() == 1)
	}
	return err
}

// receive is the function that says whether the message is new, and takes a delay.
func receive(ctx context.Context, conn *pgx.Conn, s Send, tallies Tallies) error {
	e := s.Events[0]
	var stored bool
	err := conn.QueryRow(ctx, `
		select pgtrickle.inbox_receive($1, $2, $3, $4,
			p_source => $5,
			p_aggregate_id => $6,
			p_available_at => clock_timestamp() + nullif($7::float8, 0) * interval '1 second')`,
		s.Inbox, e.ID, e.Type, e.Payload, sourceOf[s.Inbox], e.OrderID, s.Delay.Seconds()).Scan(&stored)
	if err == nil {
		tallies.count(e.Type, stored)
	}
	return err
}

// insertRows stores many messages in one statement. Held open, its transaction commits messages that are older than
// some which are processed already.
func insertRows(ctx context.Context, conn *pgx.Conn, s Send, tallies Tallies) error {
	ids, types, orders, payloads := columns(s.Events)
	var stored []string
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		found, err := tx.Query(ctx, `
			insert into pgtrickle.`+s.Inbox+` (event_id, event_type, source, aggregate_id, payload)
			select r.event_id, r.event_type, $5, r.aggregate_id, r.payload::jsonb
			from unnest($1::text[], $2::text[], $3::text[], $4::text[]) r (event_id, event_type, aggregate_id, payload)
			on conflict (event_id) do nothing
			returning event_id`,
			ids, types, orders, payloads, sourceOf[s.Inbox])
		if err != nil {
			return err
		}
		stored, err = pgx.CollectRows(found, pgx.RowTo[string])
		wait(ctx, s.Hold)
		return err
	})
	if err != nil {
		return err
	}
	fresh := map[string]bool{}
	for _, id := range stored {
		fresh[id] = true
	}
	for _, e := range s.Events {
		tallies.count(e.Type, fresh[e.ID])
		delete(fresh, e.ID) // the statement may hold an event twice
	}
	return nil
}

func columns(events []*Event) (ids, types, orders, payloads []string) {
	for _, e := range events {
		ids = append(ids, e.ID)
		types = append(types, e.Type)
		orders = append(orders, e.OrderID)
		payloads = append(payloads, e.Payload)
	}
	return ids, types, orders, payloads
}

// withConn runs body over a connection of its own, which the server knows by name.
func withConn(ctx context.Context, dsn, name string, body func(*pgx.Conn) error) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	config.RuntimeParams["application_name"] = name
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := body(conn); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
