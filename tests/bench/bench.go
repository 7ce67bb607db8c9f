package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
)

// The sections of the report, in its order.
const (
	claimSection    = "claim + mark"
	leaseSection    = "leases"
	flatSection     = "flat over time"
	insertSection   = "dedup insert"
	windowSection   = "dedup window"
	orderingSection = "ordering"
	latencySection  = "latency"
	healthSection   = "health"

	publishSection = "outbox/publish"
	consumeSection = "outbox/poll + commit"
	pollSection    = "outbox/latency"

	refreshSection   = "views/refresh"
	logSection       = "views/log"
	immediateSection = "views/immediate"
	commitSection    = "views/at_commit"
	compileSection   = "views/compile"
	frozenSection    = "views/frozen"
	tellSection      = "views/outbox"
	scaleSection     = "many objects"
	tpchSection      = "tpch/refresh"
	earlierSection   = "earlier commit"
)

// commits are the values of synchronous_commit that are measured.
var commits = []string{"off", "on"}

// benchCase is something that can be measured alone. It fills rows of its section.
type benchCase struct {
	section, name string
	measure       func(ctx context.Context, b *bench) ([]row, error)
}

// title is what -run matches.
func (c benchCase) title() string {
	if strings.Contains(c.section, "/") {
		return c.section + "/" + c.name
	}
	return c.section + ": " + c.name
}

// choose returns the cases that match.
func choose(pattern *regexp.Regexp) (chosen []benchCase) {
	for _, cases := range [][]benchCase{
		claimCases(), leaseCases(), flatCases(), insertCases(), windowCases(), orderingCases(), latencyCases(), healthCases(), outboxCases(), gapCases(), wakeCases(), relayCases(),
		refreshCases(), logCases(), immediateCases(), commitCases(), frozenCases(), tellCases(), compileCases(), scaleCases(), tpchCases(), earlierCases(),
	} {
		for _, c := range cases {
			if pattern.MatchString(c.title()) {
				chosen = append(chosen, c)
			}
		}
	}
	return chosen
}

// bench is a run.
type bench struct {
	stage
	cfg   config
	maker *maker
	log   io.Writer

	made        map[string]bool   // databases of views
	offset      int               // which sales changed last
	nextSale    atomic.Int64      // the ids that cycles have used
	nextCrossed atomic.Int64      // the ids of tables that transactions write in any order
	again       atomic.Int64      // statements that met what only a peer may meet, and were tried again
	overheads   map[int][]float64 // by rows: of pg_ivm, through ours
}

// measure does the chosen cases, one after the other.
func measure(ctx context.Context, cfg config, chosen []benchCase, log io.Writer) (*report, error) {
	s, err := build(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	b := &bench{stage: s, cfg: cfg, maker: &maker{payload: cfg.Payload, types: uint64(cfg.Types)}, log: log,
		made: map[string]bool{}, overheads: map[int][]float64{}}
	r := &report{Started: time.Now()}
	if r.Settings, err = b.settings(ctx); err != nil {
		return nil, err
	}
	for i, c := range chosen {
		fmt.Fprintf(log, "%d/%d %s\n", i+1, len(chosen), c.title())
		rows, err := c.measure(ctx, b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.title(), err)
		}
		for _, x := range rows {
			x.judge()
			fmt.Fprintf(log, "    %s\n", x)
			r.add(c.section, x)
		}
	}
	r.Seconds = time.Since(r.Started).Seconds()
	r.LoadAfter = loadAverage()
	return r, nil
}

// turns measures ours and the baseline by turns and puts medians and ratios into the row.
func (b *bench) turns(result *row, sides []side, measure func(side) (float64, error)) error {
	var figures [2][]float64
	for range b.cfg.Rounds {
		for i, x := range sides {
			figure, err := measure(x)
			if err != nil {
				return err
			}
			figures[i] = append(figures[i], figure)
		}
	}
	result.compare(figures[0], figures[1])
	return nil
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
