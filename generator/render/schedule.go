package render

import (
	"fmt"
	"strings"
)

// LastDue is a function that describes when something with a cron expression was due last.
type LastDue struct {
	Extension string
	Path      string // in the spec
	What      string // is due
	Cron      string // as the spec has it
	Fn        Name

	Minutes, Hours, Days, Months, Weekdays []int
	EitherDay                              bool // a day of the month or one of the week is enough
}

// LastMinute is the last of an hour.
func (l LastDue) LastMinute() int { return l.Minutes[len(l.Minutes)-1] }

// OfMinutes selects the minutes.
func (l LastDue) OfMinutes() string { return series(l.Minutes) }

// OfHours selects the hours.
func (l LastDue) OfHours() string { return series(l.Hours) }

// OnDay is the condition that date v_day is one of the days; empty if all are.
func (l LastDue) OnDay() string {
	month := within("month", l.Months, 12)
	day, weekday := within("day", l.Days, 31), within("dow", l.Weekdays, 7)
	if l.EitherDay {
		if day == "" || weekday == "" {
			return month
		}
		return and(month, "("+day+" or "+weekday+")")
	}
	return and(month, day, weekday)
}

func and(conds ...string) string {
	var given []string
	for _, c := range conds {
		if c != "" {
			given = append(given, c)
		}
	}
	return strings.Join(given, " and ")
}

func within(unit string, values []int, all int) string {
	if len(values) == all {
		return ""
	}
	return fmt.Sprintf("extract(%s from v_day) in (%s)", unit, numbers(values))
}

// series is something to select numbers from.
func series(values []int) string {
	first, last := values[0], values[len(values)-1]
	if len(values) > 2 && last-first == (len(values)-1)*(values[1]-first) {
		step := values[1] - first
		for i, v := range values {
			if v != first+i*step {
				return "unnest(array[" + numbers(values) + "])"
			}
		}
		return fmt.Sprintf("generate_series(%d, %d, %d)", first, last, step)
	}
	return "unnest(array[" + numbers(values) + "])"
}

func numbers(values []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]")
}
