package relay

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const (
	asBroker = "SLUICE_TEST_NATS" // has the test binary run as a NATS server, with this directory
	atPort   = "SLUICE_TEST_NATS_PORT"
)

// serveNATS is the process of a NATS server, which writes to the disk before it confirms.
func serveNATS(dir string) int {
	port, _ := strconv.Atoi(os.Getenv(atPort))
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, SyncAlways: true, NoSigs: true, DontListen: true})
	if err == nil {
		s.Start()
		err = note(s, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s.AcceptLoop(make(chan struct{}))
	s.WaitForShutdown()
	return 0
}

// broker is a NATS server that can be killed.
type broker struct {
	t    *testing.T
	dir  string
	port int
	cmd  *exec.Cmd
}

func (b *broker) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", b.port) }

func (b *broker) start() {
	b.cmd = exec.Command(os.Args[0])
	b.cmd.Env = append(os.Environ(), asBroker+"="+b.dir, atPort+"="+strconv.Itoa(b.port))
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *broker) kill() {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}

// connect waits for the broker.
func (b *broker) connect() (conn *nats.Conn, js jetstream.JetStream) {
	var err error
	pgtest.Until(b.t, "the broker answers", func() bool {
		conn, err = nats.Connect(b.url(), nats.MaxReconnects(-1))
		return err == nil
	})
	if js, err = jetstream.New(conn); err != nil {
		b.t.Fatal(err)
	}
	return conn, js
}

// create makes streams, each of the subjects that begin with its name.
func (b *broker) create(names ...string) {
	conn, js := b.connect()
	defer conn.Close()
	for _, name := range names {
		if _, err := js.CreateStream(b.t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name + ".>"}, Duplicates: time.Hour}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// streams are those of a chain. Each has the subjects that begin with its name.
var streams = []string{"orders", "paid", "totals"}

const published = "published" // a file of the broker: stream and id of each message that it received

// note writes down what publishers send, before streams drop what they have. It is a client within the server's process, which accepts no other before
// this one has subscribed. What the server received right before it was killed may be missing, so the counts are lower bounds.
func note(s *natsserver.Server, dir string) error {
	file, err := os.OpenFile(filepath.Join(dir, published), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	conn, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		return err
	}
	for _, stream := range streams {
		sub, err := conn.Subscribe(stream+".>", func(m *nats.Msg) {
			fmt.Fprintln(file, stream, m.Header.Get(jetstream.MsgIDHeader))
		})
		if err == nil {
			err = sub.SetPendingLimits(-1, -1)
		}
		if err != nil {
			return err
		}
	}
	return conn.Flush()
}

// received returns how many messages of each stream the broker received, and of how many ids.
func (b *broker) received() (all, distinct map[string]int) {
	file, err := os.Open(filepath.Join(b.dir, published))
	if err != nil {
		b.t.Fatal(err)
	}
	defer file.Close()
	all, distinct = map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		stream, id, _ := strings.Cut(lines.Text(), " ")
		if id == "" {
			b.t.Fatalf("a message of stream %s without an id", stream)
		}
		if all[stream]++; !seen[lines.Text()] {
			seen[lines.Text()] = true
			distinct[stream]++
		}
	}
	return all, distinct
}

// stored are the messages of a stream, in order.
func stored(t *testing.T, js jetstream.JetStream, name string) (all []jetstream.Msg) {
	stream, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(t.Context(), name, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := consumer.FetchNoWait(int(stream.CachedInfo().State.Msgs) + 1)
	if err != nil {
		t.Fatal(err)
	}
	for m := range batch.Messages() {
		all = append(all, m)
	}
	if err := batch.Error(); err != nil {
		t.Fatal(err)
	}
	return all
}
