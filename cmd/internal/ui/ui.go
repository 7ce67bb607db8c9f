// Package ui serves a page that shows how an installed extension is doing, to a browser.
package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

// Options say how the page is served.
type Options struct {
	Listen  string // host:port
	Token   string // that visitors must know; needed where the address is not loopback
	Actions bool   // dead letters can be replayed, inboxes and groups paused
}

// leastToken is how many characters a token has, so that nobody guesses it.
const leastToken = 16

// Server is a page that can be served.
type Server struct {
	guard   *guard
	session *live.Session
	in      net.Listener
	options Options
	log     *slog.Logger
	latest  latest
}

// Listen checks the options and listens.
func Listen(o Options, session *live.Session, log *slog.Logger) (*Server, error) {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if o.Token == "" && !loopback(host) {
		return nil, fmt.Errorf("--listen: %s is no loopback address: give --token, too", o.Listen)
	}
	if o.Token != "" && len(o.Token) < leastToken {
		return nil, fmt.Errorf("--token: it has %d characters at least", leastToken)
	}
	in, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return &Server{guard: newGuard(host, o.Token), session: session, in: in, options: o, log: log}, nil
}

// URL is where the page is.
func (s *Server) URL() string {
	host, _, _ := net.SplitHostPort(s.options.Listen)
	_, port, _ := net.SplitHostPort(s.in.Addr().String())
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}

// Run serves the page until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.in) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}
