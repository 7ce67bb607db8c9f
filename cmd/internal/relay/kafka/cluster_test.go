package kafka

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

// The test binary is a cluster, too: one that can be killed.
const (
	clusterDir  = "SLUICE_TEST_KAFKA_DIR"
	clusterPort = "SLUICE_TEST_KAFKA_PORT"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(clusterDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	port, _ := strconv.Atoi(os.Getenv(clusterPort))
	if _, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.SeedTopics(3, "events"), kfake.DataDir(dir), kfake.SyncWrites()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	select {}
}

// brokers gives tests a broker each, whose only topic is events and which has no groups.
type brokers interface {
	start(t *testing.T, partitions int32) (addresses []string)
	process(t *testing.T) process // with 3 partitions
	pace() time.Duration          // by which a broker that is well has answered
}

// process is a broker that a test can kill.
type process interface {
	addresses() []string
	start(t *testing.T)
	stall(t *testing.T)
	kill()
}

// kind is kfake, unless TestKafka runs the tests.
var kind brokers = fake{}

func start(t *testing.T, partitions int32) (addresses []string) {
	t.Helper()
	return kind.start(t, partitions)
}

func startProcess(t *testing.T) process {
	t.Helper()
	return kind.process(t)
}

// fake starts clusters of kfake.
type fake struct{}

func (fake) start(t *testing.T, partitions int32) (addresses []string) {
	t.Helper()
	return startFake(t, partitions).ListenAddrs()
}

func (fake) process(t *testing.T) process {
	t.Helper()
	return startChild(t)
}

func (fake) pace() time.Duration { return 250 * time.Millisecond }

// startFake runs a cluster in this process, whose topic events has a few partitions.
func startFake(t *testing.T, partitions int32, more ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	t.Cleanup(func() { noLeaks(t) }) // the last one
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(partitions, "events")}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// child runs a cluster as a process of its own.
type child struct {
	dir, port string
	command   *exec.Cmd
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

func (c *child) addresses() []string { return []string{"127.0.0.1:" + c.port} }

func (c *child) start(t *testing.T) {
	t.Helper()
	c.command = exec.Command(os.Args[0])
	c.command.Env = append(os.Environ(), clusterDir+"="+c.dir, clusterPort+"="+c.port)
	out, err := c.command.StdoutPipe()
	if err == nil {
		err = c.command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the cluster says %q", line)
	}
}

func (c *child) stall(t *testing.T) {
	t.Helper()
	if err := c.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// It answers until the signal has reached it.
	var state syscall.WaitStatus
	if _, err := syscall.Wait4(c.command.Process.Pid, &state, syscall.WUNTRACED, nil); err != nil || !state.Stopped() {
		t.Fatalf("%v, %v", state, err)
	}
}

func (c *child) kill() {
	_ = c.command.Process.Kill()
	_ = c.command.Wait()
}

func texts(values []string) (all []spec.Text) {
	for _, v := range values {
		all = append(all, spec.Text{Value: v})
	}
	return all
}

func sinkConfig(brokers []string) *config.Kafka {
	return &config.Kafka{Brokers: texts(brokers), Topic: "events", Compression: "snappy", MaxMessageBytes: 1000012, Timeout: spec.Duration(5 * time.Second)}
}

func openSink(t *testing.T, c *config.Kafka) wire.Sink {
	t.Helper()
	s, err := NewSink(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

func sourceConfig(brokers []string) *config.KafkaSource {
	return &config.KafkaSource{Brokers: texts(brokers), Topics: texts([]string{"events"}), Group: "relay", Start: config.Earliest, RebalanceTimeout: spec.Duration(10 * time.Second)}
}

func openSource(t *testing.T, c *config.KafkaSource, format string, batch int) wire.Source {
	t.Helper()
	s, err := NewSource(t.Context(), c, wire.Decoder{Format: format, Origin: "kafka"}.Decode, batch)
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
// inOrder checks that the first delivery of all documents of each key is in their order, and that none is missing. It returns how many came again.
func inOrder(t *testing.T, events []*wire.Event, sent []*wire.Document) (repeated int) {
	t.Helper()
	seen := map[string]bool{}
	got, want := map[string][]string{}, map[string][]string{}
	for _, e := range events {
		if seen[e.ID] {
			repeated++
			continue
		}
		seen[e.ID] = true
		got[e.Key] = append(got[e.Key], e.ID)
	}
	for _, d := range sent {
		want[d.Key] = append(want[d.Key], d.ID)
	}
	for key := range want {
		relaytest.SameIDs(t, "documents of key "+key, strings.Join(got[key], " "), strings.Join(want[key], " "))
	}
	return repeated
}

// noLeaks fails if goroutines of the client or of this room are left once all is closed.

func document(n int, key string) *wire.Document { return relaytest.Document(n, "events", key) }

func documents(seed int64, n int) []*wire.Document { return relaytest.Keyed(seed, n, document) }

// noLeaks fails if goroutines of the client or of this room are left once all is closed.
func noLeaks(t *testing.T) {
	t.Helper()
	relaytest.NoneRuns(t, "/kgo.", "relay/kafka.(*")
}
