// Package relay runs sluice-relay between outboxes, inboxes, files and HTTP endpoints. What only a broker has is tested in the broker's room.
package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/commandtest/relaytest"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/program"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(asBroker); dir != "" {
		os.Exit(serveNATS(dir))
	}
	if os.Getenv(asRelay) != "" {
		os.Exit(relaytest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	program.Main(m)
}

// asRelay makes the test binary the program sluice-relay, in its environment.
const asRelay = "SLUICE_TEST_RELAY"

const eventsSpec = `
version: 1
extension: {name: shop, version: 1.0.0}
outboxes:
  - {name: events}
  - {name: ordered, ordering_key: aggregate_id}
consumer_groups:
  - {name: g, outbox: events, auto_offset_reset: earliest}
  - {name: o, outbox: ordered, auto_offset_reset: earliest}
inboxes:
  - {name: copies}
  - {name: changes, wire_format: debezium}
  - {name: clouds, wire_format: cloudevents}
`

// database has the extension of eventsSpec.
func database(t *testing.T) *pgtest.Database { return installed.DB(t, installed.Text(t, eventsSpec)) }

// running is a relay, a process of its own.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	ended chan struct{}
	out   lockedBuffer
	log   lockedBuffer

	before string // output of those that it goes on for
}

// lockedBuffer may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// write writes a configuration.
func write(t *testing.T, dsn, pipelines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "relay.yaml")
	rewrite(t, path, dsn, pipelines)
	return path
}

func rewrite(t *testing.T, path, dsn, pipelines string) {
	t.Helper()
	text := fmt.Sprintf("version: 1\ndatabase: %q\npipelines:\n%s", dsn, pipelines)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// relay is the program sluice-relay, with a token in its environment.
func relay(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.Command(program.Path(t), args...)
	cmd.Env = append(os.Environ(), asRelay+"=1", "SLUICE_TEST_TOKEN=t0ken")
	return cmd
}

// start runs the pipelines of a configuration until stop, or the end of the test.
func start(t *testing.T, path string) *running {
	t.Helper()
	return startProgram(t, relay(t, "-c", path, "--log-level", "debug"))
}

func startProgram(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{t: t, cmd: cmd, ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait()
	}()
	t.Cleanup(func() { r.end(syscall.SIGTERM) })
	pgtest.Until(t, "the relay has started", func() bool { return strings.Contains(r.log.String(), "msg=started") })
	return r
}

// stop asks the relay to stop; it must end well.
func (r *running) stop() {
	r.t.Helper()
	r.end(syscall.SIGTERM)
	if code := r.cmd.ProcessState.ExitCode(); code != 0 {
		r.t.Errorf("exit status %d", code)
	}
}

// kill ends it at once.
func (r *running) kill() { r.end(syscall.SIGKILL) }

func (r *running) end(signal syscall.Signal) {
	select {
	case <-r.ended:
		if r.t.Failed() {
			r.t.Logf("%s:\n%.4000s", r.cmd.ProcessState, r.log.String())
		}
		return
	default:
	}
	_ = r.cmd.Process.Signal(signal)
	select {
	case <-r.ended:
	case <-time.After(40 * time.Second):
		_ = r.cmd.Process.Kill()
		<-r.ended
		r.t.Errorf("it did not stop:\n%.2000s", r.log.String())
	}
	if r.t.Failed() {
		r.t.Logf("%.4000s", r.log.String())
	}
}

// lines are the documents that a relay printed or wrote.
func lines(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var document map[string]any
		if err := json.Unmarshal([]byte(line), &document); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		all = append(all, document)
	}
	return all
}

func publish(t *testing.T, db *pgtest.Database, outbox string, events int) {
	t.Helper()
	db.Exec(t, `insert into pgtrickle.outbox_`+outbox+` (event_type, aggregate_id, payload)
		select 'order.placed', 'k' || i % 7, jsonb_build_object('n', i) from generate_series(1, $1::integer) i`, events)
}
