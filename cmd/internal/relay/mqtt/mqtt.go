// Package mqtt publishes documents to topics of brokers of MQTT 5 and takes them from there.
//
// The broker gives a document to the sessions that have subscribed to its topic, and keeps it nowhere else, unless it is retained. Headers are user properties,
// and the id is the correlation data.
package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"golang.org/x/net/websocket"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/tlsconfig"
)

const (
	defaultTimeout = 30 * time.Second
	keepAlive      = 30 // seconds
	acknowledge    = 5 * time.Millisecond
)

// endpoint is a broker and how to connect to it.
type endpoint struct {
	url            *url.URL
	tls            *tls.Config
	user, password string
}

var ports = map[string]string{"mqtt": "1883", "mqtts": "8883", "ws": "80", "wss": "443"}

func newEndpoint(address, user, password string, certificates config.TLS) (*endpoint, error) {
	parsed, err := url.Parse(address)
	if err != nil || ports[parsed.Scheme] == "" || parsed.Hostname() == "" { // the error holds parts of the URL, and so the password
		return nil, errors.New("the url is not one of MQTT, such as mqtts://host:8883 or wss://host/mqtt; special characters in a password are percent-encoded")
	}
	e := &endpoint{url: parsed, user: user, password: password}
	if e.user == "" {
		e.user = parsed.User.Username()
	}
	if e.password == "" {
		e.password, _ = parsed.User.Password()
	}
	parsed.User = nil
	if parsed.Port() == "" {
		parsed.Host = net.JoinHostPort(parsed.Hostname(), ports[parsed.Scheme])
	}
	if e.tls, err = tlsconfig.Client(certificates); err != nil {
		return nil, err
	}
	e.tls.ServerName = parsed.Hostname()
	return e, nil
}

func (e *endpoint) dial(ctx context.Context) (net.Conn, error) {
	switch e.url.Scheme {
	case "mqtts":
		connection, err := (&tls.Dialer{Config: e.tls}).DialContext(ctx, "tcp", e.url.Host)
		if err != nil {
			return nil, err
		}
		return packets.NewThreadSafeConn(connection), nil
	case "ws", "wss":
		settings, err := websocket.NewConfig(e.url.String(), "http://"+e.url.Host)
		if err != nil {
			return nil, err
		}
		settings.Protocol, settings.TlsConfig = []string{"mqtt"}, e.tls
		connection, err := settings.DialContext(ctx)
		if err != nil {
			return nil, err
		}
		connection.PayloadType = websocket.BinaryFrame
		return packets.NewThreadSafeConn(connection), nil
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", e.url.Host)
}

// client is a connection. A new one is made when it ends.
type client struct {
	*paho.Client
	limit      uint32 // bytes of a packet, at most; 0 is unknown
	hadSession bool   // the broker had one of this client_id
	why        chan error
}

func (e *endpoint) connect(ctx context.Context, hello *paho.Connect, settings paho.ClientConfig) (*client, error) {
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	raw, err := e.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &client{why: make(chan error, 1)}
	settings.Conn = raw
	settings.OnClientError = c.ended
	settings.OnServerDisconnect = func(d *paho.Disconnect) { c.ended(refusal("the broker ended the connection", d.ReasonCode, "")) }
	c.Client = paho.NewClient(settings)
	hello.KeepAlive = keepAlive
	hello.Username, hello.UsernameFlag = e.user, e.user != ""
	hello.Password, hello.PasswordFlag = []byte(e.password), e.password != ""
	answer, err := c.Connect(ctx, hello)
	switch {
	case answer != nil && answer.ReasonCode >= failure:
		return nil, refusal("the broker refused the connection", answer.ReasonCode, "")
	case err != nil:
		return nil, err
	}
	c.hadSession = answer.SessionPresent
	if answer.Properties != nil && answer.Properties.MaximumPacketSize != nil {
		c.limit = *answer.Properties.MaximumPacketSize
	}
	return c, nil
}

func (c *client) ended(err error) {
	select {
	case c.why <- err:
	default:
	}
}

func (c *client) isDone() bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// reason is why the connection ended. The client says it a little later than that it did.
func (c *client) reason() error {
	select {
	case err := <-c.why:
		c.ended(err)
		return err
	case <-time.After(100 * time.Millisecond):
		return errors.New("the connection ended")
	}
}

// close ends the connection. What was acknowledged before is on its way then.
func (c *client) close() {
	if !c.isDone() {
		_ = c.Disconnect(&paho.Disconnect{ReasonCode: 0})
	}
}

const (
	noSubscribers = 0x10 // reason code: the broker gave the document to nobody
	failure       = 0x80 // first reason code of a refusal
)

var reasons = map[byte]string{
	0x86: "bad user name or password", 0x87: "not authorized", 0x88: "server unavailable", 0x8A: "banned", 0x8B: "server shutting down",
	0x8D: "keep alive timeout", 0x8E: "another client has the same client_id", 0x90: "topic name invalid", 0x93: "receive maximum exceeded",
	0x95: "packet too large", 0x97: "quota exceeded", 0x99: "payload format invalid", 0x9A: "retain not supported", 0x9B: "QoS not supported",
}

func refusal(what string, code byte, words string) error {
	if words == "" {
		words = reasons[code]
	}
	return fmt.Errorf("%s: 0x%02X %s", what, code, words)
}
