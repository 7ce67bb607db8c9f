// Package explain shows how a stream table is kept equal to its query: as text, as pictures, and as a page.
package explain

import (
	"strings"

	"github.com/pgsluice/sluice/generator/page"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/diag"
)

// The stages of a query's way to SQL.
const (
	StageResolve  = "resolve"  // names bound
	StageDelta    = "delta"    // differentiated
	StageSimplify = "simplify" // and simplified
	StageSQL      = "sql"      // the functions that maintain it
)

// Stages lists the stages in order.
var Stages = []string{StageResolve, StageDelta, StageSimplify, StageSQL}

// The formats.
const (
	FormatText    = "text"
	FormatMermaid = "mermaid"
	FormatSVG     = "svg"
	FormatHTML    = "html"
)

// Formats lists the formats.
var Formats = []string{FormatText, FormatMermaid, FormatSVG, FormatHTML}

// Table is a stream table.
type Table struct {
	Name  string
	Query diag.Block
	View  *ivm.Plan
	SQL   string // the functions that maintain it, as they are installed
}

// Explain shows a stream table, or one stage of it. There is no picture of StageSQL.
func Explain(t Table, stage, format string) (string, error) {
	switch format {
	case FormatSVG:
		return t.svg(stage), nil
	case FormatHTML:
		return t.html(stage)
	case FormatMermaid:
		return t.mermaid(stage), nil
	}
	return t.text(stage, algebra.Format), nil
}

// draw calls the view's function that draws the tree of a stage.
func (t Table) draw(stage string, draw ivm.Draw) string {
	switch stage {
	case StageResolve:
		return t.View.Tree(draw)
	case StageDelta:
		return t.View.DeltaTree(draw)
	case StageSimplify:
		return t.View.SimplifiedTree(draw)
	}
	return ""
}

// picture lays out the tree of a stage; nil if there is none.
func (t Table) picture(stage string) (p *page.Picture) {
	rule := t.View.Rule
	if stage != StageResolve {
		rule = nil // it has been applied
	}
	t.draw(stage, func(root algebra.Node, columns *algebra.Columns) string {
		p = draw(root, columns, rule)
		return ""
	})
	return p
}

// states are pictures of the groups that are stored beside the rows.
func (t Table) states() []page.Panel {
	var panels []page.Panel
	for _, state := range t.View.States {
		state.Tree(func(root algebra.Node, columns *algebra.Columns) string {
			panels = append(panels, page.Panel{Title: stateTitle(state), Picture: draw(root, columns, state.Rule)})
			return ""
		})
	}
	return panels
}

func stateTitle(s *ivm.State) string { return s.Name() + ", which is stored beside the rows" }

// title says what the picture of a stage shows.
func (t Table) title(stage string) string {
	what := "Its change"
	if s := t.View.Strategy; s == ivm.RescanKeys || s == ivm.MergeGroups {
		what = "The change of what the groups are made of"
	}
	switch stage {
	case StageResolve:
		return "The query, and the rule by which each operator is followed"
	case StageDelta:
		return what + ", by the rules"
	}
	return what + ", simplified"
}

func (t Table) svg(stage string) string {
	stages := []string{StageResolve, StageDelta}
	if stage != "" {
		stages = []string{stage}
	}
	var panels []page.Panel
	for _, s := range stages {
		if p := t.picture(s); p != nil {
			panels = append(panels, page.Panel{Title: t.title(s), Picture: p})
		}
		if s == StageResolve {
			panels = append(panels, t.states()...)
		}
	}
	label := "How " + t.Name + " is maintained"
	if len(panels) == 0 {
		return page.Notice(label, append([]string{t.headline()}, t.reasons()...))
	}
	return page.SVG(label, panels...)
}

// headline says how the stream table is maintained.
func (t Table) headline() string { return t.Name + ": " + string(t.View.Strategy) + ": " + t.how() }

// how says what a refresh does.
func (t Table) how() string {
	switch t.View.Strategy {
	case ivm.MergeRows:
		return "the signed rows by which the query changes are added to those stored"
	case ivm.MergeGroups:
		return "what changes is added to the sums, counts and extremes that are stored of each group"
	case ivm.RescanKeys:
		return "the affected groups are recomputed"
	}
	return "everything is recomputed"
}

// reasons say why everything is recomputed, or a part, or why rows come and go though no source changes.
func (t Table) reasons() []string {
	var lines []string
	for _, r := range t.View.Full {
		lines = append(lines, r.Pos.String()+": "+r.What+" cannot be followed, so everything is recomputed; "+r.Instead())
	}
	for _, part := range t.View.Anew {
		lines = append(lines, part.Pos.String()+": "+part.What+" is computed anew when a table that it reads has changed, and compared with what is stored of it")
	}
	if at := t.View.Moves; at != nil {
		lines = append(lines, at.String()+": moves with time: a refresh has it as of the beginning of its transaction, and finds what has come or gone since the one before")
	}
	return lines
}

func (t Table) reads() string {
	var names []string
	for _, table := range t.View.Sources {
		names = append(names, table.SQLName())
	}
	return strings.Join(names, ", ")
}
