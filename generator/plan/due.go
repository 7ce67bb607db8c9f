package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/pgsluice/sluice/generator/spec"
)

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

// calculated describes a calculated schedule for people.
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

// checkEvery is how often a stream table is compared with its query, as text and as SQL; empty for never. In full mode each refresh compares it.
func checkEvery(t *spec.StreamTable, effectiveMode string) (text, interval string) {
	if t.Check == nil || effectiveMode == spec.RefreshFull {
		return "", ""
	}
	return t.Check.String(), t.Check.Interval()
}
