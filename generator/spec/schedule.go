package spec

import (
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
	case strings.HasPrefix(text, "@"):
		problem = noCronWord(text)
	case len(strings.Fields(text)) > 1:
		if _, problem = parseCron(text); problem == "" {
			*s = Schedule{Cron: strings.Join(strings.Fields(text), " ")}
		}
	default:
		problem = s.parseEvery(text)
	}
	return problem
}

// cronWords are what some crons take instead of five fields.
var cronWords = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
	"@hourly": "0 * * * *",
}

func noCronWord(text string) (problem string) {
	if fields, known := cronWords[strings.ToLower(text)]; known {
		return "words for cron expressions are not supported; write " + fields
	}
	if every, ok := strings.CutPrefix(text, "@every "); ok {
		return "words for cron expressions are not supported; write " + every
	}
	return "words for cron expressions are not supported"
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
