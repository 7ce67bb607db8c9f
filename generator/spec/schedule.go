package spec

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	expectedSchedule = "a duration of at least 100ms or a cron expression such as */5 * * * *"
	shortestSchedule = Duration(100 * time.Millisecond)
)

// Schedule says when something is due. Exactly one field is set; a tier's may be all zero and then means its inbox's.
type Schedule struct {
	Every      Duration // a fixed distance
	Cron       string   // minute, hour, day of month, month, day of week
	Calculated bool     // as often as what depends on it needs; stream tables only
}

// String prints the schedule as a spec writes it.
func (s Schedule) String() string {
	switch {
	case s.Calculated:
		return "calculated"
	case s.Cron != "":
		return s.Cron
	default:
		return s.Every.String()
	}
}

func (s *Schedule) read(d *decoder, n *yaml.Node, f field) {
	d.parsed(n, s, f, expectedSchedule, "!!str", "!!int", "!!float")
}

func (s *Schedule) parse(text string) (problem string) {
	switch {
	case text == "calculated":
		*s = Schedule{Calculated: true}
	case len(strings.Fields(text)) > 1:
		if problem = cronProblem(text); problem == "" {
			*s = Schedule{Cron: strings.Join(strings.Fields(text), " ")}
		}
	default:
		problem = s.parseEvery(text)
	}
	return problem
}

func (s *Schedule) parseEvery(text string) (problem string) {
	var every Duration
	if problem = every.parse(text); problem != "" {
		return problem
	}
	if every < shortestSchedule {
		return "it is shorter than 100ms"
	}
	*s = Schedule{Every: every}
	return ""
}

var (
	cronRange  = regexp.MustCompile(`^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?$`)
	cronFields = []struct {
		name     string
		min, max int
	}{
		{"minute", 0, 59}, {"hour", 0, 23}, {"day of month", 1, 31}, {"month", 1, 12}, {"day of week", 0, 7},
	}
)

// cronProblem returns what is wrong with a cron expression of five fields, each a list of *, n, n-m, with /step.
func cronProblem(text string) string {
	fields := strings.Fields(text)
	if len(fields) != len(cronFields) {
		return fmt.Sprintf("a cron expression has 5 fields, this has %d", len(fields))
	}
	for i, f := range cronFields {
		for _, item := range strings.Split(fields[i], ",") {
			if !cronItemFits(item, f.min, f.max) {
				return fmt.Sprintf("its %s is %s, not within %d-%d", f.name, fields[i], f.min, f.max)
			}
		}
	}
	return ""
}

func cronItemFits(item string, lowest, highest int) bool {
	parts := cronRange.FindStringSubmatch(item)
	if parts == nil {
		return false
	}
	first := atoiOr(parts[1], lowest)
	last := atoiOr(parts[2], max(first, lowest))
	return lowest <= first && first <= last && last <= highest && atoiOr(parts[3], 1) > 0
}

func atoiOr(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return otherwise
}
