package watch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

// large is a status with more objects than a terminal has lines, and odd names.
func large(objects int) *live.Status {
	age, waiting := 3.5, int64(7)
	failed := "division by zero\nsecond line"
	s := &live.Status{Extension: live.ExtensionStatus{Name: "shop", Version: "1.0.0", Schema: "pgtrickle"}}
	for n := range objects {
		name := fmt.Sprintf("%d \x1b[31mÄ日本語 a name of nearly sixty-three bytes, as long as", n)
		s.StreamTables = append(s.StreamTables, live.StreamTableStatus{Name: name, EffectiveMode: "differential", Status: "active", StalenessSeconds: &age, Waiting: &waiting})
		s.Inboxes = append(s.Inboxes, live.InboxStatus{Name: name, Health: "critical", Pending: int64(n) * 1_000_000, DeadLetters: 4})
		s.Groups = append(s.Groups, live.GroupStatus{Name: name, Consumers: 2, Healthy: 1, Lag: 12})
		s.Tasks = append(s.Tasks, live.TaskStatus{Task: name, AgeSec: &age})
		s.Problems = append(s.Problems, live.Problem{Message: "inbox " + name + " is critical", Hint: "look"})
	}
	s.Tasks = append(s.Tasks, live.TaskStatus{Task: "retention", LastError: &failed})
	return s
}

// TestViewFits shows statuses on terminals of several sizes: no line is longer or beyond the last, and names send nothing to the terminal.
func TestViewFits(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 10}, {200, 60}, {20, 3}} {
		for _, objects := range []int{0, 1, 30} {
			m := &model{series: newSeries(), width: size[0], height: size[1]}
			for n := range 70 {
				m.take(look{status: large(objects), at: time.Unix(int64(n), 0)})
			}
			m.take(look{err: errors.New("connection refused"), at: time.Unix(70, 0)})
			view := m.text()
			lines := strings.Split(view, "\n")
			if most := max(size[1], len(m.problems())+4); len(lines) > most {
				t.Errorf("%v, %d objects: %d lines", size, objects, len(lines))
			}
			for _, line := range lines {
				if columns := ansi.StringWidth(line); columns > size[0] {
					t.Errorf("%v, %d objects: %d columns: %q", size, objects, columns, line)
				}
			}
			if text := ansi.Strip(view); strings.ContainsRune(text, '\x1b') || !strings.Contains(text, "cannot be read: connect") && size[0] >= 40 {
				t.Errorf("%v, %d objects: %q", size, objects, text)
			}
		}
	}
}

// TestProblemsFirst has problems above all else, and tasks in order in one line.
func TestProblemsFirst(t *testing.T) {
	m := &model{series: newSeries(), width: 100, height: 50}
	m.take(look{status: large(3), at: time.Unix(1, 0)})
	text := ansi.Strip(m.text())
	problem, table, tasks := strings.Index(text, "is critical"), strings.Index(text, "stream tables"), strings.Index(text, "3 tasks in order")
	if problem < 0 || table < problem || tasks < table || !strings.Contains(text, "retention: division by zero") || strings.Contains(text, "second line") {
		t.Error(text)
	}
}

// TestRates takes the rate of a counter and its course.
func TestRates(t *testing.T) {
	s := newSeries()
	for n := range 100 {
		s.add(&live.Status{Inboxes: []live.InboxStatus{{Name: "a", Processed: int64(n * 50), Pending: int64(n % 8)}}}, time.Unix(int64(n*2), 0))
	}
	if rate := s.rate("processed a"); rate != 25 {
		t.Errorf("rate %v", rate)
	}
	if line := s.line("pending a", 8); line != "▅▆▇█▁▂▃▄" {
		t.Errorf("course %s", line)
	}
	if s.rate("processed b") != 0 || s.line("pending b", 8) != "" {
		t.Error("figures of nothing")
	}
}
