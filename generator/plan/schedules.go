package plan

import (
	"fmt"
	"slices"
	"strings"
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

// ago is the condition that a moment lies back by a schedule less a tenth.
// One that is yet to come is from before the clock was set back.
func ago(moment string, every spec.Duration) string {
	return fmt.Sprintf("%s not between clock_timestamp() - %s and clock_timestamp()", moment, usual(every).Interval())
}

// usual is the time after which something is due: a schedule less a tenth, so that the jitter of ticks does not skip every other one.
func usual(every spec.Duration) spec.Duration { return every - every/10 }

// missed is the condition that a cron expression, whose function is lastDue, named a minute since a moment.
func missed(moment, lastDue string) string {
	return fmt.Sprintf("(%[1]s < %[2]s(clock_timestamp()) or %[1]s > clock_timestamp())", moment, lastDue)
}

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

// calledBy are the stream tables whose schedules say when one is due: itself, or those that read it if its schedule is calculated.
func (c *compiler) calledBy(n int) []int {
	if !c.spec.StreamTables[n].Schedule.Calculated {
		return []int{n}
	}
	var by []int
	for m, reads := range c.reads {
		if slices.Contains(reads, n) {
			for _, k := range c.calledBy(m) {
				if !slices.Contains(by, k) {
					by = append(by, k)
				}
			}
		}
	}
	return by
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

// shortest is the shortest duration among the schedules that call a stream table; 0 if they are cron expressions.
func (p *planner) shortest(n int) spec.Duration {
	var shortest spec.Duration
	for _, m := range p.compiled.calledBy(n) {
		if every := p.spec.StreamTables[m].Schedule.Every; every > 0 && (shortest == 0 || every < shortest) {
			shortest = every
		}
	}
	return shortest
}

// due is how often a stream table is due, as SQL and empty for never, and the functions that return when its cron expressions were due last.
func (p *planner) due(n int) (every string, crons []string) {
	if shortest := p.shortest(n); shortest > 0 {
		every = usual(shortest).Interval()
	}
	for _, m := range p.compiled.calledBy(n) {
		if t := &p.spec.StreamTables[m]; t.Schedule.Cron != "" {
			crons = append(crons, p.in(p.base(t)+"_last_due").Name)
		}
	}
	return every, crons
}

// seldom reports whether a stream table is refreshed so rarely that a refresh right after it was filled is a waste.
func (p *planner) seldom(n int) bool {
	every := p.shortest(n)
	return every == 0 || every > spec.Duration(time.Minute)
}

// calculated is what a calculated schedule comes to, for people.
func (p *planner) calculated(n int) string {
	var parts []string
	if every := p.shortest(n); every > 0 {
		parts = append(parts, every.String())
	}
	for _, m := range p.compiled.calledBy(n) {
		if cron := p.spec.StreamTables[m].Schedule.Cron; cron != "" && !slices.Contains(parts, cron) {
			parts = append(parts, cron)
		}
	}
	return strings.Join(parts, "; ")
}

// checkEvery is how often a stream table is compared with its query, as text and as SQL; empty for never. In full mode each refresh compares it.
func checkEvery(t *spec.StreamTable, effectiveMode string) (text, interval string) {
	if t.Check == nil || effectiveMode == spec.RefreshFull {
		return "", ""
	}
	return t.Check.String(), t.Check.Interval()
}
