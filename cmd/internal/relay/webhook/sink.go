package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/tlsconfig"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const keptAnswer = 200 // bytes of an answer that an error shows

// Sink sends a request for each document. It is a wire.Sink.
type Sink struct {
	c      *config.Webhook
	client *http.Client
	base   *url.URL // what all URLs agree in: scheme and host
	key    []byte
}

// NewSink makes a sink. It follows no redirects, as those could lead to other hosts.
func NewSink(c *config.Webhook) (*Sink, error) {
	head, _, _ := strings.Cut(c.URL, "{{")
	base, err := url.Parse(head)
	if err != nil {
		return nil, errors.New("invalid url") // the parser's error may show a password
	}
	tls, err := tlsconfig.Client(c.TLS)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig, transport.MaxIdleConnsPerHost = tls, c.Concurrency
	return &Sink{c: c, base: base, key: key(c.Secret), client: &http.Client{
		Transport: transport, Timeout: time.Duration(c.Timeout), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Send implements wire.Sink.
func (s *Sink) Send(ctx context.Context, documents []*wire.Document) []error {
	errs := make([]error, len(documents))
	var all sync.WaitGroup
	free := make(chan struct{}, s.c.Concurrency)
	for i, d := range documents {
		free <- struct{}{}
		all.Go(func() {
			errs[i] = s.send(ctx, d)
			<-free
		})
	}
	all.Wait()
	return errs
}

func (s *Sink) send(ctx context.Context, d *wire.Document) error {
	request, err := http.NewRequestWithContext(ctx, s.c.Method, d.Address, bytes.NewReader(d.Body))
	if err != nil || !s.leadsWhereItShould(request.URL) {
		return wire.Reject("the URL that the template makes is invalid or leads elsewhere: {{ path .Key }} escapes what an event has")
	}
	if err := setHeaders(request.Header, d); err != nil {
		return err
	}
	id, timestamp := wire.EncodeHeader(d.ID), strconv.FormatInt(time.Now().Unix(), 10)
	request.Header.Set("Content-Type", d.ContentType)
	request.Header.Set("Idempotency-Key", id)
	request.Header.Set(headerID, id)
	request.Header.Set(headerTimestamp, timestamp)
	if s.c.Secret != "" {
		request.Header.Set(headerSignature, sign(s.key, id, timestamp, d.Body))
	}
	for name, value := range s.c.Headers {
		request.Header.Set(name, value)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the URL, which may hold a token
		}
		return fmt.Errorf("%s %s: %w", s.c.Method, s.base.Host, err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, keptAnswer))
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // lets the connection be used again
	return s.outcome(answer, text)
}

// setHeaders sets the headers of a document that are an event's or the configuration's. What else a publisher wrote, such as Authorization or Host, would be
// taken for the relay's own.
func setHeaders(to http.Header, d *wire.Document) error {
	for name, value := range d.Headers {
		switch {
		case isEncoded(name):
			value = wire.EncodeHeader(value)
		case !d.Configured[name] && !isOfEvent(name):
			continue
		}
		if strings.ContainsAny(value, "\r\n\x00") || !isToken(name) {
			return wire.Reject("header %q cannot be sent by HTTP", name)
		}
		to.Set(name, value)
	}
	return nil
}

// leadsWhereItShould reports whether what an event put into a URL changed neither host nor path, nor began a query.
func (s *Sink) leadsWhereItShould(u *url.URL) bool {
	for _, part := range strings.Split(u.EscapedPath(), "/") {
		if plain, err := url.PathUnescape(part); err != nil || plain == "." || plain == ".." {
			return false
		}
	}
	return u.Scheme == s.base.Scheme && u.Host == s.base.Host && u.Fragment == "" && (u.RawQuery == "" || strings.Contains(s.c.URL, "?"))
}

// outcome says what an answer means. Those that blame the request reject the event; those that may blame the configuration do not.
func (s *Sink) outcome(answer *http.Response, text []byte) error {
	if answer.StatusCode/100 == 2 {
		return nil
	}
	err := fmt.Errorf("%s %s: %s: %.*q", s.c.Method, s.base.Host, answer.Status, keptAnswer, text)
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusConflict, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return wire.Rejected{Err: err}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if seconds, wrong := strconv.Atoi(answer.Header.Get("Retry-After")); wrong == nil {
			return wire.Later{Err: err, After: time.Duration(seconds) * time.Second}
		}
	}
	return err
}

// isToken reports whether a header's name is one of HTTP.
func isToken(name string) bool {
	for _, c := range name {
		if c <= ' ' || c >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c) {
			return false
		}
	}
	return name != ""
}

// Check implements wire.Sink: it connects, and sends no request.
func (s *Sink) Check(ctx context.Context) error {
	port := s.base.Port()
	if port == "" {
		port = s.base.Scheme
	}
	return tlsconfig.Dial(ctx, s.base.Hostname(), port, s.base.Scheme == "https", s.c.TLS)
}

// Close implements wire.Sink.
func (s *Sink) Close(context.Context) error {
	s.client.CloseIdleConnections()
	return nil
}
