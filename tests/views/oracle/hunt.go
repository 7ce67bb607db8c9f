package oracle

import (
	"context"
	"fmt"
	"time"

	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// Hunt looks for seeds of which a subject makes something wrong.
type Hunt struct {
	Subject Subject // of one goroutine at a time, as it may keep things in mind
	Modes   []string
	OneMode bool // each seed is tried in one of them, in turn
	Options cases.Options
	Shrink  time.Duration // how long a failure is made smaller
	Again   string        // a command that runs a seed, with %d for its number
}

// Seed lets the subject work on the case of a seed. The report is nil if all is well.
func (h Hunt) Seed(ctx context.Context, p *Place, seed uint64) (*Report, Stats, error) {
	c := cases.Generate(seed, h.Options)
	plain, err := p.Plain(ctx, c)
	if err != nil {
		return nil, Stats{}, err
	}
	stats := Stats{Cases: 1, Slow: plain.Stats.Slow}
	if plain.Stats.Slow != nil {
		return nil, stats, nil
	}
	if plain.Failure != nil {
		return h.report(c, plain.Failure, "without stream tables"), stats, nil
	}
	modes := h.Modes
	if h.OneMode {
		modes = h.Modes[seed%uint64(len(h.Modes)):][:1]
	}
	for _, mode := range modes {
		r, err := p.Run(ctx, c, h.Subject, mode, &plain.Outcome)
		if err != nil {
			return nil, stats, fmt.Errorf("seed %d, %s: %w", seed, mode, err)
		}
		stats.Add(r.Stats)
		if r.Failure != nil {
			report, err := h.smallest(ctx, p, c, r.Failure, mode)
			return report, stats, err
		}
	}
	return nil, stats, nil
}

func (h Hunt) smallest(ctx context.Context, p *Place, c *cases.Case, f *Failure, mode string) (*Report, error) {
	small, failure, err := p.Shrink(ctx, c, h.Subject, mode, f, h.Shrink)
	if err != nil {
		return nil, fmt.Errorf("seed %d, %s: %w", c.Seed, mode, err)
	}
	return h.report(small, failure, mode), nil
}

func (h Hunt) report(c *cases.Case, f *Failure, mode string) *Report {
	return &Report{Case: c, Failure: f, Mode: mode, Again: fmt.Sprintf(h.Again, c.Seed)}
}
