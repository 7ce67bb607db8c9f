// Package rabbitmq publishes documents to exchanges of RabbitMQ and takes them from its queues, by AMQP 0-9-1.
package rabbitmq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/tlsconfig"
)

const (
	handshakeTimeout = 30 * time.Second
	closeTimeout     = 5 * time.Second
)

// link is a connection with a channel.
type link struct {
	raw     net.Conn // closing it ends whatever waits for the broker
	conn    *amqp.Connection
	channel *amqp.Channel
	why     chan *amqp.Error // why the channel was closed
}

func dial(ctx context.Context, address string, certificates config.TLS) (*link, error) {
	if uri, err := amqp.ParseURI(address); err != nil || uri.Host == "" { // the error holds parts of the URL, and so the password
		return nil, errors.New("the url is not one of AMQP, such as amqp://user:password@host:5672/vhost; special characters in a password are percent-encoded")
	}
	settings, err := tlsconfig.Client(certificates)
	if err != nil {
		return nil, err
	}
	l := &link{}
	stop := func() bool { return true }
	l.conn, err = amqp.DialConfig(address, amqp.Config{
		TLSClientConfig: settings,
		Dial: func(network, host string) (net.Conn, error) {
			raw, err := (&net.Dialer{Timeout: handshakeTimeout}).DialContext(ctx, network, host)
			if err != nil {
				return nil, err
			}
			l.raw, stop = raw, context.AfterFunc(ctx, func() { _ = raw.Close() })
			return raw, raw.SetDeadline(time.Now().Add(handshakeTimeout)) // the client takes it away when the connection is open
		},
	})
	if err == nil {
		if err = l.openChannel(); err != nil {
			l.close()
		}
	} else if l.raw != nil {
		_ = l.raw.Close()
	}
	if stop(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *link) openChannel() (err error) {
	if l.channel, err = l.conn.Channel(); err == nil {
		l.why = l.channel.NotifyClose(make(chan *amqp.Error, 1))
	}
	return err
}

// reason is why the channel does not work. The broker's words may arrive a little later than the end of the channel.
func (l *link) reason() error {
	select {
	case err := <-l.why:
		if err != nil {
			return err
		}
	case <-time.After(100 * time.Millisecond):
	}
	return amqp.ErrClosed
}

func (l *link) close() { _ = l.conn.CloseDeadline(time.Now().Add(closeTimeout)) }

// Prefixes of attributes of CloudEvents: in HTTP, whose names documents have, and in AMQP, which knows two.
const (
	attribute      = "ce-"
	attributeAMQP  = "cloudEvents:"
	attributeAMQP2 = "cloudEvents_"
)

// headerOf is the name in AMQP of a document's header.
func headerOf(name string) string {
	if rest, ok := strings.CutPrefix(name, attribute); ok {
		return attributeAMQP + rest
	}
	return name
}

// nameOf is the name in documents of a header.
func nameOf(header string) string {
	for _, prefix := range []string{attributeAMQP, attributeAMQP2} {
		if rest, ok := strings.CutPrefix(header, prefix); ok {
			header = attribute + rest
		}
	}
	return strings.ToLower(header)
}

// text prints the value of a header: tables and arrays, such as those of dead letters, as JSON.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case amqp.Table, []any:
		printed, _ := json.Marshal(v)
		return string(printed)
	}
	return fmt.Sprint(value)
}
