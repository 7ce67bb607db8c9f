package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const (
	window         = 1000 // documents that are published before their confirmations
	shortest       = 255  // bytes of a short string of AMQP, at most
	headerOverhead = 2048 // bytes of a header frame beside the table of headers, at most
	defaultTimeout = 30 * time.Second
)

var (
	errClosed  = errors.New("the sink is closed")
	errRefused = errors.New("the broker refused the document, as it does when a queue is full")
	tooLarge   = regexp.MustCompile(`larger than (?:configured )?max size (\d+)`)
)

type sink struct {
	c          *config.RabbitMQ
	key        wire.Template
	timeout    time.Duration
	limit      int             // bytes of a document, where the broker has said it
	routed     map[string]bool // routing keys of which this connection has published a document to a queue
	isCautious bool            // the broker has refused a document

	mutex   sync.Mutex // over what follows
	closed  bool
	link    *link
	returns chan amqp.Return // in the order of publishing, each before its confirmation
}

// NewSink makes a sink that publishes to an exchange. It connects when it is used.
func NewSink(_ context.Context, c *config.RabbitMQ) (wire.Sink, error) {
	key, err := wire.ParseTemplate(c.RoutingKey)
	if err != nil {
		return nil, err
	}
	s := &sink{c: c, key: key, timeout: time.Duration(c.Timeout)}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	return s, nil
}

// connect returns the connection, a new one if the last one has ended.
func (s *sink) connect(ctx context.Context) (*link, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case s.link != nil && !s.link.channel.IsClosed():
		return s.link, nil
	case s.link != nil:
		s.link.close()
		s.link = nil
	}
	l, err := dial(ctx, s.c.URL, s.c.TLS)
	if err != nil {
		return nil, err
	}
	if err := l.channel.Confirm(false); err != nil {
		l.close()
		return nil, err
	}
	s.routed = map[string]bool{}
	s.link, s.returns = l, l.channel.NotifyReturn(make(chan amqp.Return, window))
	return l, nil
}

// Send publishes documents and waits for the confirmation of each.
func (s *sink) Send(ctx context.Context, documents []*wire.Document) []error {
	if len(documents) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	l, err := s.connect(ctx)
	if err != nil {
		return wire.All(documents, err)
	}
	// A broker that is short of memory or disk reads nothing: writes to it wait.
	stop := context.AfterFunc(ctx, func() { _ = l.raw.Close() })
	defer stop()
	return s.sendRounds(ctx, l, documents)
}

func (s *sink) sendPart(ctx context.Context, l *link, documents []*wire.Document) []error {
	errs := make([]error, len(documents))
	confirmations := make([]*amqp.DeferredConfirmation, len(documents))
	for i, d := range documents {
		if errs[i] = s.check(l, d); errs[i] == nil {
			confirmations[i], errs[i] = l.channel.PublishWithDeferredConfirm(s.c.Exchange, d.Address, true, false, publishing(d))
		}
	}
	for i, confirmation := range confirmations {
		if confirmation != nil && !confirmation.Wait() {
			errs[i] = errRefused
		}
	}
	if l.channel.IsClosed() {
		s.explain(ctx, l, documents, errs)
		return errs
	}
	s.addReturns(documents, errs)
	return errs
}

// explain puts why the channel was closed in place of the errors that follow from it. A document that is too large for the broker closes the channel.
func (s *sink) explain(ctx context.Context, l *link, documents []*wire.Document, errs []error) {
	reason := l.reason()
	if ctx.Err() != nil {
		reason = fmt.Errorf("the broker did not confirm all documents: %w", ctx.Err())
	}
	if limit := tooLarge.FindStringSubmatch(reason.Error()); limit != nil {
		s.limit, _ = strconv.Atoi(limit[1])
	}
	for i, d := range documents {
		if errs[i] == nil || wire.IsRejected(errs[i]) {
			continue
		}
		if errs[i] = s.check(l, d); errs[i] == nil {
			errs[i] = reason
		}
	}
	s.addReturns(documents, errs)
}

// addReturns puts errors for documents that no queue took, which the broker confirms as well.
func (s *sink) addReturns(documents []*wire.Document, errs []error) {
	returned := map[string]amqp.Return{}
	for {
		select {
		case r, open := <-s.returns:
			if open {
				returned[r.MessageId] = r
				continue
			}
		default:
		}
		break
	}
	for i, d := range documents {
		if r, ok := returned[d.ID]; ok && errs[i] == nil {
			errs[i] = fmt.Errorf("exchange %q has no queue for routing key %q: %d %s", r.Exchange, r.RoutingKey, r.ReplyCode, r.ReplyText)
		}
	}
}

// check rejects what AMQP has no room for.
func (s *sink) check(l *link, d *wire.Document) error {
	if s.limit > 0 && len(d.Body) > s.limit {
		return wire.Reject("the document has %d bytes, but the broker takes %d at most", len(d.Body), s.limit)
	}
	size := headerOverhead
	for name, value := range d.Headers {
		if len(headerOf(name)) > shortest {
			return wire.Reject("the name of header %.64s has more than %d bytes", name, shortest)
		}
		size += len(headerOf(name)) + len(value) + 6
	}
	switch most := l.conn.Config.FrameSize; {
	case most > 0 && size > most:
		return wire.Reject("the headers have %d bytes, but the broker takes %d at most", size-headerOverhead, most-headerOverhead)
	case len(d.Address) > shortest:
		return wire.Reject("the routing key has more than %d bytes", shortest)
	case len(d.ID) > shortest:
		return wire.Reject("the id has more than %d bytes", shortest)
	case len(d.ContentType) > shortest:
		return wire.Reject("the content type has more than %d bytes", shortest)
	}
	return nil
}

func publishing(d *wire.Document) amqp.Publishing {
	p := amqp.Publishing{
		DeliveryMode: amqp.Persistent, MessageId: d.ID, ContentType: d.ContentType, Body: d.Body, Headers: make(amqp.Table, len(d.Headers)),
	}
	if d.Event != nil {
		p.Timestamp = d.Event.Time
	}
	for name, value := range d.Headers {
		p.Headers[headerOf(name)] = value
	}
	return p
}

// Check says whether the exchange exists or, in the default exchange, the queue if the routing key is fixed.
func (s *sink) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	l, err := dial(ctx, s.c.URL, s.c.TLS)
	if err != nil {
		return err
	}
	defer l.close()
	defer context.AfterFunc(ctx, func() { _ = l.raw.Close() })()
	if s.c.Exchange != "" {
		return l.channel.ExchangeDeclarePassive(s.c.Exchange, amqp.ExchangeTopic, true, false, false, false, nil)
	}
	if s.key.IsFixed() {
		_, err = l.channel.QueueDeclarePassive(s.c.RoutingKey, true, false, false, false, nil)
	}
	return err
}

// Close ends the connection.
func (s *sink) Close(context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed = true; s.link != nil {
		s.link.close()
		s.link = nil
	}
	return nil
}
