// Package watch runs sluice status --watch on a terminal.
package watch

import (
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// terminal is a pseudo terminal that the command runs on.
type terminal struct {
	*os.File
	mu   sync.Mutex
	text strings.Builder
}

func (r *terminal) read() {
	block := make([]byte, 64<<10)
	for {
		n, err := r.Read(block)
		r.mu.Lock()
		r.text.Write(block[:n])
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (r *terminal) waitFor(t *testing.T, what string) {
	t.Helper()
	shown := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return strings.Contains(r.text.String(), what)
	}
	if !pgtest.Becomes(shown) {
		t.Fatalf("%q was not shown:\n%q", what, r.text.String())
	}
}

// TestWatch shows a status that changes, and a server that goes away, until q is pressed or the process is asked to end.
func TestWatch(t *testing.T) {
	db := installed.ShopDB(t)
	for _, end := range []string{"q", "signal"} {
		t.Run(end, func(t *testing.T) {
			cmd := program.Command(t, "status", "--watch", "--schema", "pgtrickle", "--dsn", db.DSN())
			cmd.Env = append(cmd.Env, "TERM=xterm")
			file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			r := &terminal{File: file}
			go r.read()
			r.waitFor(t, "inboxes")
			r.waitFor(t, "q quits")
			if end == "q" {
				db.Exec(t, "select pgtrickle.pause_inbox('order_events')")
				r.waitFor(t, "paused")
				db.SuperExec(t, "alter table pgtrickle.pgt_extension rename to away")
				r.waitFor(t, "cannot be read")
				db.SuperExec(t, "alter table pgtrickle.away rename to pgt_extension")
				_, err = io.WriteString(r, "q")
			} else {
				err = cmd.Process.Signal(syscall.SIGTERM)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAsksNoTerminal runs commands on a terminal that answers nothing: none may ask it for its colours, and wait.
func TestAsksNoTerminal(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"generate", "--help"}, {"status", "--schema", "pgtrickle", "--dsn", installed.ShopDB(t).DSN()}} {
		cmd := program.Command(t, args...)
		cmd.Env = append(cmd.Env, "TERM=xterm-256color")
		file, err := pty.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		r := &terminal{File: file}
		r.read()
		err = cmd.Wait()
		file.Close()
		for _, question := range []string{"\x1b[6n", "\x1b]11;?", "\x1b[c"} {
			if text := r.text.String(); err != nil || text == "" || strings.Contains(text, question) {
				t.Errorf("sluice %s: %v\n%q", strings.Join(args, " "), err, text)
			}
		}
	}
}
