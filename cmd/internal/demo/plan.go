package demo

import (
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"time"
)

// Plan is all traffic of a run, made before anything is sent. The same seed and number of events give the same plan.
type Plan struct {
	Events     []*Event
	Sends      []Send // in the order in which writers take them
	Deliveries int    // events and redeliveries in all sends
	OutOfOrder int    // events that are sent after a later one of their order
	Delayed    int    // events whose sender asks for processing later

	byID map[string]*Event
}

// How a send reaches its inbox.
type How int

const (
	byInsert   How = iota // insert … on conflict do nothing, one row
	byFunction            // inbox_receive
	byRows                // insert … on conflict do nothing, many rows
)

// Send is one statement of a writer.
type Send struct {
	How    How
	Inbox  string
	Events []*Event
	Delay  time.Duration // byFunction: processing is due that much later
	Hold   time.Duration // byRows: the transaction stays open that long
}

// Shares of the traffic, as chances.
const (
	chanceRedelivered = 0.12
	chanceOutOfOrder  = 0.20
	chanceDelayed     = 0.04
	chanceHeld        = 0.15
	poisonEvery       = 250
	flakyEvery        = 50
)

// NewPlan draws the traffic of n events.
func NewPlan(seed uint64, n int) (*Plan, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := &Plan{Events: produce(rng, n), byID: make(map[string]*Event, n)}
	spoil(rng, p.Events)
	for _, e := range p.Events {
		if err := e.seal(); err != nil {
			return nil, err
		}
		p.byID[e.ID] = e
	}
	p.dispatch(rng, arrivals(rng, p.Events))
	return p, nil
}

// spoil makes some events poison and lets others fail once or twice.
func spoil(rng *rand.Rand, events []*Event) {
	order := rng.Perm(len(events))
	poisoned := max(len(spoilers), len(events)/poisonEvery)
	flaky := max(2, len(events)/flakyEvery)
	for i, at := range order[:poisoned] {
		events[at].Fails = poison
		spoilers[i%len(spoilers)](&events[at].body)
	}
	for i, at := range order[poisoned : poisoned+flaky] {
		events[at].Fails = 1 + i%2
	}
}

// arrivals puts events and their redeliveries into the order in which they are sent.
func arrivals(rng *rand.Rand, events []*Event) []*Event {
	type arrival struct {
		at float64
		e  *Event
	}
	var all []arrival
	for i, e := range events {
		at := float64(i)
		if rng.Float64() < chanceOutOfOrder {
			at += 60 * rng.Float64()
		}
		all = append(all, arrival{at, e})
		for rng.Float64() < chanceRedelivered {
			// Some at the heels of the first, so that both are on their way at once; most much later.
			all = append(all, arrival{at + pick(rng, 2.0, 300, 300)*rng.Float64(), e})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].at < all[j].at })
	order := make([]*Event, len(all))
	for i, a := range all {
		order[i] = a.e
	}
	return order
}

// dispatch cuts the arrivals into statements.
func (p *Plan) dispatch(rng *rand.Rand, order []*Event) {
	p.Deliveries = len(order)
	p.OutOfOrder = outOfOrder(order)
	early := len(order) / 2 // delays are for these, so that the run does not end with waiting
	for i := 0; i < len(order); {
		count := 1
		switch draw := rng.Float64(); {
		case draw < 0.5:
			p.Sends = append(p.Sends, Send{How: byInsert, Inbox: order[i].Inbox(), Events: order[i : i+1]})
		case draw < 0.95:
			p.Sends = append(p.Sends, p.call(rng, order[i], i < early))
		default:
			count = min(5+rng.IntN(20), len(order)-i)
			p.Sends = append(p.Sends, rows(rng, order[i:i+count])...)
		}
		i += count
	}
}

func (p *Plan) call(rng *rand.Rand, e *Event, early bool) Send {
	s := Send{How: byFunction, Inbox: e.Inbox(), Events: []*Event{e}}
	if early && s.Inbox == delaying && rng.Float64() < chanceDelayed {
		s.Delay = time.Duration(200+rng.IntN(700)) * time.Millisecond
		p.Delayed++
	}
	return s
}

// rows makes one statement of many rows for each inbox that the events go to.
func rows(rng *rand.Rand, events []*Event) []Send {
	var sends []Send
	for _, inbox := range inboxes {
		s := Send{How: byRows, Inbox: inbox}
		for _, e := range events {
			if e.Inbox() == inbox {
				s.Events = append(s.Events, e)
			}
		}
		if s.Events == nil {
			continue
		}
		// Two statements that insert the same ids in different order wait for each other: every sender of many rows sorts them.
		slices.SortFunc(s.Events, func(a, b *Event) int { return strings.Compare(a.ID, b.ID) })
		if rng.Float64() < chanceHeld {
			s.Hold = time.Duration(50+rng.IntN(200)) * time.Millisecond
		}
		sends = append(sends, s)
	}
	return sends
}

// outOfOrder counts events whose first arrival follows that of a later event of the same order.
func outOfOrder(order []*Event) int {
	count := 0
	seen := map[*Event]bool{}
	latest := map[string]int{}
	for _, e := range order {
		if seen[e] {
			continue
		}
		seen[e] = true
		if e.place < latest[e.OrderID] {
			count++
		}
		latest[e.OrderID] = max(latest[e.OrderID], e.place)
	}
	return count
}

// good lists the events that must have their effect.
func (p *Plan) good() []*Event {
	return slices.DeleteFunc(slices.Clone(p.Events), (*Event).Poison)
}

// late lists the ids in transactions that are held open.
func (p *Plan) late() []string {
	ids := []string{}
	for _, s := range p.Sends {
		if s.Hold == 0 {
			continue
		}
		for _, e := range s.Events {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// failures is how often attempts fail, given how many make a dead letter in each inbox.
func (p *Plan) failures(maxRetries map[string]int) int {
	total := 0
	for _, e := range p.Events {
		if e.Poison() {
			total += maxRetries[e.Inbox()]
		} else {
			total += e.Fails
		}
	}
	return total
}
