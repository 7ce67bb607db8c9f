package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// window is how many documents are on their way at once, at most.
const window = 4096

// Codes of errors that jetstream has no names for.
const codeHeaderTooLarge jetstream.ErrorCode = 10097

// sink publishes documents. It is not InOrder: the server may refuse one of a call and store those that follow.
type sink struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	subject string // empty unless all documents have the same
	stream  string
}

// NewSink connects to servers.
func NewSink(_ context.Context, c *config.NATS) (wire.Sink, error) {
	subject, err := wire.ParseTemplate(c.Subject)
	if err != nil {
		return nil, err
	}
	conn, err := connect(login{c.URL, c.Creds, c.User, c.Password, c.Token, c.NKey, c.TLS})
	if err != nil {
		return nil, err
	}
	timeout := time.Duration(c.Timeout)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(timeout), jetstream.WithPublishAsyncTimeout(timeout), jetstream.WithPublishAsyncMaxPending(2*window))
	if err != nil {
		conn.Close()
		return nil, err
	}
	s := &sink{conn: conn, js: js, stream: c.Stream}
	if subject.IsFixed() {
		s.subject = c.Subject
	}
	return s, nil
}

// Send publishes documents and waits until a stream has stored each.
func (s *sink) Send(ctx context.Context, documents []*wire.Document) []error {
	errs, failed := make([]error, len(documents)), false
	futures := make([]jetstream.PubAckFuture, len(documents))
	settle := func(i int) {
		if futures[i] != nil {
			errs[i] = outcome(ctx, futures[i])
		}
		failed = failed || errs[i] != nil
	}
	for i, d := range documents {
		if i >= window {
			settle(i - window)
		}
		futures[i], errs[i] = s.publish(ctx, d)
	}
	for i := max(0, len(documents)-window); i < len(documents); i++ {
		settle(i)
	}
	if !failed {
		return nil
	}
	return errs
}

func (s *sink) publish(ctx context.Context, d *wire.Document) (jetstream.PubAckFuture, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m, err := s.message(d)
	if err != nil {
		return nil, err
	}
	if !s.conn.IsConnected() {
		return nil, errDisconnected
	}
	future, err := s.js.PublishMsgAsync(m, jetstream.WithStallWait(time.Second))
	return future, explain(err, m.Subject)
}

func outcome(ctx context.Context, future jetstream.PubAckFuture) error {
	select {
	case <-future.Ok():
		return nil
	case err := <-future.Err():
		return explain(err, future.Msg().Subject)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// explain says what an error of the client means for a document.
func explain(err error, subject string) error {
	var refused *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrMaxPayload):
		return wire.Reject("the document is larger than the server's max_payload")
	case errors.Is(err, nats.ErrBadSubject), errors.Is(err, nats.ErrBadHeaderMsg):
		return wire.Reject("%s", err.Error())
	case errors.As(err, &refused) && (refused.ErrorCode == jetstream.JSErrCodeStreamMessageExceedsMaximum || refused.ErrorCode == codeHeaderTooLarge):
		return wire.Reject("the stream refused the document: %s", refused.Description)
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return noStream(subject)
	}
	return fmt.Errorf("could not publish to %s: %w", subject, err)
}

func noStream(subject string) error {
	return fmt.Errorf("no stream has the subject %s: create one, or add the subject to one", subject)
}

func (s *sink) message(d *wire.Document) (*nats.Msg, error) {
	subject := d.Address
	if subject == "" { // of a dead letter
		subject = s.subject
	}
	if err := checkSubject(subject); err != nil {
		return nil, err
	}
	header := make(nats.Header, len(d.Headers)+4)
	for name, value := range d.Headers {
		if strings.HasPrefix(name, attributePrefix) {
			value = wire.EncodeHeader(value)
		}
		header[name] = []string{value}
	}
	present(header, "content-type", d.ContentType)
	if d.Headers["ce-specversion"] != "" {
		present(header, "ce-datacontenttype", d.ContentType)
	}
	present(header, jetstream.MsgIDHeader, d.ID)
	present(header, jetstream.ExpectedStreamHeader, s.stream)
	for name, values := range header {
		if strings.ContainsAny(values[0], "\r\n") || strings.Trim(values[0], " \t") != values[0] {
			return nil, wire.Reject("NATS cannot carry the header %q: its value has a line break, or a space at an end", name)
		}
	}
	return &nats.Msg{Subject: subject, Header: header, Data: d.Body}, nil
}

func present(header nats.Header, name, value string) {
	if value != "" {
		header[name] = []string{value}
	}
}

// attributePrefix begins headers with attributes of CloudEvents, whose binding for NATS percent-encodes them as that for HTTP does.
const attributePrefix = "ce-"

// checkSubject refuses subjects that cannot be published to, and those of the server itself, which an event's content must not reach.
func checkSubject(subject string) error {
	for token := range strings.SplitSeq(subject, ".") {
		if token == "" || token == "*" || token == ">" {
			return wire.Reject("invalid subject %q", subject)
		}
	}
	if strings.ContainsFunc(subject, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return wire.Reject("invalid subject %q", subject)
	}
	if strings.HasPrefix(subject, "$JS.") || strings.HasPrefix(subject, "$SYS.") || strings.HasPrefix(subject, "_INBOX.") {
		return wire.Reject("subject %q is the server's own", subject)
	}
	return nil
}

// Check looks for the stream.
func (s *sink) Check(ctx context.Context) error {
	if !s.conn.IsConnected() {
		return errDisconnected
	}
	if s.stream != "" {
		if _, err := s.js.Stream(ctx, s.stream); err != nil {
			return missing(s.stream, err)
		}
	}
	if s.subject == "" {
		_, err := s.js.AccountInfo(ctx)
		return err
	}
	if err := checkSubject(s.subject); err != nil {
		return err
	}
	switch name, err := s.js.StreamNameBySubject(ctx, s.subject); {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return noStream(s.subject)
	case err != nil:
		return err
	case s.stream != "" && name != s.stream:
		return fmt.Errorf("subject %s belongs to stream %s, not to %s", s.subject, name, s.stream)
	}
	return nil
}

func missing(stream string, err error) error {
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("stream %s does not exist: create it first", stream)
	}
	return fmt.Errorf("could not look up stream %s: %w", stream, err)
}

// Close disconnects.
func (s *sink) Close(context.Context) error {
	s.conn.Close()
	return nil
}
