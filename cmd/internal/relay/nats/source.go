package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Answers to a delivered message.
var (
	ackWord      = []byte("+ACK")
	nakWord      = []byte("-NAK")
	progressWord = []byte("+WPI")
)

// source pulls from a durable consumer. All messages arrive at one subscription, which lives as long as the source, so that none is lost on the way when
// Receive ends early.
type source struct {
	conn      *nats.Conn
	arrived   *nats.Subscription
	request   string // subject of requests for messages
	inbox     string // prefix of the subjects that answers to requests come to
	pulls     int
	batch     int
	ackWait   time.Duration
	straggler time.Duration // the constant; tests wait longer for what is there
	decode    func(*wire.Document, wire.Place) *wire.Event

	using     sync.Mutex              // held by Receive and Settle
	open      context.Context         // until Close
	live      context.Context         // until Close, or until the connection is lost for the first time; the cause says which
	close     context.CancelCauseFunc // ends open
	mu        sync.Mutex              // guards unsettled
	unsettled []*nats.Msg
	extending sync.WaitGroup
}

// NewSource connects to servers and creates or updates the consumer.
func NewSource(ctx context.Context, c *config.NATSSource, decode func(*wire.Document, wire.Place) *wire.Event, batch int) (wire.Source, error) {
	open, end := context.WithCancelCause(context.Background())
	live, lose := context.WithCancelCause(open)
	conn, err := connect(login{c.URL, c.Creds, c.User, c.Password, c.Token, c.NKey, c.TLS}, nats.DisconnectErrHandler(func(*nats.Conn, error) { lose(errDisconnected) }))
	if err != nil {
		end(err)
		return nil, err
	}
	s := &source{conn: conn, straggler: straggler, decode: decode, open: open, live: live, close: end}
	if err := s.subscribe(ctx, c, batch); err != nil {
		end(err)
		conn.Close()
		return nil, err
	}
	s.extending.Go(s.extend)
	return s, nil
}

func (s *source) subscribe(ctx context.Context, c *config.NATSSource, batch int) error {
	js, err := jetstream.New(s.conn, jetstream.WithDefaultTimeout(10*time.Second))
	if err != nil {
		return err
	}
	info, err := consumer(ctx, js, c)
	if err != nil {
		return err
	}
	s.ackWait = info.Config.AckWait
	for _, wait := range info.Config.BackOff {
		s.ackWait = min(s.ackWait, wait)
	}
	s.batch = batch
	for _, limit := range []int{info.Config.MaxAckPending, info.Config.MaxRequestBatch} {
		if limit > 0 {
			s.batch = min(s.batch, limit)
		}
	}
	s.request = fmt.Sprintf("%sCONSUMER.MSG.NEXT.%s.%s", jetstream.DefaultAPIPrefix, c.Stream, c.Consumer)
	s.inbox = s.conn.NewInbox()
	if s.arrived, err = s.conn.SubscribeSync(s.inbox + ".*"); err != nil {
		return err
	}
	return s.arrived.SetPendingLimits(-1, -1)
}

// consumer creates the durable consumer, or sets of an existing one what the configuration says.
func consumer(ctx context.Context, js jetstream.JetStream, c *config.NATSSource) (*jetstream.ConsumerInfo, error) {
	stream, err := js.Stream(ctx, c.Stream)
	if err != nil {
		return nil, missing(c.Stream, err)
	}
	settings := jetstream.ConsumerConfig{Durable: c.Consumer, AckPolicy: jetstream.AckExplicitPolicy}
	group := wire.GroupOf("nats", c.URL, c.Stream, c.Consumer)
	if c.Start == config.Latest && !group.HasBegun() {
		settings.DeliverPolicy = jetstream.DeliverNewPolicy
	}
	existing, err := stream.Consumer(ctx, c.Consumer)
	switch {
	case err == nil:
		settings = existing.CachedInfo().Config
	case !errors.Is(err, jetstream.ErrConsumerNotFound):
		return nil, fmt.Errorf("could not look up consumer %s: %w", c.Consumer, err)
	}
	if settings.AckPolicy != jetstream.AckExplicitPolicy || settings.DeliverSubject != "" {
		return nil, fmt.Errorf("consumer %s is none that messages are pulled from and acknowledged to one by one: use another name", c.Consumer)
	}
	settings.AckWait, settings.MaxAckPending = time.Duration(c.AckWait), c.MaxAckPending
	settings.FilterSubject, settings.FilterSubjects = "", nil
	for _, subject := range c.Subjects {
		settings.FilterSubjects = append(settings.FilterSubjects, subject.Value)
	}
	if len(settings.FilterSubjects) == 1 {
		settings.FilterSubject, settings.FilterSubjects = settings.FilterSubjects[0], nil
	}
	updated, err := stream.CreateOrUpdateConsumer(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("could not create or update consumer %s: %w", c.Consumer, err)
	}
	group.Begin()
	return updated.CachedInfo(), nil
}

// event makes the event of a message.
func (s *source) event(m *nats.Msg) *wire.Event {
	d := &wire.Document{Address: m.Subject, ID: m.Header.Get(jetstream.MsgIDHeader), Headers: headers(m.Header), Body: m.Data}
	d.ContentType = d.Headers["content-type"]
	place := wire.Place{Topic: m.Subject}
	if meta, err := m.Metadata(); err == nil {
		place.Offset, place.Known = int64(meta.Sequence.Stream), true
	}
	e := s.decode(d, place)
	e.Tag = m
	return e
}

// Settle acknowledges messages and gives back those that were not delivered. A lost connection is waited for, since an acknowledgement counts on any.
func (s *source) Settle(ctx context.Context, events []*wire.Event, outcomes []error) error {
	s.using.Lock()
	defer s.using.Unlock()
	var acks, naks []*nats.Msg
	for i, e := range events {
		m := e.Tag.(*nats.Msg)
		if outcomes[i] == nil || wire.IsRejected(outcomes[i]) {
			acks = append(acks, m)
		} else {
			naks = append(naks, m)
		}
	}
	wait, cancel := context.WithTimeout(ctx, min(s.ackWait, 10*time.Second))
	defer cancel()
	defer context.AfterFunc(s.open, cancel)()
	err := s.answer(wait, acks, ackWord)
	if err == nil {
		err = s.answer(wait, naks, nakWord)
	}
	if err == nil {
		s.hold(nil)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("could not acknowledge messages: %w", err)
}

// Close gives back what was not settled, and what arrives too late.
func (s *source) Close(ctx context.Context) error {
	s.close(nats.ErrConnectionClosed)
	s.using.Lock()
	defer s.using.Unlock()
	s.extending.Wait()
	defer s.conn.Close()
	if !s.conn.IsConnected() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	back := s.unsettled
	s.hold(nil)
	if s.arrived.Drain() == nil && s.conn.FlushWithContext(ctx) == nil {
		for {
			m, err := s.arrived.NextMsg(time.Millisecond)
			if err != nil {
				break
			}
			if !isStatus(m) {
				back = append(back, m)
			}
		}
	}
	return s.confirm(ctx, back, nakWord)
}
