package demo

import (
	"encoding/json"
	"fmt"
)

// poison marks an event that fails at every attempt.
const poison = -1

// Event is one message as its producer made it.
type Event struct {
	ID      string
	Type    string
	OrderID string
	Payload string
	Cents   int64 // the amount that it speaks of
	Fails   int   // attempts that fail before one succeeds, or poison

	body  body
	place int // of the event within the life of its order
}

// Inbox is where the event goes.
func (e *Event) Inbox() string { return inboxOf[e.Type] }

// Poison reports whether no attempt can succeed.
func (e *Event) Poison() bool { return e.Fails == poison }

// eventTypes are the types in the order in which an order lives through them.
var eventTypes = []string{
	"order.placed", "payment.authorized", "payment.captured", "order.paid", "order.shipped", "order.cancelled",
}

// inboxes are those of the sample spec.
var inboxes = []string{"order_events", "payments"}

// delaying is the inbox that takes a time before which a message is not due, as those with a retry option do.
const delaying = "order_events"

var inboxOf = map[string]string{
	"order.placed":       "order_events",
	"order.paid":         "order_events",
	"order.shipped":      "order_events",
	"order.cancelled":    "order_events",
	"payment.authorized": "payments",
	"payment.captured":   "payments",
}

// sourceOf names the system that sends to an inbox.
var sourceOf = map[string]string{"order_events": "web shop", "payments": "payment provider"}

// body is the payload. Every event of an order says enough for the order's row, as any of them may come first.
type body struct {
	OrderID    string `json:"order_id,omitempty"`
	CustomerID int    `json:"customer_id"`
	Amount     any    `json:"amount"`
	Currency   string `json:"currency"`
	Lines      []line `json:"lines,omitempty"`
	PaymentID  string `json:"payment_id,omitempty"`
	Method     string `json:"method,omitempty"`
	Carrier    string `json:"carrier,omitempty"`
	Reason     string `json:"reason,omitempty"`
	OccurredAt string `json:"occurred_at"`
}

type line struct {
	SKU      string      `json:"sku"`
	Quantity int         `json:"quantity"`
	Price    json.Number `json:"price"`
}

// spoilers make a payload that the shop can never book, each for another reason.
var spoilers = []func(*body){
	func(b *body) { b.Amount = fmt.Sprintf("%v EUR", b.Amount) }, // no number
	func(b *body) { b.Amount = json.Number("-" + fmt.Sprint(b.Amount)) },
	func(b *body) { b.OrderID = "" },
}

// seal fixes the payload as it is sent.
func (e *Event) seal() error {
	text, err := json.Marshal(e.body)
	e.Payload = string(text)
	return err
}

func money(cents int64) json.Number {
	return json.Number(fmt.Sprintf("%d.%02d", cents/100, cents%100))
}
