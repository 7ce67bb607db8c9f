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
			b.add("immediate/statement.sql", c)
		}
		b.add("immediate/row.sql", c)
	}
}
