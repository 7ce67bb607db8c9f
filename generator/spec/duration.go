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
	expectedDuration = "a duration such as 500ms, 30s, 5m, 72h or 7d"
	maxDuration      = 100 * 365 * 24 * time.Hour
)

// DurationPattern is the pattern of a duration: a number and its unit.
const DurationPattern = `^(\d+(?:\.\d+)?)(ms|s|m|h|d)$`

var (
	durationForm  = regexp.MustCompile(DurationPattern)
	durationUnits = []unit{
		{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond},
	}
)

type unit struct {
	name string
	size time.Duration
}

// Duration is a length of time, written as a number and one of the units ms, s, m, h and d.
type Duration time.Duration

// ParseDuration reads a duration as a spec writes it.
func ParseDuration(text string) (Duration, error) {
	var d Duration
	if problem := d.parse(text); problem != "" {
		return 0, fmt.Errorf("invalid duration %q: %s", text, problem)
	}
	return d, nil
}

func (d *Duration) parse(text string) (problem string) {
	parts := durationForm.FindStringSubmatch(text)
	switch {
	case strings.HasPrefix(text, "-"):
		return "it must not be negative"
	case parts == nil && isNumber(text):
		return "it has no unit"
	case parts == nil:
		return "it is no duration"
	}
	amount, _ := strconv.ParseFloat(parts[1], 64)
	length := amount * float64(unitSize(parts[2]))
	if length > float64(maxDuration) {
		return "it is longer than 100 years"
	}
	*d = Duration(time.Duration(length).Round(time.Millisecond))
	return ""
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

func unitSize(name string) time.Duration {
	for _, u := range durationUnits {
		if u.name == name {
			return u.size
		}
	}
	return 0
}

func (d *Duration) read(dec *decoder, n *yaml.Node, f field) {
	dec.parsed(n, d, f, expectedDuration, "!!str", "!!int", "!!float")
}

// String prints the duration in the largest unit that leaves a whole number.
func (d Duration) String() string {
	for _, u := range durationUnits {
		if length := time.Duration(d); length != 0 && length%u.size == 0 {
			return fmt.Sprintf("%d%s", length/u.size, u.name)
		}
	}
	return "0s"
}

// Seconds prints the duration in seconds, as a literal of type numeric.
func (d Duration) Seconds() string {
	return strconv.FormatFloat(time.Duration(d).Seconds(), 'f', -1, 64)
}

// Interval prints the duration as an interval literal of PostgreSQL. Days are 24 hours, so that no time zone changes them.
func (d Duration) Interval() string {
	for _, u := range []unit{{"hours", time.Hour}, {"minutes", time.Minute}, {"seconds", time.Second}} {
		if length := time.Duration(d); length%u.size == 0 {
			return fmt.Sprintf("interval '%d %s'", length/u.size, u.name)
		}
	}
	return fmt.Sprintf("interval '%d milliseconds'", time.Duration(d)/time.Millisecond)
}
