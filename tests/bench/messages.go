package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// perLoad is the number of messages in a transaction of a backlog, which share one received_at.
const perLoad = 500

// minPayload is the size of a payload's frame.
const minPayload = len(`{"order": 1234567, "note": ""}`)

// maker makes messages, each with an id of its own, the same in every run. Its ids are in no order, as those of senders are.
type maker struct {
	next    atomic.Uint64
	payload int
	types   uint64
}

// message is what a sender sends.
type message struct{ id, kind, aggregate, payload string }

func (m *maker) make() message { return m.numbered(m.next.Add(1)) }

// Every tenth message of a sender is a redelivery of an earlier one, from long enough ago that nobody is sending that just now.
const (
	repeatEach = 10
	repeatBack = 1000
)

// batch makes messages some of which were made before.
func (m *maker) batch(size int) []message {
	batch := make([]message, size)
	for i := range batch {
		n := m.next.Add(1)
		if n%repeatEach == 0 && n > repeatBack {
			n -= repeatBack - 1
		}
		batch[i] = m.numbered(n)
	}
	return batch
}

func (m *maker) numbered(n uint64) message {
	filler := strings.Repeat("x", max(0, m.payload-minPayload))
	return message{
		id:        fmt.Sprintf("evt_%016x", mix(n)),
		kind:      fmt.Sprintf("payment.kind_%d", n%m.types),
		aggregate: fmt.Sprintf("order-%d", mix(n)%10000),
		payload:   fmt.Sprintf(`{"order": %07d, "note": "%s"}`, 1000000+n%9000000, filler),
	}
}

// mix is the finaliser of splitmix64: it maps each number to another one, no two to the same.
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// load adds messages to a table as a busy sender does: some hundred per transaction, by two writers.
func (s stage) load(ctx context.Context, m *maker, table string, messages int) error {
	var group errgroup.Group
	left := atomic.Int64{}
	left.Store(int64(messages))
	for range 2 {
		group.Go(func() error {
			return connected(ctx, s.dsn("synchronous_commit=off"), func(conn *pgx.Conn) error {
				for {
					n := min(perLoad, left.Add(-perLoad)+perLoad)
					if n <= 0 {
						return nil
					}
					if err := copyIn(ctx, conn, m, table, int(n)); err != nil {
						return err
					}
				}
			})
		})
	}
	return group.Wait()
}

func copyIn(ctx context.Context, conn *pgx.Conn, m *maker, table string, messages int) error {
	schema, name, _ := strings.Cut(table, ".")
	source := pgx.CopyFromSlice(messages, func(int) ([]any, error) {
		x := m.make()
		return []any{x.id, x.kind, x.aggregate, x.payload}, nil
	})
	_, err := conn.CopyFrom(ctx, pgx.Identifier{schema, name}, []string{"event_id", "event_type", "aggregate_id", "payload"}, source)
	return err
}
