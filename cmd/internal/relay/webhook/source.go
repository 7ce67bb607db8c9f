package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Source takes an event from each request, and answers when the sink has it. It is a wire.Source.
type Source struct {
	c        *config.WebhookSource
	decode   func(*wire.Document, wire.Place) *wire.Event
	batch    int
	key      []byte
	server   *http.Server
	requests chan *request
	failed   chan error
	one      bool // event at a time
}

// request waits for what becomes of its event. One element is sent to done, for which there is room.
type request struct {
	event *wire.Event
	done  chan error
}

// NewSource listens.
func NewSource(c *config.WebhookSource, batch int, decode func(*wire.Document, wire.Place) *wire.Event) (*Source, error) {
	s := &Source{c: c, decode: decode, batch: batch, key: key(c.Secret), requests: make(chan *request), failed: make(chan error, 1)}
	settings, err := s.tls()
	if err != nil {
		return nil, err
	}
	in, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	s.server = &http.Server{Handler: s, TLSConfig: settings, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	go func() {
		if settings != nil {
			s.failed <- s.server.ServeTLS(in, "", "")
		} else {
			s.failed <- s.server.Serve(in)
		}
	}()
	return s, nil
}

// tls is nil for a server without certificate.
func (s *Source) tls() (*tls.Config, error) {
	if s.c.TLS.Cert == "" {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(s.c.TLS.Cert, s.c.TLS.Key)
	if err != nil {
		return nil, err
	}
	settings := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if s.c.TLS.CA != "" {
		text, err := os.ReadFile(s.c.TLS.CA)
		if err != nil {
			return nil, err
		}
		settings.ClientCAs, settings.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !settings.ClientCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("tls: ca holds no certificate")
		}
	}
	return settings, nil
}

// ServeHTTP implements http.Handler.
func (s *Source) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != s.c.Path {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodPost && r.Method != http.MethodPut {
		w.Header().Set("Allow", "POST, PUT")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.c.MaxBytes)))
	if err != nil {
		http.Error(w, "the body cannot be read or is too large", http.StatusRequestEntityTooLarge)
		return
	}
	if s.c.Secret != "" {
		if err := verify(s.key, r.Header, body, time.Now()); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
	}
	d, err := document(r, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(s.c.Timeout))
	defer cancel()
	waiting := &request{event: s.decode(d, wire.Place{}), done: make(chan error, 1)}
	select {
	case s.requests <- waiting:
	case <-ctx.Done():
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	select {
	case err = <-waiting.done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case wire.IsRejected(err):
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	default:
		var later wire.Postponed
		if errors.As(err, &later) {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(max(later.After.Seconds(), 1)))))
		}
		http.Error(w, "not stored; send it again", http.StatusServiceUnavailable)
	}
}

// document is a request as formats read it.
func document(r *http.Request, body []byte) (*wire.Document, error) {
	d := &wire.Document{Address: r.URL.Path, Body: body, ContentType: r.Header.Get("Content-Type"), Headers: map[string]string{}}
	for name, values := range r.Header {
		if name = strings.ToLower(name); !isOfEvent(name) {
			continue
		}
		value := strings.Join(values, ", ")
		if isEncoded(name) {
			var err error
			if value, err = wire.DecodeHeader(value); err != nil {
				return nil, fmt.Errorf("header %s: %w", name, err)
			}
		}
		d.Headers[name] = value
	}
	d.ID = r.Header.Get(headerID)
	if d.ID == "" {
		d.ID = r.Header.Get("Idempotency-Key")
	}
	return d, nil
}

// Postpones implements wire.Postponing: the response to a request that is not delivered has status 503 and a Retry-After.
func (s *Source) Postpones() (can, inOrder bool) { return true, true }

// Probe implements wire.Postponing.
func (s *Source) Probe(one bool) { s.one = one }

// Receive implements wire.Source.
func (s *Source) Receive(ctx context.Context) (events []*wire.Event, err error) {
	add := func(r *request) {
		r.event.Tag = r
		events = append(events, r.event)
	}
	select {
	case r := <-s.requests:
		add(r)
	case err := <-s.failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for len(events) < s.batch && !s.one {
		select {
		case r := <-s.requests:
			add(r)
			continue
		case <-time.After(time.Millisecond): // others are on their way
		}
		break
	}
	return events, nil
}

// Settle implements wire.Source: the requests are answered.
func (s *Source) Settle(_ context.Context, events []*wire.Event, outcomes []error) error {
	for i, e := range events {
		e.Tag.(*request).done <- outcomes[i]
	}
	return nil
}

// Close implements wire.Source: it waits for answers that are being sent.
func (s *Source) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		return s.server.Close()
	}
	return nil
}
