package coverage

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator/spec"
)

// page is docs/coverage.md: testdata/page.md with the table of constructs in the place of a mark.
func (f *file) page(t *testing.T) string {
	t.Helper()
	frame, err := os.ReadFile("testdata/page.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	section := ""
	for _, c := range f.constructs {
		if c.section != section {
			section = c.section
			fmt.Fprintf(&table, "\n### %s\n\n| construct | maintained | rules, or reason | cost class, or rewrite | example |\n|---|---|---|---|---|\n", section)
		}
		fmt.Fprintf(&table, "| %s |\n", strings.Join(c.row(), " | "))
	}
	return strings.Replace(string(frame), "<!-- constructs -->\n", strings.TrimLeft(table.String(), "\n"), 1)
}

// row are the cells of a construct.
func (c *construct) row() []string {
	example := "`" + strings.ReplaceAll(strings.Join(strings.Fields(c.query), " "), "|", `\|`) + "`"
	switch {
	case c.refused != nil:
		return []string{c.name, "refused", c.refused.Message, c.refused.Hint, example}
	case !c.followed():
		return []string{c.name, "recomputed", c.plan.Full[0].What, c.plan.Full[0].Hint, example}
	}
	maintained := "both modes"
	if !c.followedIn(spec.RefreshImmediate) {
		maintained = "differential"
	}
	return []string{c.name, maintained, strings.Join(c.rules(), ", "), c.cost(), example}
}
