package objects

import "github.com/pgsluice/sluice/generator/render"

// now adds the functions of a captured table.
func (b *builder) now(c render.Capture) {
	if !c.Made {
		if c.Reread {
			b.add("now/present.sql", c)
		}
		if len(c.Locked) > 0 {
			b.add("now/before.sql", c)
		}
		if c.Part {
			b.add("now/end.sql", c)
		} else {
			b.nowEvents(c)
		}
		b.add("now/truncate.sql", c)
		b.add("now/row.sql", c)
	}
	b.add("now/unapplied.sql", c)
	b.add("now/attach.sql", c)
}

// nowEvents adds what follows each statement on a captured table.
func (b *builder) nowEvents(c render.Capture) {
	for _, e := range []render.Event{{Event: "insert", Fn: c.InsertNowFn}, {Event: "update", Fn: c.UpdateNowFn}, {Event: "delete", Fn: c.DeleteNowFn}} {
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
		b.add("now/event.sql", e)
	}
}
