package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// scheduled runs body while a scheduler ticks once a second, if the side has one. What the scheduler complains of is an error.
func (s stage) scheduled(ctx context.Context, x side, body func() error) error {
	if !x.ticks {
		return body()
	}
	var heard complaint
	ticking, stop := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error {
		return commandtest.Scheduler{DSN: s.dsn(), Schema: "pgtrickle", Every: time.Second, Log: func(_ slog.Level, message string) { heard.log("%s", message) }}.Run(ticking)
	})
	err := body()
	stop()
	if other := group.Wait(); err == nil {
		err = other
	}
	if err == nil {
		err = heard.err()
	}
	return err
}

// complaint keeps the first thing that a scheduler logs; it logs nothing as long as all is well.
type complaint struct {
	once  sync.Once
	first error
}

func (c *complaint) log(format string, args ...any) {
	c.once.Do(func() { c.first = fmt.Errorf("scheduler: "+format, args...) })
}

func (c *complaint) err() error {
	c.once.Do(func() {})
	return c.first
}
