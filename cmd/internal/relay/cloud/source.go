//go:build clouds

package cloud

import (
	"context"
	"net/url"
	"path"
	"sync"
	"time"

	"gocloud.dev/pubsub"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const (
	more      = 20 * time.Millisecond  // how long a batch waits for another message
	drainFor  = 500 * time.Millisecond // how long Close gives back what the client fetched ahead
	drainMost = 3000                   // messages; a client fetches no more ahead
)

type source struct {
	subscription *pubsub.Subscription
	name         string
	decode       func(*wire.Document, wire.Place) *wire.Event
	batch        int

	open      context.Context // until Close
	end       context.CancelFunc
	using     sync.Mutex // held by Receive, Settle and Close
	unsettled []*pubsub.Message
}

// NewSource makes a source that takes messages from a queue or subscription.
func NewSource(ctx context.Context, c *config.CloudSource, decode func(*wire.Document, wire.Place) *wire.Event, batch int) (wire.Source, error) {
	u, err := parse(c.URL)
	if err != nil {
		return nil, err
	}
	subscription, err := pubsub.OpenSubscription(ctx, c.URL)
	if err != nil {
		return nil, concealed(u, err)
	}
	return newSource(subscription, nameOf(u), decode, batch), nil
}

func newSource(subscription *pubsub.Subscription, name string, decode func(*wire.Document, wire.Place) *wire.Event, batch int) *source {
	s := &source{subscription: subscription, name: name, decode: decode, batch: batch}
	s.open, s.end = context.WithCancel(context.Background())
	return s
}

func nameOf(u *url.URL) string { return path.Join(u.Host, u.Path) }

// Receive waits for a message and takes those that are there, too.
func (s *source) Receive(ctx context.Context) ([]*wire.Event, error) {
	s.using.Lock()
	defer s.using.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.open, cancel)()
	first, err := s.subscription.Receive(ctx)
	if err != nil {
		return nil, err
	}
	s.unsettled = []*pubsub.Message{first}
	for len(s.unsettled) < s.batch {
		next, err := s.next(ctx, more)
		if err != nil {
			break // of time, or one that the next call returns again
		}
		s.unsettled = append(s.unsettled, next)
	}
	events := make([]*wire.Event, len(s.unsettled))
	for i, m := range s.unsettled {
		events[i] = s.event(m)
	}
	return events, nil
}

func (s *source) next(ctx context.Context, wait time.Duration) (*pubsub.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return s.subscription.Receive(ctx)
}

// event makes the event of a message. One that others sent has the id that the cloud gave it.
func (s *source) event(m *pubsub.Message) *wire.Event {
	d := document(m.Body, m.Metadata)
	d.Address = s.name
	if d.ID == "" {
		d.ID = d.Headers["event-id"]
	}
	if id := messageID(m); d.ID == "" && id != "" {
		d.ID = s.name + "/" + id
	}
	e := s.decode(d, wire.Place{})
	e.Tag = m
	return e
}

// Settle acknowledges what was delivered or rejected, and gives back the others. Acknowledgements are sent in the background: the next Receive returns their error,
// and what was not acknowledged comes again.
func (s *source) Settle(_ context.Context, events []*wire.Event, outcomes []error) error {
	s.using.Lock()
	defer s.using.Unlock()
	for i, e := range events {
		m := e.Tag.(*pubsub.Message)
		if outcomes[i] == nil || wire.IsRejected(outcomes[i]) {
			m.Ack()
		} else {
			giveBack(m)
		}
	}
	s.unsettled = nil
	return nil
}

// giveBack lets the cloud deliver a message at once; otherwise it does when its time is over.
func giveBack(m *pubsub.Message) {
	if m.Nackable() {
		m.Nack()
	}
}

// Close gives back what was not settled and what the client fetched ahead, sends acknowledgements, and ends the connections.
func (s *source) Close(ctx context.Context) error {
	s.end()
	s.using.Lock()
	defer s.using.Unlock()
	drain, cancel := context.WithTimeout(ctx, drainFor)
	defer cancel()
	for len(s.unsettled) < drainMost {
		m, err := s.next(drain, more)
		if err != nil {
			break
		}
		s.unsettled = append(s.unsettled, m)
	}
	for _, m := range s.unsettled {
		giveBack(m)
	}
	s.unsettled = nil
	return s.subscription.Shutdown(ctx)
}
