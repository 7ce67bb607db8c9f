package mqtt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"github.com/eclipse/paho.golang/paho/session"
	"github.com/eclipse/paho.golang/paho/session/state"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const (
	window     = 256       // documents that are published before their confirmations; brokers take fewer, such as 20
	mostPacket = 268435460 // bytes of a packet of MQTT, at most
)

var errClosed = errors.New("the connection is closed")

// sink is not InOrder: a document may be refused, and those after it be taken.
type sink struct {
	c        *config.MQTT
	endpoint *endpoint
	timeout  time.Duration

	mutex  sync.Mutex // over what follows
	closed bool
	client *client
}

// NewSink makes a sink that publishes to topics. It connects when it is used.
func NewSink(_ context.Context, c *config.MQTT) (wire.Sink, error) {
	e, err := newEndpoint(c.URL, c.User, c.Password, c.TLS)
	if err != nil {
		return nil, err
	}
	s := &sink{c: c, endpoint: e, timeout: time.Duration(c.Timeout)}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	return s, nil
}

// connect returns the connection, a new one if the last one has ended.
func (s *sink) connect(ctx context.Context) (*client, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if s.client != nil && !s.client.isDone() {
		return s.client, nil
	}
	c, err := s.endpoint.connect(ctx, &paho.Connect{ClientID: s.c.ClientID, CleanStart: true}, paho.ClientConfig{
		PacketTimeout: s.timeout, Session: &receipts{SessionManager: state.NewInMemory(), unmatched: map[uint16]bool{}},
	})
	s.client = c
	return c, err
}

// receipts is a session that repeats in PUBCOMP the reason code of PUBREC, the first of two answers to quality of service 2: the client returns only the second.
type receipts struct {
	session.SessionManager
	unmatched map[uint16]bool // packets whose PUBREC said that there are no subscribers
}

// PacketReceived handles an answer of the broker.
func (r *receipts) PacketReceived(p *packets.ControlPacket, published chan<- *packets.Publish) error {
	switch answer := p.Content.(type) {
	case *packets.Pubrec:
		r.unmatched[answer.PacketID] = answer.ReasonCode == noSubscribers
	case *packets.Pubcomp:
		if r.unmatched[answer.PacketID] {
			answer.ReasonCode = noSubscribers
		}
		delete(r.unmatched, answer.PacketID)
	}
	return r.SessionManager.PacketReceived(p, published)
}

// Send publishes documents and waits for the confirmation of each.
func (s *sink) Send(ctx context.Context, documents []*wire.Document) []error {
	if len(documents) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	c, err := s.connect(ctx)
	if err != nil {
		return wire.All(documents, err)
	}
	errs := s.publishAll(ctx, c, documents)
	s.explain(ctx, c, errs)
	return errs
}

// publishAll returns early if the connection ends.
func (s *sink) publishAll(ctx context.Context, c *client, documents []*wire.Document) []error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-c.Done(): // about which the client does not tell those who wait for a confirmation
			cancel()
		case <-ctx.Done():
		}
	}()
	errs := make([]error, len(documents))
	next := make(chan int)
	var senders sync.WaitGroup
	for range min(window, len(documents)) {
		senders.Go(func() {
			for i := range next {
				errs[i] = s.publish(ctx, c, documents[i])
			}
		})
	}
	for i := range documents {
		next <- i
	}
	close(next)
	senders.Wait()
	return errs
}

// unconfirmed is the error of a document that the broker may have or not.
type unconfirmed struct{ error }

func (s *sink) publish(ctx context.Context, c *client, d *wire.Document) error {
	if err := check(d); err != nil {
		return err
	}
	p := &paho.Publish{
		QoS: byte(s.c.QoS), Retain: s.c.Retain, Topic: d.Address, Payload: d.Body,
		Properties: &paho.PublishProperties{ContentType: d.ContentType, CorrelationData: []byte(d.ID), User: properties(d.Headers)},
	}
	if p.QoS == 0 {
		p.QoS = 1
	}
	if err := checkSize(p, c.limit); err != nil {
		return err
	}
	answer, err := c.Publish(ctx, p)
	switch {
	case answer != nil && answer.ReasonCode >= failure:
		err = refusal("the broker refused the document", answer.ReasonCode, answer.Properties.ReasonString)
		switch answer.ReasonCode {
		case 0x90, 0x95, 0x99: // topic name invalid, packet too large, payload format invalid
			return wire.Rejected{Err: err}
		}
		return err
	case answer != nil && answer.ReasonCode == noSubscribers && !p.Retain:
		return fmt.Errorf("no session has subscribed to topic %q, so the broker kept nothing: subscribe to it first", d.Address)
	case errors.Is(err, paho.ErrInvalidArguments): // the broker has neither the quality of service nor retained messages
		return err
	case err != nil:
		return unconfirmed{err}
	}
	return nil
}

// checkSize rejects what is too large for the broker, which ends the connection at it.
func checkSize(p *paho.Publish, limit uint32) error {
	most := int64(mostPacket)
	if limit > 0 {
		most = min(most, int64(limit))
	}
	size := int64(len(p.Payload)+len(p.Topic)+len(p.Properties.ContentType)+len(p.Properties.CorrelationData)) + 64
	for _, property := range p.Properties.User {
		size += int64(len(property.Key)+len(property.Value)) + 5
	}
	if size <= most {
		return nil
	}
	if exact, err := p.Packet().WriteTo(io.Discard); err != nil || exact > most {
		return wire.Reject("the document needs a packet of %d bytes, but the broker takes %d at most", size, most)
	}
	return nil
}

// explain ends a connection in which documents have no confirmation, so that they are sent again in another one, and says why they have none.
func (s *sink) explain(ctx context.Context, c *client, errs []error) {
	var reason error
	for i, err := range errs {
		if _, ok := err.(unconfirmed); !ok {
			continue
		}
		if reason == nil {
			reason = whyUnconfirmed(ctx, c)
		}
		errs[i] = reason
	}
}

func whyUnconfirmed(ctx context.Context, c *client) error {
	if ctx.Err() != nil {
		c.close()
		return fmt.Errorf("the broker did not confirm all documents: %w", ctx.Err())
	}
	reason := c.reason()
	c.close()
	return reason
}

// Check says whether the broker accepts the connection. Topics need not exist.
func (s *sink) Check(ctx context.Context) error {
	_, err := s.connect(ctx)
	return err
}

// Close ends the connection.
func (s *sink) Close(context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed = true; s.client != nil {
		s.client.close()
	}
	return nil
}
