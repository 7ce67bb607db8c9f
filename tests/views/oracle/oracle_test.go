package oracle_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/views/oracle"
	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// workers is how many cases run at a time: client and server take turns.
const workers = 3

// hunt is what TestOracle and TestSoak try with each seed.
var hunt = oracle.Hunt{
	Subject: oracle.Sluice{},
	Modes:   []string{oracle.Differential, oracle.Immediate, oracle.AtCommit, oracle.Mixed},
	Shrink:  3 * time.Minute,
	Again:   "SLUICE_TEST_SEED=%d go test -count=1 -run TestOracle ./tests/views/oracle",
}

// lessons are seeds that found something in a soak.
var lessons = []uint64{
	1795275121180, // a column called found, of the log of a table
	250,           // a column called tg_op, of a table whose rows are logged one by one
	50144,         // MERGE that inserts and updates rows of partitions
	8095,          // groups within groups, restricted by a part of the keys that the outer ones are
	71128,         // a constant over the first rows of a WITH query
	306,           // a user's aggregate in a WITH query that nothing reads, when all is recomputed
}

// TestLessons tries the seeds that found something.
func TestLessons(t *testing.T) {
	tryAll(t, hunt, 3, func(n uint64) (uint64, bool) {
		return lessons[min(n, uint64(len(lessons)-1))], n < uint64(len(lessons))
	})
}

// few are the cheapest of a hundred seeds of which a view or more has each feature of cases.Core. Every third number is a case of all SQL.
var few = []uint64{25, 26, 27, 28, 29, 30, 31, 50, 55, 58, 59, 60, 72, 74, 76, 81, 82, 84, 91, 92, 98, 193}

// TestOracle is the short pass: a few seeds, half of them in each of two modes, or where one is given, or with long rows, in all modes.
func TestOracle(t *testing.T) {
	seeds, parts := few, [][]string{hunt.Modes}
	switch {
	case os.Getenv("SLUICE_TEST_SEED") != "":
		seeds = from(number(t, "SLUICE_TEST_SEED", 0), number(t, "SLUICE_TEST_CASES", 1))
	case os.Getenv("SLUICE_TEST_CASES") != "" || pgtest.Long():
		seeds = from(1, number(t, "SLUICE_TEST_CASES", 400))
	default:
		parts = [][]string{{oracle.Differential}, {oracle.Immediate}}
	}
	var stats oracle.Stats
	left := seeds
	for n, modes := range parts {
		hunt := hunt
		hunt.Modes = modes
		some := left[:len(left)/(len(parts)-n)]
		left = left[len(some):]
		stats.Add(tryAll(t, hunt, int(number(t, "SLUICE_TEST_FAILURES", 3)), func(n uint64) (uint64, bool) {
			return some[min(n, uint64(len(some)-1))], n < uint64(len(some))
		}))
	}
	t.Log(stats.String())
	for _, slow := range slices.Concat(stats.Slow, stats.Long) {
		t.Log(slow)
	}
	if len(seeds) >= len(few) {
		checkPower(t, stats)
	}
}

// from are so many seeds from the first one on.
func from(first, count uint64) []uint64 {
	seeds := make([]uint64, count)
	for n := range seeds {
		seeds[n] = first + uint64(n)
	}
	return seeds
}

// TestAtCommit tries some of the seeds where commits maintain stream tables, alone and beside the other modes.
func TestAtCommit(t *testing.T) {
	hunt := hunt
	hunt.Modes = []string{oracle.AtCommit, oracle.Mixed}
	tryAll(t, hunt, 3, func(n uint64) (uint64, bool) { return 1000 + n, n < pgtest.ShortOrLong[uint64](2, 25) })
}

// TestRecursive tries seeds with queries that read themselves.
func TestRecursive(t *testing.T) {
	h := hunt
	h.Modes, h.Again = []string{oracle.Differential, oracle.Immediate, oracle.AtCommit}, "SLUICE_TEST_SEED=%d go test -count=1 -run TestRecursive ./tests/views/oracle"
	h.Options = cases.Options{Views: 4, Steps: 8, Recursive: true}
	stats, count := tryFrom(t, h, 2000, pgtest.ShortOrLong[uint64](2, 25))
	for _, feature := range []string{"recursive", "search", "cycle"} {
		t.Logf("%d stream tables have: %s", stats.Features[feature], feature)
		if count >= 8 && stats.Features[feature] < 3 {
			t.Errorf("too few")
		}
	}
}

// TestCollated tries seeds with columns of text whose case does not matter to equality, by their collation.
func TestCollated(t *testing.T) { folded(t, "nocase", 3000) }

// TestCitext is TestCollated by the type of columns.
func TestCitext(t *testing.T) { folded(t, "citext", 4000) }

func folded(t *testing.T, sort string, first uint64) {
	h := hunt
	h.Modes, h.Again = []string{oracle.Differential, oracle.Immediate, oracle.AtCommit}, "SLUICE_TEST_SEED=%d go test -count=1 -run "+t.Name()+" ./tests/views/oracle"
	h.Options = cases.Options{Views: 4, Steps: 8, Folded: sort}
	stats, count := tryFrom(t, h, first, pgtest.ShortOrLong[uint64](1, 20))
	if count >= 6 && stats.Features[sort] < int(count) {
		t.Errorf("%d stream tables have such columns in expressions", stats.Features[sort])
	}
}

// TestRecomputed tries some of the seeds with stream tables that are recomputed each time.
func TestRecomputed(t *testing.T) {
	h := hunt
	h.Subject, h.Modes, h.Again = oracle.Recomputed{}, []string{oracle.Differential}, "SLUICE_TEST_SEED=%d go test -count=1 -run TestRecomputed ./tests/views/oracle"
	tryFrom(t, h, 1, pgtest.ShortOrLong[uint64](2, 100))
}

// TestCompared tries some of the seeds with check_stream_table() before each refresh.
func TestCompared(t *testing.T) {
	h := hunt
	h.Subject, h.Modes, h.Again = oracle.Compared{}, []string{oracle.Differential}, "SLUICE_TEST_SEED=%d go test -count=1 -run TestCompared ./tests/views/oracle"
	tryFrom(t, h, 1, pgtest.ShortOrLong[uint64](2, 100))
}

// checkPower fails the test if what it compares could hardly differ.
func checkPower(t *testing.T, s oracle.Stats) {
	t.Helper()
	if s.Supported*4 < s.Views*3 {
		t.Errorf("only %d of %d views are stream tables", s.Supported, s.Views)
	}
	if s.Vacuous*4 > s.Comparisons {
		t.Errorf("too many comparisons of nothing")
	}
	if len(s.Slow)*20 > s.Cases && pgtest.Long() { // a matter of time, on a busy machine
		t.Errorf("too many cases left out")
	}
	for _, feature := range cases.Core {
		if s.Features[feature] == 0 {
			t.Errorf("no stream table has: %s", feature)
		}
	}
}

// tryFrom tries so many seeds from the first one on, or what the environment says: one seed where it gives that alone.
func tryFrom(t *testing.T, h oracle.Hunt, first, usual uint64) (stats oracle.Stats, count uint64) {
	t.Helper()
	if os.Getenv("SLUICE_TEST_SEED") != "" {
		usual = 1
	}
	first, count = number(t, "SLUICE_TEST_SEED", first), number(t, "SLUICE_TEST_CASES", usual)
	stats = tryAll(t, h, 3, func(n uint64) (uint64, bool) { return first + n, n < count })
	t.Log(stats.String())
	return stats, count
}

// tryAll tries seeds until there are no more, or until that many have failed.
func tryAll(t *testing.T, h oracle.Hunt, most int, seed func(n uint64) (uint64, bool)) oracle.Stats {
	t.Helper()
	var all oracle.Stats
	var n uint64
	var mutex sync.Mutex
	failures := 0
	next := func() (uint64, bool) {
		mutex.Lock()
		defer mutex.Unlock()
		s, ok := seed(n)
		n++
		if n%100 == 0 {
			t.Log(all.String())
		}
		return s, ok && failures < most
	}
	note := func(report *oracle.Report, stats oracle.Stats, err error) {
		mutex.Lock()
		defer mutex.Unlock()
		all.Add(stats)
		for _, view := range stats.Invalid {
			t.Errorf("the generator of cases makes what is no query: %s", view)
		}
		if report != nil {
			failures++
			t.Errorf("\n%s", report.Script())
		}
		if err != nil {
			failures = most
			t.Error(err)
		}
	}
	var group sync.WaitGroup
	for range workers {
		place := oracle.NewPlace(t)
		group.Go(func() { work(t.Context(), h, place, next, note) })
	}
	group.Wait()
	return all
}

// work lets the subject work on seeds. Every third case is of all SQL, most of which has to be recomputed.
func work(ctx context.Context, h oracle.Hunt, p *oracle.Place, next func() (uint64, bool), note func(*oracle.Report, oracle.Stats, error)) {
	for seed, ok := next(); ok; seed, ok = next() {
		one := h
		if one.Options.Views == 0 {
			one.Options = cases.Options{Views: 4, Steps: 8, All: seed%3 == 0}
		}
		if one.Options.All {
			one.Modes = []string{oracle.Auto}
		}
		note(one.Seed(ctx, p, seed))
	}
}

// number is a variable of the environment.
func number(t *testing.T, name string, standard uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	return n
}
