// Package nats moves documents to and from streams of NATS JetStream.
package nats

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/tlsconfig"
)

var errDisconnected = errors.New("not connected to a NATS server")

// login is how to connect to servers.
type login struct {
	urls, creds, user, password, token, nkey string
	tls                                      *config.TLS
}

// connect connects to one of the servers. Until it is closed, the connection is made again whenever it is lost; what is published meanwhile fails.
func connect(l login, more ...nats.Option) (*nats.Conn, error) {
	secrets, err := secretsOf(l)
	if err != nil {
		return nil, err
	}
	options := append([]nats.Option{
		nats.Name("sluice relay"), nats.Timeout(5 * time.Second), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.ReconnectJitter(100*time.Millisecond, 100*time.Millisecond),
		nats.ReconnectBufSize(-1), nats.IgnoreAuthErrorAbort(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}, more...)
	own, err := l.options()
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(l.urls, append(options, own...)...)
	if err != nil {
		return nil, fmt.Errorf("could not connect to NATS: %s", scrub(err.Error(), secrets))
	}
	return conn, nil
}

func (l login) options() (options []nats.Option, err error) {
	if l.creds != "" {
		options = append(options, nats.UserCredentials(l.creds))
	}
	if l.user != "" {
		options = append(options, nats.UserInfo(l.user, l.password))
	}
	if l.token != "" {
		options = append(options, nats.Token(l.token))
	}
	if l.nkey != "" {
		option, err := nats.NkeyOptionFromSeed(l.nkey)
		if err != nil {
			return nil, fmt.Errorf("could not read the NKey in %s", l.nkey)
		}
		options = append(options, option)
	}
	if l.tls != nil {
		settings, err := tlsconfig.Client(*l.tls)
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Secure(settings))
	}
	return options, nil
}

// secretsOf returns what no error may show. Errors of parsing a URL show parts of it, so an invalid one is refused here.
func secretsOf(l login) (secrets []string, err error) {
	secrets = append(secrets, l.password, l.token)
	for _, server := range strings.Split(l.urls, ",") {
		server = strings.TrimSpace(server)
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil || u.Host == "" {
			return nil, errors.New("a URL of a NATS server is invalid: percent-encode special characters of user and password")
		}
		password, isSet := u.User.Password()
		if !isSet {
			password = u.User.Username()
		}
		secrets = append(secrets, password, url.QueryEscape(password))
	}
	return slices.DeleteFunc(secrets, func(s string) bool { return s == "" }), nil
}

func scrub(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}
