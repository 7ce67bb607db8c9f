package main

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// row is a line of the report.
type row struct {
	Case     string  `json:"case"`
	Unit     string  `json:"unit"`
	Ours     *spread `json:"ours"`
	Baseline *spread `json:"baseline,omitempty"`
	Ratio    *spread `json:"ratio,omitempty"` // above 1: ours is better
	Goal     string  `json:"goal,omitempty"`
	Met      *bool   `json:"met,omitempty"`

	met func(row) bool
}

// goal is what the issue asks for.
type goal struct {
	Text string
	met  func(row) bool
}

func atLeast(ratio float64) goal {
	return goal{fmt.Sprintf("ratio >= %.1f", ratio), func(r row) bool { return r.Ratio.Median >= ratio }}
}

func below(milliseconds float64) goal {
	return goal{fmt.Sprintf("< %g ms", milliseconds), func(r row) bool { return r.Ours.Median < milliseconds }}
}

func (r *row) goal(g goal) { r.Goal, r.met = g.Text, g.met }

// judge says whether the goal is met, if there is one.
func (r *row) judge() {
	if r.met != nil {
		met := r.met(*r)
		r.Met = &met
	}
}

// compare fills in the figures. Rates of one round belong together; times are too many for that, and less of them is better.
func (r *row) compare(ours, baseline []float64) {
	r.Ours, r.Baseline = spreadOf(ours), spreadOf(baseline)
	if r.Unit == "ms" || r.Unit == "µs" {
		r.Ratio = spreadOf([]float64{median(baseline) / median(ours)})
		return
	}
	r.Ratio = spreadOf(ratios(ours, baseline))
}

// String is the row as a line of the log.
func (r row) String() string {
	words := []string{r.Case + ":", r.figure(r.Ours), r.Unit}
	if r.Ratio != nil {
		words = append(words, "against", r.figure(r.Baseline)+", ratio", ratioText(r.Ratio))
	}
	return strings.Join(append(words, r.Goal, r.verdict()), " ")
}

func (r row) cells() table.Row {
	return table.Row{r.Case, r.Unit, r.figure(r.Ours), r.figure(r.Baseline), ratioText(r.Ratio), r.Goal, r.verdict()}
}

func (r row) verdict() string {
	switch {
	case r.Met == nil:
		return ""
	case *r.Met:
		return "met"
	}
	return "NOT met"
}

// figure is a spread in the row's unit.
func (r row) figure(s *spread) string {
	switch {
	case s == nil:
		return ""
	case r.Unit == "ms":
		return fmt.Sprintf("%.2f (p95 %.2f)", s.Median, s.P95)
	case r.Unit == "µs":
		return fmt.Sprintf("%.0f (p95 %.0f)", s.Median, s.P95)
	case r.Unit == "messages/s":
		return fmt.Sprintf("%.0f (%.0f..%.0f)", s.Median, s.Min, s.Max)
	case r.Unit == "ratio":
		return fmt.Sprintf("%.2f", s.Median)
	}
	if s.Median >= 100 {
		return fmt.Sprintf("%.0f", s.Median)
	}
	return fmt.Sprintf("%.3g", s.Median)
}

func ratioText(s *spread) string {
	switch {
	case s == nil:
		return ""
	case s.Size == 1:
		return fmt.Sprintf("%.2f", s.Median)
	}
	return fmt.Sprintf("%.2f (%.2f..%.2f)", s.Median, s.Min, s.Max)
}
