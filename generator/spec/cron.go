package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Cron is what a cron expression names: the values of each field, in order.
type Cron struct {
	Minutes, Hours, Days, Months []int
	Weekdays                     []int // 0 is Sunday
	EitherDay                    bool  // a day of the month or one of the week is enough
}

// Times reads the schedule's cron expression, which is known to be right.
func (s Schedule) Times() Cron {
	c, problem := parseCron(s.Cron)
	if problem != "" {
		panic("cron expression that was checked: " + problem)
	}
	return c
}

var (
	cronItem   = regexp.MustCompile(`^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?$`)
	cronFields = []struct {
		name     string
		min, max int
	}{
		{"minute", 0, 59}, {"hour", 0, 23}, {"day of month", 1, 31}, {"month", 1, 12}, {"day of week", 0, 7},
	}
)

// parseCron reads five fields, each a list of *, n, n-m, with /step; n/step goes on to the field's end. It returns what is wrong.
func parseCron(text string) (c Cron, problem string) {
	fields := strings.Fields(text)
	if len(fields) != len(cronFields) {
		return c, fmt.Sprintf("a cron expression has 5 fields, this has %d", len(fields))
	}
	values := make([][]int, len(fields))
	for i, f := range cronFields {
		for _, item := range strings.Split(fields[i], ",") {
			more := cronValues(item, f.min, f.max)
			if more == nil {
				return c, fmt.Sprintf("its %s is %s, not within %d-%d", f.name, fields[i], f.min, f.max)
			}
			values[i] = append(values[i], more...)
		}
	}
	for n, day := range values[4] {
		values[4][n] = day % 7
	}
	for i := range values {
		slices.Sort(values[i])
		values[i] = slices.Compact(values[i])
	}
	c = Cron{Minutes: values[0], Hours: values[1], Days: values[2], Months: values[3], Weekdays: values[4]}
	// As in every cron: two restricted fields of days add up, and one that begins with * restricts nothing by itself.
	c.EitherDay = !strings.HasPrefix(fields[2], "*") && !strings.HasPrefix(fields[4], "*")
	if !c.EitherDay && !c.hasDay() {
		return c, "no month of it has such a day"
	}
	return c, ""
}

// cronValues are the values of an item of a list; none if it is wrong.
func cronValues(item string, lowest, highest int) []int {
	parts := cronItem.FindStringSubmatch(item)
	if parts == nil {
		return nil
	}
	first, step := atoiOr(parts[1], lowest), atoiOr(parts[3], 1)
	last := atoiOr(parts[2], first)
	if parts[2] == "" && (parts[1] == "" || parts[3] != "") {
		last = highest
	}
	if first < lowest || last < first || highest < last || step == 0 {
		return nil
	}
	var values []int
	for v := first; v <= last; v += step {
		values = append(values, v)
	}
	return values
}

// hasDay reports whether some month of the expression has its first day.
func (c Cron) hasDay() bool {
	return slices.ContainsFunc(c.Months, func(month int) bool {
		days := 31
		switch month {
		case 2:
			days = 29
		case 4, 6, 9, 11:
			days = 30
		}
		return c.Days[0] <= days
	})
}

func atoiOr(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return otherwise
}
