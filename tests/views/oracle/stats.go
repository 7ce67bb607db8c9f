package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// Stats counts.
type Stats struct {
	Cases                  int
	Slow                   []string // what took too long; the rest of the case was left
	Long                   []string // refreshes that took longer than long: worth a look at their plans
	Views                  int      // that were made
	Invalid                []string // that the server does not take: the generator is wrong
	QueryErrors            int      // of which the query itself ends with an error
	Supported, Unsupported int
	Comparisons            int
	Vacuous                int // both sides are empty
	Unchanged              int // the query's result is what it was before
	Statements             int
	States                 map[string]int // errors of statements
	Features, Unsupporting map[string]int // in how many views that are supported, and that are not, a feature is used
}

// Add adds the counts of a case.
func (s *Stats) Add(o Stats) {
	s.Cases, s.Slow, s.Views = s.Cases+o.Cases, append(s.Slow, o.Slow...), s.Views+o.Views
	s.Long = append(s.Long, o.Long...)
	s.Invalid, s.QueryErrors = append(s.Invalid, o.Invalid...), s.QueryErrors+o.QueryErrors
	s.Supported, s.Unsupported = s.Supported+o.Supported, s.Unsupported+o.Unsupported
	s.Comparisons, s.Vacuous, s.Unchanged = s.Comparisons+o.Comparisons, s.Vacuous+o.Vacuous, s.Unchanged+o.Unchanged
	s.Statements += o.Statements
	s.States = sum(s.States, o.States)
	s.Features, s.Unsupporting = sum(s.Features, o.Features), sum(s.Unsupporting, o.Unsupporting)
}

func sum(a, b map[string]int) map[string]int {
	if a == nil {
		a = map[string]int{}
	}
	for key, n := range b {
		a[key] += n
	}
	return a
}

// long is much for a refresh over the tables of a case, which have tens of rows.
const long = 200 * time.Millisecond

// refreshed notes a refresh that took long.
func (s *Stats) refreshed(t *trial, view string, item int, took time.Duration) {
	if took > long {
		s.Long = append(s.Long, fmt.Sprintf("seed %d, %s, item %d: refresh of %s took %d ms", t.c.Seed, t.mode, item, view, took.Milliseconds()))
	}
}

func (s *Stats) invalid(seed uint64, v *cases.View, err error) {
	s.Invalid = append(s.Invalid, fmt.Sprintf("seed %d: %s\n%s", seed, pgtest.ErrorText(err), v.Query))
}

func (s *Stats) failed(state string) { s.States = sum(s.States, map[string]int{state: 1}) }

func (s *Stats) supported(c *cases.Case, views []*comparison) {
	s.Supported += len(views)
	s.Features = sum(s.Features, features(c, views))
}

func (s *Stats) unsupported(c *cases.Case, views []*comparison) {
	s.Unsupported += len(views)
	s.Unsupporting = sum(s.Unsupporting, features(c, views))
}

func features(c *cases.Case, views []*comparison) map[string]int {
	used := map[string]int{}
	for _, view := range views {
		for _, f := range c.View(view.view).Features {
			used[f]++
		}
	}
	return used
}

// Errors counts the statements that ended with an error.
func (s *Stats) Errors() int {
	n := 0
	for _, count := range s.States {
		n += count
	}
	return n
}

// String is a summary.
func (s *Stats) String() string {
	return fmt.Sprintf("%d cases (%d too slow), %d views: %d invalid, %d with errors, %d supported, %d not; %d comparisons: %.1f %% vacuous, %.1f %% unchanged; "+
		"%d statements: %.1f %% with errors (%s)", s.Cases, len(s.Slow), s.Views, len(s.Invalid), s.QueryErrors, s.Supported, s.Unsupported,
		s.Comparisons, percent(s.Vacuous, s.Comparisons), percent(s.Unchanged, s.Comparisons), s.Statements, percent(s.Errors(), s.Statements), counts(s.States))
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

func counts(of map[string]int) string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		list = append(list, fmt.Sprintf("%s %d", key, of[key]))
	}
	return strings.Join(list, ", ")
}
