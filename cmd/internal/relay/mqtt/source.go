package mqtt

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"github.com/eclipse/paho.golang/paho/session"
	"github.com/eclipse/paho.golang/paho/session/state"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const (
	gather        = 5 * time.Millisecond // how long a batch waits for more
	mostReceive   = 65535
	flushTimeout  = 2 * time.Second
	onlyNewRetain = 1 // retained messages come with a new subscription only
)

type source struct {
	c        *config.MQTTSource
	endpoint *endpoint
	decode   func(*wire.Document, wire.Place) *wire.Event
	batch    int
	messages chan *paho.Publish

	mutex  sync.Mutex // over what follows
	closed bool
	client *client
	acks   *acks
	stop   chan struct{} // ends the wait of the client for room in messages
}

// acks counts the acknowledgements that the client has written. It does that a little later than it is told to.
type acks struct {
	session.SessionManager
	told    int64
	written atomic.Int64
}

// Ack writes an acknowledgement.
func (a *acks) Ack(p *packets.Publish) error {
	defer a.written.Add(1)
	return a.SessionManager.Ack(p)
}

// NewSource makes a source that subscribes to topics in a session, which the broker keeps while the source is away.
func NewSource(ctx context.Context, c *config.MQTTSource, decode func(*wire.Document, wire.Place) *wire.Event, batch int) (wire.Source, error) {
	e, err := newEndpoint(c.URL, c.User, c.Password, c.TLS)
	if err != nil {
		return nil, err
	}
	s := &source{c: c, endpoint: e, decode: decode, batch: batch}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *source) open(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return errClosed
	}
	ahead := uint16(min(s.batch, mostReceive))
	expiry := uint32(min(time.Duration(s.c.SessionExpiry)/time.Second, math.MaxUint32-1))
	messages, stop, written := make(chan *paho.Publish, ahead), make(chan struct{}), &acks{SessionManager: state.NewInMemory()}
	c, err := s.endpoint.connect(ctx,
		&paho.Connect{ClientID: s.c.ClientID, Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry, ReceiveMaximum: &ahead, RequestProblemInfo: true}},
		paho.ClientConfig{
			Session: written, EnableManualAcknowledgment: true, SendAcksInterval: acknowledge, PacketTimeout: defaultTimeout,
			OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
				select {
				case messages <- p.Packet:
				case <-stop:
				}
				return true, nil
			}},
		})
	if err != nil {
		return err
	}
	if !c.hadSession {
		slog.Warn("the broker has no session of this client and begins one: of earlier events, it kept none; expected at the first start only", "client_id", s.c.ClientID)
	}
	s.client, s.messages, s.acks, s.stop = c, messages, written, stop
	if err := s.subscribe(ctx); err != nil {
		s.end()
		return err
	}
	return nil
}

// flush waits until the broker has the acknowledgements: it answers a subscription, which changes nothing, after them. The caller holds the mutex.
func (s *source) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	for s.client != nil && s.acks.written.Load() < s.acks.told && ctx.Err() == nil && !s.client.isDone() {
		time.Sleep(acknowledge)
	}
	if s.client != nil && !s.client.isDone() {
		_ = s.subscribe(ctx)
	}
}

func (s *source) subscribe(ctx context.Context) error {
	quality := byte(s.c.QoS)
	if quality == 0 {
		quality = 1
	}
	var all paho.Subscribe
	for _, topic := range s.c.Topics {
		all.Subscriptions = append(all.Subscriptions, paho.SubscribeOptions{Topic: topic.Value, QoS: quality, RetainHandling: onlyNewRetain})
	}
	answer, err := s.client.Subscribe(ctx, &all)
	if answer != nil {
		for i, code := range answer.Reasons {
			if code >= failure {
				return refusal("the broker refused the subscription to "+s.c.Topics[i].Value, code, "")
			}
		}
	}
	return err
}

// end ends the connection; the caller holds the mutex.
func (s *source) end() {
	if s.client == nil {
		return
	}
	close(s.stop)
	s.client.close()
	_ = s.acks.Close()
	s.client = nil
}

// Receive waits for a message and takes those that come with it.
func (s *source) Receive(ctx context.Context) ([]*wire.Event, error) {
	s.mutex.Lock()
	c := s.client
	s.mutex.Unlock()
	if c == nil {
		return nil, errClosed
	}
	var events []*wire.Event
	var enough <-chan time.Time
	for len(events) < s.batch {
		select {
		case m := <-s.messages:
			if events = append(events, s.event(m)); enough == nil {
				enough = time.After(gather)
			}
		case <-enough:
			return events, nil
		case <-c.Done():
			return nil, c.reason()
		case <-ctx.Done():
			if len(events) > 0 {
				return events, nil
			}
			return nil, ctx.Err()
		}
	}
	return events, nil
}

func (s *source) event(m *paho.Publish) *wire.Event {
	d := &wire.Document{Address: m.Topic, Headers: map[string]string{}, Body: m.Payload}
	if m.Properties != nil {
		d.ID, d.ContentType, d.Headers = string(m.Properties.CorrelationData), m.Properties.ContentType, headers(m.Properties.User)
	}
	d.Key = d.Headers["event-key"]
	event := s.decode(d, wire.Place{})
	event.Tag = m
	return event
}

// Settle acknowledges what was delivered or rejected, in order as MQTT wants it, up to the first other one. To have that and what follows again it connects anew.
func (s *source) Settle(ctx context.Context, events []*wire.Event, outcomes []error) error {
	again, err := s.acknowledge(events, outcomes)
	if err != nil || !again {
		return err
	}
	s.mutex.Lock()
	s.flush(ctx)
	s.end()
	s.mutex.Unlock()
	return s.open(ctx)
}

// acknowledge reports whether events are to come again.
func (s *source) acknowledge(events []*wire.Event, outcomes []error) (again bool, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.client == nil {
		return false, errClosed
	}
	for i, event := range events {
		if outcomes[i] != nil && !wire.IsRejected(outcomes[i]) {
			return true, nil
		}
		p := event.Tag.(*paho.Publish)
		if err := s.client.Ack(p); err != nil { // the connection has ended: they come again in another one
			return false, err
		}
		if p.QoS > 0 {
			s.acks.told++
		}
	}
	return false, nil
}

// Close ends the connection, but not the session, in which the broker keeps what was not settled.
func (s *source) Close(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.closed = true
	s.flush(ctx)
	s.end()
	return nil
}
