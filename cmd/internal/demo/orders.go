package demo

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// customers is how many the shop has: schema.sql makes them.
const customers = 250

// opened is when the shop's first order came in. The clock plays no part, so that a seed gives the same events forever.
var opened = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// producer makes events, order after order.
type producer struct {
	rng    *rand.Rand
	events []*Event
	orders int
	now    time.Time
}

// produce makes n events; the last order may be cut short.
func produce(rng *rand.Rand, n int) []*Event {
	p := &producer{rng: rng, now: opened}
	for len(p.events) < n {
		p.order()
	}
	return p.events[:n]
}

// order makes the events of one order.
func (p *producer) order() {
	p.orders++
	lines, cents := p.basket()
	base := body{
		OrderID:    fmt.Sprintf("ord-%06d", p.orders),
		CustomerID: 1 + p.rng.IntN(customers),
		Amount:     money(cents),
		Currency:   "EUR",
	}
	place := 0
	emit := func(kind string, fill func(*body)) {
		b := base
		fill(&b)
		p.emit(&Event{Type: kind, OrderID: base.OrderID, Cents: cents, body: b, place: place})
		place++
	}
	payment := fmt.Sprintf("pay-%06d", p.orders)

	emit("order.placed", func(b *body) { b.Lines = lines })
	switch fate := p.rng.Float64(); {
	case fate < 0.05: // still in the basket
	case fate < 0.15:
		emit("order.cancelled", func(b *body) { b.Reason = pick(p.rng, "changed mind", "too slow", "found cheaper") })
	default:
		method := pick(p.rng, "card", "card", "paypal", "transfer")
		emit("payment.authorized", func(b *body) { b.PaymentID, b.Method = payment, method })
		emit("payment.captured", func(b *body) { b.PaymentID, b.Method = payment, method })
		emit("order.paid", func(b *body) { b.Method = method })
		if fate < 0.90 {
			emit("order.shipped", func(b *body) { b.Carrier = pick(p.rng, "DHL", "DPD", "Post") })
		}
	}
}

func (p *producer) emit(e *Event) {
	p.now = p.now.Add(time.Duration(1+p.rng.IntN(4000)) * time.Millisecond)
	e.body.OccurredAt = p.now.Format("2006-01-02T15:04:05.000Z")
	// The number keeps ids apart, the random part spreads them as real ones are.
	e.ID = fmt.Sprintf("evt_%08x%06x", p.rng.Uint32(), len(p.events))
	p.events = append(p.events, e)
}

// basket draws what is ordered, and what it costs.
func (p *producer) basket() ([]line, int64) {
	var lines []line
	var total int64
	for range 1 + p.rng.IntN(4) {
		quantity, price := 1+p.rng.IntN(3), int64(199+p.rng.IntN(9800))
		lines = append(lines, line{fmt.Sprintf("SKU-%04d", p.rng.IntN(2000)), quantity, money(price)})
		total += int64(quantity) * price
	}
	return lines, total
}

func pick[T any](rng *rand.Rand, choices ...T) T { return choices[rng.IntN(len(choices))] }
