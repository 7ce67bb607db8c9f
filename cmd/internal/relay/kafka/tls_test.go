package kafka

import (
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	web.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster := startFake(t, 1, kfake.TLS(&tls.Config{Certificates: web.TLS.Certificates}))
	c := sinkConfig(cluster.ListenAddrs())
	c.TLS = &config.TLS{CA: ca}
	relaytest.SendAtOnce(t, openSink(t, c), document(1, "a"))
	from := sourceConfig(cluster.ListenAddrs())
	from.TLS = c.TLS
	relaytest.SameIDs(t, "by TLS", relaytest.IDs(relaytest.Take(t, openSource(t, from, wire.Native, 10), 1)), "id-1")

	c.TLS = &config.TLS{}
	if _, err := NewSink(t.Context(), c); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("an unknown authority: %v", err)
	}
	c.TLS = nil
	if _, err := NewSink(t.Context(), c); err == nil {
		t.Error("connected without TLS")
	}
}
