package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// woken is how many consumers poll at once when one event was published, wakes how often, and away how long a commit is on its way.
const (
	woken = 50
	wakes = 40
	away  = time.Millisecond
)

const wakesSpec = `version: 1
extension: {name: bench_wakes, version: 1.0.0, schema: wakes}
outboxes:
  - {name: loud, notify: true}
  - {name: quiet}
`

// wakeCases measure what notifications cost publishers, and how long the polls take that follow one.
func wakeCases() []benchCase {
	polls := fmt.Sprintf("%d polls at once after one event", woken)
	all := []benchCase{{pollSection, polls, func(ctx context.Context, b *bench) ([]row, error) { return b.wake(ctx, polls) }}}
	for _, commit := range commits {
		for _, clients := range []int{1, 4} {
			name := fmt.Sprintf("notify, 1 event per transaction, %s, synchronous_commit %s", plural(clients, "client"), commit)
			all = append(all, benchCase{publishSection, name, func(ctx context.Context, b *bench) ([]row, error) {
				return b.notifying(ctx, name, clients, commit)
			}})
		}
	}
	return all
}

// wake times the polls of many consumers, one of which finds the event.
func (b *bench) wake(ctx context.Context, name string) ([]row, error) {
	brokers, err := b.available(ctx, sluice, skipLocked, pgmq)
	if err != nil {
		return nil, err
	}
	times := make([][]float64, len(brokers))
	for range b.cfg.Rounds {
		for i, x := range brokers {
			if err := b.empty(ctx, x); err != nil {
				return nil, err
			}
			took, err := b.wakes(ctx, x)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", x.name, err)
			}
			times[i] = append(times[i], took...)
		}
	}
	return against(name, "ms", brokers, times, nil), nil
}

func (b *bench) wakes(ctx context.Context, x broker) (times []float64, err error) {
	var consumers []*pgx.Conn
	for range woken {
		conn, err := pgx.Connect(ctx, b.dsn())
		if err != nil {
			return nil, err
		}
		defer conn.Close(ctx)
		consumers = append(consumers, conn)
	}
	publisher := consumers[0]
	for n := range wakes {
		if _, err := publisher.Exec(ctx, x.publish, b.payloadText()); err != nil {
			return nil, err
		}
		took, errs := make([]float64, woken), make([]error, woken)
		var all sync.WaitGroup
		for i, conn := range consumers {
			all.Go(func() {
				start := time.Now()
				var ids []int64
				err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) { // as drivers do that begin transactions unasked
					ids, err = polled(ctx, tx, x, pollBatch, fmt.Sprint("bench ", i))
					time.Sleep(away)
					return err
				})
				took[i], errs[i] = milliseconds(start), err
				if err == nil && len(ids) > 0 {
					var offset any = ids[len(ids)-1]
					if x.byIDs {
						offset = ids
					}
					_, errs[i] = conn.Exec(ctx, x.commit, x.args(x.commit, offset, fmt.Sprint("bench ", i))...)
				}
			})
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		if n >= wakes/4 { // plans and caches are there
			times = append(times, took...)
		}
	}
	return times, nil
}

// notifying compares publishing to an outbox that notifies with one that does not.
func (b *bench) notifying(ctx context.Context, name string, clients int, commit string) ([]row, error) {
	extension, err := extensionOf(map[string]string{"spec.yaml": wakesSpec})
	if err == nil {
		err = connected(ctx, b.dsn(), func(conn *pgx.Conn) error {
			_, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{})
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	var sides []broker
	for _, outbox := range []string{"loud", "quiet"} {
		sides = append(sides, broker{
			name: outbox, setup: []string{"truncate wakes.outbox_" + outbox},
			publish: "insert into wakes.outbox_" + outbox + " (event_type, payload) values ('bench', $1::jsonb)",
		})
	}
	sides[1].name = "no notify"
	payload := b.payloadText()
	rates, err := b.rounds(sides, func(x broker) (float64, error) {
		if err := b.empty(ctx, x); err != nil {
			return 0, err
		}
		c := crew{dsn: b.dsn("synchronous_commit=" + commit), clients: clients, work: func(ctx context.Context, conn *pgx.Conn) (int, error) {
			_, err := conn.Exec(ctx, x.publish, payload)
			return 1, err
		}}
		did, err := c.run(ctx, b.cfg.turn())
		return did.perSecond, err
	})
	return against(name, "events/s", sides, rates, nil), err
}
