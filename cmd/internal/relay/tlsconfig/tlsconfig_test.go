package tlsconfig

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
)

// authority makes a certificate that signs itself, for the server and as its own client's, and writes it and its key.
func authority(t *testing.T) (cert, key string, pair tls.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"broker.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}))
	write(t, key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
	return cert, key, tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: private}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCertificatesAreVerified(t *testing.T) {
	cert, key, pair := authority(t)
	other, _, _ := authority(t)
	trusted := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	trusted.AddCert(leaf)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: trusted}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	for _, c := range []struct {
		settings config.TLS
		name     string
		want     string
	}{
		{config.TLS{CA: cert, Cert: cert, Key: key}, "broker.test", ""},
		{config.TLS{CA: cert, Cert: cert, Key: key}, "other.test", "valid for broker.test, not other.test"},
		{config.TLS{Cert: cert, Key: key}, "broker.test", "unknown authority"},
		{config.TLS{CA: other, Cert: cert, Key: key}, "broker.test", "unknown authority"},
		{config.TLS{CA: cert}, "broker.test", "certificate required"},
	} {
		if err := handshake(c.settings, c.name, server.Listener.Addr().String()); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v of %s: %v", c.settings, c.name, err)
		}
	}
}

func handshake(c config.TLS, name, address string) error {
	settings, err := Client(c)
	if err != nil {
		return err
	}
	settings.ServerName = name
	conn, err := tls.Dial("tcp", address, settings)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1)) // a server refuses the client's certificate after the handshake
	return err
}

func TestUnreadableFiles(t *testing.T) {
	cert, key, _ := authority(t)
	empty := filepath.Join(t.TempDir(), "empty.pem")
	write(t, empty, nil)
	for _, c := range []struct {
		settings config.TLS
		want     string
	}{
		{config.TLS{CA: "missing.pem"}, "could not read certificate authorities"},
		{config.TLS{CA: empty}, "holds no certificate in PEM form"},
		{config.TLS{Cert: cert}, "needs both cert and key"},
		{config.TLS{Key: key}, "needs both cert and key"},
		{config.TLS{Cert: empty, Key: key}, "could not load the client certificate"},
	} {
		if _, err := Client(c.settings); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.settings, err)
		}
	}
}
