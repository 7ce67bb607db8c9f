package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// usualTick is how often the background work looks whether something is due, unless a schedule is shorter.
const usualTick = spec.Duration(time.Second)

// tickEvery is the time between two ticks: the shortest schedule, or a second.
func tickEvery(s *spec.Spec) time.Duration {
	every := usualTick
	shorten := func(schedule spec.Schedule) {
		if schedule.Every > 0 {
			every = min(every, schedule.Every)
		}
	}
	for _, t := range s.StreamTables {
		shorten(t.Schedule)
	}
	for _, i := range s.Inboxes {
		shorten(i.Schedule)
	}
	return time.Duration(every)
}

// usual is the time after which something is due: a schedule less a tenth, so that the jitter of ticks does not skip every other one.
func usual(every spec.Duration) spec.Duration { return every - every/10 }

// lastDue is the function that knows when a cron expression was due; nil for other schedules.
func lastDue(schedule spec.Schedule, extension, path, what string, fn render.Name) *render.LastDue {
	if schedule.Cron == "" {
		return nil
	}
	c := schedule.Times()
	return &render.LastDue{
		Extension: extension, Path: path, What: what, Cron: schedule.Cron, Fn: fn,
		Minutes: c.Minutes, Hours: c.Hours, Days: c.Days, Months: c.Months, Weekdays: c.Weekdays, EitherDay: c.EitherDay,
	}
}

// checkCalculated reports schedules that nothing says when they are due.
func (c *compiler) checkCalculated() {
	for n := range c.spec.StreamTables {
		t := &c.spec.StreamTables[n]
		if t.Schedule.Calculated && !slices.ContainsFunc(c.reads, func(reads []int) bool { return slices.Contains(reads, n) }) {
			c.errs.Add(nothingReads(t.Field("schedule"), t.Name))
		}
	}
}

func nothingReads(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "conflict",
		Message: fmt.Sprintf("the schedule of stream table %s is that of the stream tables that read it, and none does", name),
		Hint:    "give it a duration such as 1s, or a cron expression",
	}
}
