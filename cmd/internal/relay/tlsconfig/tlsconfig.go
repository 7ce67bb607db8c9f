// Package tlsconfig makes the settings of encrypted connections. The other side's certificate is always verified.
package tlsconfig

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
)

// Client makes the settings of a client: TLS 1.2 at least, trusted authorities of the system and of c, and the certificate of c if it has one.
func Client(c config.TLS) (*tls.Config, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, err
		}
		if settings.RootCAs, err = x509.SystemCertPool(); err != nil {
			return nil, err
		}
		if !settings.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s holds no certificate", c.CA)
		}
	}
	if c.Cert != "" || c.Key != "" {
		certificate, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, err
		}
		settings.Certificates = []tls.Certificate{certificate}
	}
	return settings, nil
}

// Dial says whether a connection to a host can be made, and ends it.
func Dial(ctx context.Context, host, port string, encrypted bool, c config.TLS) error {
	var dialer interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{}
	if encrypted {
		settings, err := Client(c)
		if err != nil {
			return err
		}
		dialer = &tls.Dialer{Config: settings}
	}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return err
	}
	return conn.Close()
}
