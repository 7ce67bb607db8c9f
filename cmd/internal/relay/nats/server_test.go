package nats

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

// The test binary is a server, too: one that can be killed.
const (
	serveDir  = "SLUICE_TEST_NATS_DIR"
	servePort = "SLUICE_TEST_NATS_PORT"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(serveDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	port, _ := strconv.Atoi(os.Getenv(servePort))
	if _, err := serve(&natsserver.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, SyncAlways: true, NoSigs: true}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	select {}
}

func serve(options *natsserver.Options) (*natsserver.Server, error) {
	s, err := natsserver.NewServer(options)
	if err != nil {
		return nil, err
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return nil, fmt.Errorf("the server is not ready")
	}
	return s, nil
}

// start runs a server in this process and returns its URL.
func start(t *testing.T, change func(*natsserver.Options)) string {
	t.Helper()
	t.Cleanup(func() { noLeaks(t) }) // the last one
	options := &natsserver.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, MaxPayload: 64 << 10}
	if change != nil {
		change(options)
	}
	s, err := serve(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s.ClientURL()
}

// child runs a server as a process of its own.
type child struct {
	dir, port string
	process   *exec.Cmd
}

func startChild(t *testing.T) *child {
	t.Helper()
	t.Cleanup(func() { noLeaks(t) }) // the last one
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	c := &child{dir: t.TempDir(), port: strconv.Itoa(free.Addr().(*net.TCPAddr).Port)}
	c.start(t)
	t.Cleanup(c.kill)
	return c
}

func (c *child) url() string { return "nats://127.0.0.1:" + c.port }

func (c *child) start(t *testing.T) {
	t.Helper()
	c.process = exec.Command(os.Args[0])
	c.process.Env = append(os.Environ(), serveDir+"="+c.dir, servePort+"="+c.port)
	out, err := c.process.StdoutPipe()
	if err == nil {
		err = c.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the server says %q", line)
	}
}

func (c *child) kill() {
	_ = c.process.Process.Kill()
	_ = c.process.Wait()
}

func admin(t *testing.T, url string) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// stream creates the stream EVENTS with the subjects events.>.
func stream(t *testing.T, js jetstream.JetStream, change func(*jetstream.StreamConfig)) jetstream.Stream {
	t.Helper()
	settings := jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"events.>"}}
	if change != nil {
		change(&settings)
	}
	s, err := js.CreateStream(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openSink(t *testing.T, url string, change func(*config.NATS)) wire.Sink {
	t.Helper()
	c := &config.NATS{URL: url, Subject: "events.{{.Type}}", Timeout: spec.Duration(5 * time.Second)}
	if change != nil {
		change(c)
	}
	s, err := NewSink(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func sourceConfig(url string) *config.NATSSource {
	return &config.NATSSource{URL: url, Stream: "EVENTS", Consumer: "relay", Start: config.Earliest, AckWait: spec.Duration(30 * time.Second), MaxAckPending: 1000}
}

func openSource(t *testing.T, c *config.NATSSource, format string, batch int) wire.Source {
	t.Helper()
	s, err := NewSource(t.Context(), c, wire.Decoder{Format: format, Origin: "EVENTS"}.Decode, batch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// receive takes n events, settling each batch with nil.
// nothing fails if an event comes within some time.
// document makes the nth document of a key.
// documents are n of a few keys, in random order of the keys.
// noLeaks fails if goroutines of the client or of this room are left once all is closed.

func document(n int, key string) *wire.Document { return relaytest.Document(n, "events."+key, key) }

func documents(seed int64, n int) []*wire.Document { return relaytest.Keyed(seed, n, document) }

// noLeaks fails if goroutines of the client or of this room are left once all is closed.
func noLeaks(t *testing.T) {
	t.Helper()
	relaytest.NoneRuns(t, "nats-io/nats.go.", "jetstream.(", "relay/nats.(*")
}
