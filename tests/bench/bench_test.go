package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

func TestMain(m *testing.M) {
	commandtest.InMemory()
	code := m.Run()
	commandtest.Cleanup()
	os.Exit(code)
}

func TestSpread(t *testing.T) {
	got := *spreadOf([]float64{4, 1, 3, 2})
	if want := (spread{Median: 2.5, Min: 1, Max: 4, P95: 4, Size: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if spreadOf(nil) != nil {
		t.Error("nothing has a spread")
	}
}

func TestThirds(t *testing.T) {
	first, last := thirds([]float64{1, 2, 3, 4, 5, 6, 7})
	if median(first) != 1.5 || median(last) != 6.5 {
		t.Errorf("got %v and %v", first, last)
	}
}

func TestIdsAreDistinctButForRedeliveries(t *testing.T) {
	m := &maker{types: 3}
	seen := map[string]int{}
	for _, x := range m.batch(20_000) {
		seen[x.id]++
	}
	if want := 20_000 - (20_000-repeatBack)/repeatEach; len(seen) != want {
		t.Errorf("%d ids, want %d", len(seen), want)
	}
}

func TestGoals(t *testing.T) {
	x := row{Case: "case", Unit: "messages/s"}
	x.goal(atLeast(2))
	x.compare([]float64{30, 20, 10}, []float64{10, 10, 10})
	x.judge()
	r := &report{}
	r.add("section", x)
	if met, all := r.goals(); met != 1 || all != 1 {
		t.Errorf("%d of %d goals met", met, all)
	}
	var out bytes.Buffer
	if err := r.writeText(&out); err != nil {
		t.Fatal(err)
	}
	want := "| case | messages/s | 20 (10..30) | 10 (10..10) | 2.00 (1.00..3.00) | ratio >= 2.0 | met |"
	if !strings.Contains(out.String(), want) {
		t.Errorf("no line %s in\n%s", want, &out)
	}
}

// TestEverySection runs one short measurement of each kind: that it works and that its counts are right, not how fast it is.
func TestEverySection(t *testing.T) {
	cfg, err := parse([]string{"-seconds", "0.2", "-rounds", "1", "-minutes", "0.01", "-backlog", "0.05", "-earlier", "../..", "-run",
		"claim.*10 workers, batch 10,.* on$|leases: 10 workers, batch 100,.*by hand|behind|insert: inbox.*4.*off|latency: 100,|degraded|outbox/publish/100.*4.*off|outbox/poll.*/4.*10,000.*off|earlier.*mark 1$"}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	r, err := measure(t.Context(), cfg, choose(cfg.Run), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sections) != 10 {
		t.Errorf("%d sections, want 10", len(r.Sections))
	}
}
