package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// warmUp is how long a crew works before its time is taken, so that connections, plans and caches are there.
const warmUp = 150 * time.Millisecond

// crew is a number of clients that do the same thing over and over, each on a connection of its own.
type crew struct {
	dsn     string
	clients int
	most    int64 // ends the turn early when so many messages are done; 0: never
	cold    bool  // what is measured is soon over: there is no time to warm up
	work    func(ctx context.Context, conn *pgx.Conn) (int, error)
	hire    func() func(ctx context.Context, conn *pgx.Conn) (int, error) // makes the work of one client, if they differ
}

// turn is what a crew did.
type turn struct {
	perSecond float64 // while the time was taken
	total     int64   // with what came before and after that
}

// run lets the crew work for a while. A client always finishes what it began.
func (c crew) run(ctx context.Context, long time.Duration) (turn, error) {
	var done atomic.Int64
	var stop atomic.Bool
	group, ctx := errgroup.WithContext(ctx)
	for range c.clients {
		work := c.work
		if c.hire != nil {
			work = c.hire()
		}
		group.Go(func() error {
			return connected(ctx, c.dsn, func(conn *pgx.Conn) error {
				for !stop.Load() {
					n, err := work(ctx, conn)
					if err != nil {
						return err
					}
					done.Add(int64(n))
				}
				return nil
			})
		})
	}
	rate := c.clock(ctx, &done, long)
	stop.Store(true)
	err := group.Wait()
	return turn{rate, done.Load()}, err
}

// clock takes the time; it starts when the crew has warmed up.
func (c crew) clock(ctx context.Context, done *atomic.Int64, long time.Duration) (perSecond float64) {
	enough := func() bool { return c.most > 0 && done.Load() >= c.most }
	if c.cold {
		for ctx.Err() == nil && done.Load() == 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	for end := time.Now().Add(warmUp); !c.cold && ctx.Err() == nil && (time.Now().Before(end) || done.Load() == 0); {
		time.Sleep(time.Millisecond)
	}
	before, start := done.Load(), time.Now()
	for ctx.Err() == nil && time.Since(start) < long && !enough() {
		time.Sleep(time.Millisecond)
	}
	return float64(done.Load()-before) / time.Since(start).Seconds()
}
