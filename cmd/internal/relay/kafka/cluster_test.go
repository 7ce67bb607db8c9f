package kafka

import (
	"bufio"
	"context"
	"fmt"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
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

func send(t *testing.T, s wire.Sink, documents ...*wire.Document) {
	t.Helper()
	for i, err := range s.Send(t.Context(), documents) {
		if err != nil {
			t.Fatalf("document %d: %v", i, err)
		}
	}
}

// receive takes n events, settling each batch with nil.
func receive(t *testing.T, s wire.Source, n int) (events []*wire.Event) {
	t.Helper()
	for len(events) < n {
		got := next(t, s)
		settle(t, s, got, make([]error, len(got)))
		events = append(events, got...)
	}
	return events
}

func settle(t *testing.T, s wire.Source, events []*wire.Event, outcomes []error) {
	t.Helper()
	if err := s.Settle(t.Context(), events, outcomes); err != nil {
		t.Fatal(err)
	}
}

func next(t *testing.T, s wire.Source) []*wire.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	events, err := s.Receive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// nothing fails if an event comes within some time.
func nothing(t *testing.T, s wire.Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if events, err := s.Receive(ctx); err == nil {
		t.Fatalf("%d events came, such as %s", len(events), events[0].ID)
	}
}

// document makes the nth document of a key.
func document(n int, key string) *wire.Document {
	id := fmt.Sprintf("id-%d", n)
	return &wire.Document{Address: "events", Key: key, ID: id, ContentType: "application/json",
		Headers: map[string]string{"event-id": id, "event-type": "t", "event-key": key}, Body: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// documents are n of a few keys, in random order of the keys.
func documents(seed int64, n int) (all []*wire.Document) {
	random := rand.New(rand.NewSource(seed))
	for i := range n {
		all = append(all, document(i, fmt.Sprintf("k%d", random.Intn(7))))
	}
	return all
}

func ids(events []*wire.Event) (all []string) {
	for _, e := range events {
		all = append(all, e.ID)
	}
	return all
}

func documentIDs(documents []*wire.Document) (all []string) {
	for _, d := range documents {
		all = append(all, d.ID)
	}
	return all
}

func sameTexts(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %d, want %d: %.300v, want %.300v", what, len(got), len(want), got, want)
	}
}

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
		sameTexts(t, "documents of key "+key, got[key], want[key])
	}
	return repeated
}

// noLeaks fails if goroutines of the client or of this room are left once all is closed.
func noLeaks(t *testing.T) {
	t.Helper()
	left := ""
	for range 100 {
		var all strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&all, 1)
		left = ""
		for _, stack := range strings.Split(all.String(), "\n\n") {
			if strings.Contains(stack, "/kgo.") || strings.Contains(stack, "relay/kafka.(*") {
				left += stack + "\n\n"
			}
		}
		if left == "" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("goroutines are left:\n%s", left)
}
