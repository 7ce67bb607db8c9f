package relay

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestPrograms builds both programs. sluice relay becomes sluice-relay: it moves events, takes SIGTERM as the relay does and has its exit status. Where the
// relay is missing it says how to install it.
func TestPrograms(t *testing.T) {
	pgtest.Parallel(t)
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-o", dir, "../../../cmd/sluice", "../../../cmd/sluice-relay").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sluice, db := filepath.Join(dir, "sluice"), database(t)
	publish(t, db, "events", 10)
	path := write(t, db.DSN(), "  - {name: one, from: {outbox: {name: events, group: g, poll_every: 50ms}}, to: {stdout: {}}}\n")
	r := startProgram(t, exec.Command(sluice, "relay", "-c", path, "--log-level", "debug"))
	pgtest.Until(t, "the events are there", func() bool { return strings.Count(r.out.String(), "\n") == 10 })
	if name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.cmd.Process.Pid)); err == nil && filepath.Base(name) != "sluice-relay" {
		t.Errorf("the process is %s", name)
	}
	r.stop()
	if log := r.log.String(); !strings.Contains(log, "msg=stopped") || strings.Contains(log, "level=WARN") {
		t.Errorf("the relay logs\n%s", log)
	}

	says := func(status int, text string, args ...string) {
		t.Helper()
		cmd := exec.Command(sluice, args...)
		cmd.Env = append(os.Environ(), "PATH="+t.TempDir())
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != status || !strings.Contains(string(out), text) {
			t.Errorf("%v: status %d\n%s", args, code, out)
		}
	}
	says(1, "cannot read", "relay", "check", "-c", "missing.yaml")
	says(2, "sluice-relay: --log-format is text or json", "relay", "--log-format", "xml", "-c", path)
	says(0, "sluice-relay check", "relay", "--help")
	if err := os.Remove(filepath.Join(dir, "sluice-relay")); err != nil {
		t.Fatal(err)
	}
	const install = "go install github.com/pgsluice/sluice/cmd/sluice-relay@"
	says(1, "sluice: sluice-relay is neither beside sluice nor in PATH; install it: "+install, "relay", "-c", path)
	says(0, install, "relay", "--help")
	says(0, ":4", "__complete", "relay", "")
}
