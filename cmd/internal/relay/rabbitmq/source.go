package rabbitmq

import (
	"context"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const (
	mostPrefetch = 65535
	gather       = 5 * time.Millisecond // how long a batch waits for more
)

type source struct {
	c        *config.RabbitMQSource
	decode   func(*wire.Document, wire.Place) *wire.Event
	batch    int
	link     *link
	messages <-chan amqp.Delivery
	close    func()
}

// NewSource makes a source that consumes a queue. The broker ends the connection if a batch takes longer than its consumer_timeout, 30 minutes unless that
// is set, and delivers the batch again.
func NewSource(ctx context.Context, c *config.RabbitMQSource, decode func(*wire.Document, wire.Place) *wire.Event, batch int) (wire.Source, error) {
	l, err := dial(ctx, c.URL, c.TLS)
	if err != nil {
		return nil, err
	}
	s := &source{c: c, decode: decode, batch: batch, link: l, close: sync.OnceFunc(l.close)}
	if err := s.consume(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *source) consume() (err error) {
	prefetch := s.c.Prefetch
	if prefetch == 0 {
		prefetch = s.batch
	}
	if err := s.link.channel.Qos(min(prefetch, mostPrefetch), 0, false); err != nil {
		return err
	}
	s.messages, err = s.link.channel.Consume(s.c.Queue, "", false, false, false, false, nil)
	return err
}

// Receive waits for a message and takes those that come with it.
func (s *source) Receive(ctx context.Context) ([]*wire.Event, error) {
	var events []*wire.Event
	var enough <-chan time.Time
	for len(events) < s.batch {
		select {
		case m, open := <-s.messages:
			if !open {
				return nil, s.ended()
			}
			if events = append(events, s.event(m)); enough == nil {
				enough = time.After(gather)
			}
		case <-enough:
			return events, nil
		case <-ctx.Done():
			if len(events) > 0 {
				return events, nil
			}
			return nil, ctx.Err()
		}
	}
	return events, nil
}

// ended is why there are no more messages.
func (s *source) ended() error {
	if s.link.channel.IsClosed() {
		return s.link.reason()
	}
	return fmt.Errorf("the broker cancelled the consumer of queue %q, as it does when the queue is deleted", s.c.Queue)
}

func (s *source) event(m amqp.Delivery) *wire.Event {
	d := &wire.Document{Address: m.RoutingKey, ID: m.MessageId, ContentType: m.ContentType, Headers: make(map[string]string, len(m.Headers)), Body: m.Body}
	for name, value := range m.Headers {
		d.Headers[nameOf(name)] = text(value)
	}
	d.Key = d.Headers["event-key"]
	event := s.decode(d, wire.Place{})
	event.Tag = m.DeliveryTag
	return event
}

// Settle acknowledges what was delivered or rejected. If there is something else, it closes the channel and opens another: the broker then puts all that was
// not acknowledged, also what it had sent ahead, back to its place in the queue, so that order holds.
func (s *source) Settle(_ context.Context, events []*wire.Event, outcomes []error) error {
	first := 0 // of those that come again
	for first < len(events) && isDone(outcomes[first]) {
		first++
	}
	if first > 0 {
		if err := s.link.channel.Ack(events[first-1].Tag.(uint64), true); err != nil {
			return err
		}
	}
	if first == len(events) {
		return nil
	}
	for i := first; i < len(events); i++ {
		if isDone(outcomes[i]) {
			if err := s.link.channel.Ack(events[i].Tag.(uint64), false); err != nil {
				return err
			}
		}
	}
	return s.giveBack()
}

func isDone(outcome error) bool { return outcome == nil || wire.IsRejected(outcome) }

func (s *source) giveBack() error {
	if err := s.link.channel.Close(); err != nil {
		return err
	}
	if err := s.link.openChannel(); err != nil {
		return err
	}
	return s.consume()
}

// Close ends the connection, which gives back what was not settled.
func (s *source) Close(context.Context) error {
	s.close()
	return nil
}
