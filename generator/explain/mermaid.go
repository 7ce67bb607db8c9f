package explain

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// mermaid is the flowchart of a stage; without one, a Markdown document with those of the query and its change. Where there is no tree it says why.
func (t Table) mermaid(stage string) string {
	if chart := t.draw(stage, algebra.Mermaid); chart != "" {
		return chart
	}
	var charts []string
	for _, s := range []string{StageResolve, StageDelta} {
		if chart := t.draw(s, algebra.Mermaid); chart != "" && stage == "" {
			charts = append(charts, "## "+t.mermaidTitle(s)+"\n\n```mermaid\n"+chart+"```\n")
		}
	}
	if len(charts) == 0 {
		return strings.Join(append([]string{t.headline()}, t.reasons()...), "\n\n") + "\n"
	}
	return strings.Join(charts, "\n")
}

func (t Table) mermaidTitle(stage string) string {
	if stage == StageResolve {
		return "The query" // without its rules
	}
	return t.title(stage)
}
