package demo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Check is one thing that must hold in the end.
type Check struct {
	Name   string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Facts are what Verify compares.
type Facts struct {
	Plan       *Plan
	MaxRetries map[string]int // by inbox
	Tally      Tally          // of all writers
	Losses     []Loss         // of workers
	Looks      int            // at the statistics during the run
	WrongLooks int            // in which they disagreed with the messages
	Complaints []string       // of the scheduler

	ConsumerLosses []Loss // of consumers of the outbox
	Observation
}

// Verify compares what happened with what was sent.
func Verify(f Facts) []Check {
	return []Check{
		f.nothingLeft(), f.exactlyOnce(), f.deadLetters(), f.deduplication(), f.retries(), f.rescue(), f.books(), f.streamTables(),
		f.delivery(), f.takeover(), f.statistics(), f.background(),
	}
}

// Failed lists the checks that do not hold.
func Failed(checks []Check) []Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c Check) bool { return c.OK })
}

func check(ok bool, name, detail string, args ...any) Check {
	return Check{name, ok, fmt.Sprintf(detail, args...)}
}

func (f Facts) nothingLeft() Check {
	pending := 0
	for _, counts := range f.Recount {
		pending += counts.Pending
	}
	return check(pending == 0, "nothing is left but dead letters", "%d pending", pending)
}

// exactlyOnce goes by the ledger, which has no key that could hide a second effect.
func (f Facts) exactlyOnce() Check {
	good := f.Plan.good()
	missing, twice, unexpected := 0, 0, len(f.Effects)
	for _, e := range good {
		effects := len(f.Effects[e.ID])
		switch {
		case effects == 0:
			missing++
		case effects > 1:
			twice++
		}
		unexpected -= min(effects, 1)
	}
	return check(missing+twice+unexpected == 0, "each event had its effect exactly once",
		"%d events, %d missing, %d more than once, %d unexpected", len(good), missing, twice, unexpected)
}

func (f Facts) deadLetters() Check {
	poisoned, dead := 0, 0
	for _, e := range f.Plan.Events {
		if e.Poison() {
			poisoned++
			if f.Dead[e.ID] {
				dead++
			}
		}
	}
	others := len(f.Dead) - dead
	return check(dead == poisoned && others == 0, "the dead letters are the poison messages",
		"%d of %d, and %d others", dead, poisoned, others)
}

func (f Facts) deduplication() Check {
	t, stored := f.Tally, 0
	for _, counts := range f.Recount {
		stored += counts.Pending + counts.Processed + counts.DeadLetter
	}
	ok := t.Received+t.Duplicates == t.Sent && t.Sent == f.Plan.Deliveries && t.Received == len(f.Plan.Events) && stored == t.Received
	return check(ok, "received + duplicates = sent", "%d + %d = %d; %d stored", t.Received, t.Duplicates, t.Sent, stored)
}

func (f Facts) retries() Check {
	planned := f.Plan.failures(f.MaxRetries)
	return check(f.Failures == planned, "attempts failed as planned, no more and no less", "%d of %d", f.Failures, planned)
}

// rescue looks at what workers had claimed when they died.
func (f Facts) rescue() Check {
	left, rescued, killed := 0, 0, 0
	for _, loss := range f.Losses {
		if loss.How.Killed() {
			killed++
		}
		for _, id := range loss.ids {
			if e := f.Plan.byID[id]; e == nil || e.Poison() {
				continue
			}
			left++
			if workers := f.Effects[id]; len(workers) == 1 && workers[0] != loss.Worker {
				rescued++
			}
		}
	}
	return check(killed > 0 && left > 0 && rescued == left, "what dead workers left was processed by others", "%d of %d", rescued, left)
}

// books compares the shop's own tables, as a bookkeeper would.
func (f Facts) books() Check {
	orders, captured := map[string]bool{}, int64(0)
	for _, e := range f.Plan.good() {
		orders[e.OrderID] = true
		if e.Type == "payment.captured" {
			captured += e.Cents
		}
	}
	return check(f.Orders == len(orders) && f.Captured == captured, "the shop's books are right",
		"%d of %d orders, %s of %s EUR captured", f.Orders, len(orders), money(f.Captured), money(captured))
}

func (f Facts) streamTables() Check {
	rows, wrong := 0, 0
	for _, t := range f.Tables {
		rows, wrong = rows+t.Rows, wrong+t.Wrong
	}
	return check(wrong == 0 && rows > 0, "stream tables equal their queries", "%d tables, %d rows, %d wrong", len(f.Tables), rows, wrong)
}

func (f Facts) statistics() Check {
	ok := maps.Equal(f.Stats, f.Recount) && f.WrongLooks == 0
	return check(ok, "statistics agree with a recount", "%d event types; also at %d of %d looks during the run",
		len(f.Stats), f.Looks-f.WrongLooks, f.Looks)
}

func (f Facts) background() Check {
	complaints := slices.Concat(f.Complaints, f.Errors)
	detail := fmt.Sprintf("%d ticks", f.Ticks)
	if len(complaints) > 0 {
		detail += ": " + strings.Join(complaints, "; ")
	}
	return check(f.Ticks > 0 && len(complaints) == 0, "background work ran without complaint", "%s", detail)
}
