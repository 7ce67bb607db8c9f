package explain

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm"
)

func (t Table) text(stage string, draw ivm.Draw) string {
	if stage != "" {
		return t.stageText(stage, draw)
	}
	var out strings.Builder
	out.WriteString(t.headline() + "\n")
	for _, reason := range t.reasons() {
		out.WriteString(reason + "\n")
	}
	fmt.Fprintf(&out, "reads: %s\n", t.reads())
	out.WriteString(t.costText())
	for _, state := range t.View.States {
		fmt.Fprintf(&out, "\n%s\n%s", stateTitle(state), state.Tree(draw))
	}
	for _, stage := range Stages {
		if text := t.stageText(stage, draw); text != "" {
			fmt.Fprintf(&out, "\n%s\n%s", stage, text)
		}
	}
	return out.String()
}

func (t Table) stageText(stage string, draw ivm.Draw) string {
	if stage == StageSQL && t.SQL != "" {
		return t.SQL + "\n"
	}
	return t.draw(stage, draw)
}

func (t Table) costText() string {
	costs := t.View.Costs
	var out strings.Builder
	out.WriteString("\ncost class of each source, and what a changed row makes PostgreSQL read\n")
	for _, c := range costs {
		fmt.Fprintf(&out, "%s: %s\n", c.Table.SQLName(), c.Class)
		for _, r := range c.Reads {
			out.WriteString("  reads " + readText(r) + "\n")
		}
	}
	for _, i := range ivm.Wanted(costs) {
		fmt.Fprintf(&out, "index advised, as the DDL has none: %s\n", indexText(i))
	}
	return out.String()
}

// readText says what is read of a table for a changed row.
func readText(r ivm.Read) string {
	name, by := r.Table.SQLName(), " by "+columnList(r.Columns)
	text := "the rows of " + name + " that match" + by
	switch {
	case len(r.Columns) == 0:
		text = "all of " + name
	case r.Unique:
		text = "a row of " + name + by
	case r.Group:
		text = "the rows of its group in " + name + by
	}
	if r.WantsIndex() {
		text += " (index advised)"
	}
	if r.When != ivm.Always {
		text += ", " + string(r.When)
	}
	return text
}
