package objects

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
)

// priority adds what hands out urgent messages first, but for the claim.
func (b *builder) priority(i render.Inbox) {
	p := i.Priority
	restarted := func(sequence render.Name) option {
		return resumes(fmt.Sprintf("select setval(%s, 0);\n", sequence.Regclass()))
	}
	b.add("inbox/priority_backlog.sql", i)
	b.add("inbox/priority_due.sql", i)
	b.add("inbox/claim_turn.sql", i, restarted(p.ClaimTurn))
	for _, level := range p.Levels {
		b.add("inbox/level_cursor.sql", level, restarted(level.Cursor))
	}
	b.add("inbox/priority_changed.sql", i)
	b.add("inbox/priority_fill.sql", i)
	if i.Own == nil {
		for _, template := range []string{"inserted", "updated", "deleted"} {
			b.add("inbox/priority_"+template+"_trigger.sql", i)
		}
		b.add("inbox/priority_applied_trigger.sql", i, fires("replica"))
	}
	if !i.Materialize {
		for _, tier := range p.Tiers {
			b.add("inbox/tier_view.sql", tier)
		}
	}
}

// priorityRows adds what the catalog says of the priority of an inbox, and fills its backlog, anew when anything changes that it goes by.
func (b *builder) priorityRows(i render.Inbox) {
	p := i.Priority
	b.addStatement("row", fmt.Sprintf("pgt_inbox_priority_config: %s", i.Name), "catalog/pgt_inbox_priority_row.sql", i, "")
	b.addStatement("row", fmt.Sprintf("%s: %s", p.Backlog, strings.Join(strings.Fields(i.LevelOf("i", "")), " ")), "inbox/priority_filled.sql", i, "")
}
