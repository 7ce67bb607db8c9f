// Package tlsconfig makes the settings of encrypted connections. The other side's certificate is always verified.
package tlsconfig

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
)

// Client returns the settings of a client. The server's certificate is always verified, against the system's authorities and those of the file.
func Client(c config.TLS) (*tls.Config, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		authorities, err := authorities(c.CA)
		if err != nil {
			return nil, err
		}
		settings.RootCAs = authorities
	}
	switch {
	case c.Cert == "" && c.Key == "":
		return settings, nil
	case c.Cert == "" || c.Key == "":
		return nil, errors.New("a client certificate needs both cert and key")
	}
	own, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("could not load the client certificate: %w", err)
	}
	settings.Certificates = []tls.Certificate{own}
	return settings, nil
}

func authorities(file string) (*x509.CertPool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("could not read certificate authorities: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("file %s holds no certificate in PEM form", file)
	}
	return pool, nil
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
