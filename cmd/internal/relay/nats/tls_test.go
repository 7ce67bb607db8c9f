package nats

import (
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	web.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := start(t, nil)
	url := start(t, func(o *natsserver.Options) {
		o.TLS, o.TLSConfig, o.TLSTimeout = true, &tls.Config{Certificates: web.TLS.Certificates}, 5
	})
	trusted := &config.TLS{CA: ca}
	sink := openSink(t, url, func(c *config.NATS) { c.TLS = trusted })
	if err := sink.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct {
		url  string
		tls  *config.TLS
		want string
	}{{url, nil, "unknown authority"}, {url, &config.TLS{}, "unknown authority"}, {plain, trusted, "secure connection"}} {
		if _, err := NewSink(t.Context(), &config.NATS{URL: wrong.url, Subject: "a", TLS: wrong.tls}); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%+v: %v", wrong, err)
		}
		c := sourceConfig(wrong.url)
		c.TLS = wrong.tls
		if _, err := NewSource(t.Context(), c, wire.Decoder{}.Decode, 1); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}
