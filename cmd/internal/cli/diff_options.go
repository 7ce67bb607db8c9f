package cli

import (
	"cmp"
	"strings"

	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// longestValue is up to which length an old and a new value stand in one line.
const longestValue = 60

// optionLines are the changed options of a group by action, in the words of the spec, with their old and new values.
func optionLines(g upgrade.Group) map[string][]string {
	lines := map[string][]string{}
	for _, change := range g.Changes {
		switch {
		case change.Option == "": // the title says it
		case change.Action == "change":
			lines["change"] = append(lines["change"], change.Option+valuesOf(change))
		case change.Option == "outbox": // named as its consumers name it
			_, table, _ := strings.Cut(g.Of, " table ")
			lines[change.Action] = append(lines[change.Action], "outbox "+table)
		default:
			lines[change.Action] = append(lines[change.Action], change.Option)
		}
	}
	return lines
}

// valuesOf writes the old and the new value of an option; of texts of several lines, the lines that differ.
func valuesOf(change upgrade.Change) string {
	if len(change.Old) <= longestValue && len(change.New) <= longestValue && !strings.Contains(change.Old+change.New, "\n") {
		return " " + cmp.Or(change.Old, "default") + " → " + cmp.Or(change.New, "default")
	}
	var out strings.Builder
	for _, line := range artifact.ChangedLines(change.Old, change.New) {
		out.WriteString("\n             " + line)
	}
	return out.String()
}
