package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// What runs over time: ten workers, batches of a hundred.
const (
	flatWorkers = 10
	flatBatch   = 100
	flatGoal    = 0.9
)

// trickle is what a sender adds meanwhile: a batch of so many, at these intervals.
const (
	trickleRows  = 100
	trickleEvery = 50 * time.Millisecond
)

func flatCases() []benchCase {
	var all []benchCase
	for _, old := range []bool{true, false} {
		name := "without a long transaction"
		if old {
			name = "behind an open old transaction"
		}
		all = append(all, benchCase{flatSection, name, func(ctx context.Context, b *bench) ([]row, error) {
			if !old {
				return b.overTime(ctx, name)
			}
			var rows []row
			err := b.behindOld(ctx, func() (err error) {
				rows, err = b.overTime(ctx, name)
				return err
			})
			return rows, err
		}})
	}
	return all
}

// behindOld runs body while a session holds a transaction with an id and a snapshot open.
func (b *bench) behindOld(ctx context.Context, body func() error) error {
	return connected(ctx, b.dsn(), func(conn *pgx.Conn) error {
		err := execute(ctx, conn, "begin isolation level repeatable read", "select pg_current_xact_id(), count(*) from pg_class")
		if err != nil {
			return err
		}
		if err := body(); err != nil {
			return err
		}
		return execute(ctx, conn, "commit") // an error if the session did not last
	})
}

// series is what happened to one side over time.
type series struct {
	side
	perSecond []float64
	pending   int   // messages that wait
	marked    int64 // messages that workers marked
}

// overTime lets both sides take turns for the whole time; between turns the backlog is filled up again.
func (b *bench) overTime(ctx context.Context, name string) ([]row, error) {
	if err := b.fresh(ctx, ours, queue); err != nil {
		return nil, err
	}
	both := []*series{{side: ours}, {side: queue}}
	start := time.Now()
	// One scheduler for the whole time: at the end of each turn it would be stopped in the midst of counting what was loaded before it.
	err := b.scheduled(ctx, ours, func() error {
		for round := 0; round < 3 || time.Since(start) < b.cfg.whole(); round++ {
			for _, s := range both {
				if err := b.slice(ctx, s); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, s := range both {
		if err := b.verifyMarked(ctx, s.side, s.marked); err != nil {
			return nil, err
		}
	}
	return flatRows(name, both[0].perSecond, both[1].perSecond), nil
}

// slice is a turn in a longer measurement.
func (b *bench) slice(ctx context.Context, s *series) error {
	backlog := b.backlog(flatBatch)
	if err := b.load(ctx, b.maker, s.table, max(0, backlog-s.pending)); err != nil {
		return err
	}
	s.pending = max(s.pending, backlog)

	writing, stop := context.WithCancel(ctx)
	var writer errgroup.Group
	var added atomic.Int64
	writer.Go(func() error { return b.trickle(writing, s.side, &added) })
	did, err := b.drain(ctx, s.side, flatWorkers, flatBatch, "off", s.pending)
	stop()
	if other := writer.Wait(); err == nil {
		err = other
	}
	s.perSecond = append(s.perSecond, did.perSecond)
	s.marked += did.total
	s.pending += int(added.Load()) - int(did.total)
	return err
}

// trickle adds messages until ctx ends.
func (b *bench) trickle(ctx context.Context, x side, added *atomic.Int64) error {
	return connected(context.WithoutCancel(ctx), b.dsn("synchronous_commit=off"), func(conn *pgx.Conn) error {
		for tick := time.NewTicker(trickleEvery); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return nil
			case <-tick.C:
			}
			if err := copyIn(context.WithoutCancel(ctx), conn, b.maker, x.table, trickleRows); err != nil {
				return err
			}
			added.Add(trickleRows)
		}
	})
}

// flatRows compares the last third of the time with the first.
func flatRows(name string, ours, plain []float64) []row {
	oursFirst, oursLast := thirds(ours)
	plainFirst, plainLast := thirds(plain)
	first := row{Case: name + ", first third", Unit: "messages/s"}
	first.compare(oursFirst, plainFirst)
	last := row{Case: name + ", last third", Unit: "messages/s"}
	last.compare(oursLast, plainLast)

	change := row{Case: name + ", last / first", Unit: "ratio"}
	change.compare([]float64{median(oursLast) / median(oursFirst)}, []float64{median(plainLast) / median(plainFirst)})
	change.goal(goal{Text: fmt.Sprintf("ours >= %.1f", flatGoal), met: func(r row) bool { return r.Ours.Median >= flatGoal }})
	return []row{first, last, change}
}
