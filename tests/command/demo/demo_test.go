// Package demo runs "sluice demo" as a user would.
package demo

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// checks are what the demo vouches for.
var checks = []string{
	"nothing is left but dead letters",
	"each event had its effect exactly once",
	"the dead letters are the poison messages",
	"received + duplicates = sent",
	"attempts failed as planned, no more and no less",
	"what dead workers left was processed by others",
	"the shop's books are right",
	"stream tables equal their queries",
	"each effect was published and delivered once",
	"what a dead consumer held went to others",
	"statistics agree with a recount",
	"background work ran without complaint",
}

func sluice(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, talk strings.Builder
	began := time.Now()
	status = commandtest.Main(args, strings.NewReader(""), &out, &talk)
	t.Logf("%v\n%s%s", time.Since(began), &talk, &out)
	return status, out.String(), talk.String()
}

func TestDemo(t *testing.T) {
	t.Chdir(t.TempDir())
	scratch := openTemp(t)
	events := strconv.Itoa(pgtest.ShortOrLong(200, 400))
	status, out, talk := sluice(t, "demo", "--events", events, "--seed", "11")
	if status != 0 {
		t.Fatalf("exit status %d", status)
	}
	for _, check := range checks {
		if !strings.Contains(out, "\nok      "+check) {
			t.Errorf("no line says ok to %q", check)
		}
	}
	for _, said := range []string{"seed 11\n", "backend terminated with ", "connection cut with ", " events leased\n", events + " of " + events + " events settled\n"} {
		if !strings.Contains(talk, said) {
			t.Errorf("progress lacks %q", said)
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("left in the current directory: %v, %v", entries, err)
	}
	if entries, err := os.ReadDir(scratch); err != nil || len(entries) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", entries, err)
	}
}

func TestDemoJSON(t *testing.T) {
	status, out, _ := sluice(t, "demo", "--events", "100", "--writers", "1", "--workers", "1", "--json")
	if status != 0 {
		t.Fatalf("exit status %d", status)
	}
	var report struct {
		Events int
		Total  struct{ Sent, Received, Duplicates, Processed int }
		Checks []struct {
			Check string
			OK    bool
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	total := report.Total
	if report.Events != 100 || total.Received != 100 || total.Sent != total.Received+total.Duplicates || total.Processed != 97 {
		t.Errorf("report: %+v", report)
	}
	if len(report.Checks) != len(checks) {
		t.Errorf("%d checks, want %d", len(report.Checks), len(checks))
	}
}

func TestDemoUsage(t *testing.T) {
	for _, args := range [][]string{{"--events", "1"}, {"--workers", "0"}, {"--writers", "1000"}} {
		if status, _, _ := sluice(t, append([]string{"demo"}, args...)...); status != 2 {
			t.Errorf("%v: exit status %d", args, status)
		}
	}
}

// openTemp makes a temporary directory the one that servers live in; it is open to the user that they run as.
func openTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	return dir
}
