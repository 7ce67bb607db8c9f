package objects

import "github.com/pgsluice/sluice/generator/render"

// capture adds the functions of a captured table.
func (b *builder) capture(c render.Capture) {
	if !c.Made {
		if len(c.Locked) > 0 {
			b.add("immediate/before.sql", c)
		}
		if c.Part {
			b.add("immediate/end.sql", c)
		} else {
			b.events(c)
		}
		b.add("immediate/row.sql", c)
	}
}

// events adds the trigger functions that run after each statement on a captured table.
func (b *builder) events(c render.Capture) {
	for _, e := range []render.Event{{Event: "insert", Fn: c.InsertFn}, {Event: "update", Fn: c.UpdateFn}, {Event: "delete", Fn: c.DeleteFn}} {
		e.Capture = c
		e.Steps = nil
		for _, step := range c.Steps {
			step.Event, step.Trigger, step.No = e.Event, e.Fn, len(e.Steps)+1
			e.Steps = append(e.Steps, step)
		}
		e.Alone = nil
		for _, step := range c.Alone {
			step.Event, step.Trigger, step.No = e.Event, e.Fn, len(e.Steps)+len(e.Alone)+1
			e.Alone = append(e.Alone, step)
		}
		b.add("immediate/event.sql", e)
	}
}
