package explain

import (
	_ "embed"
	"html/template"
	"slices"

	"github.com/pgsluice/sluice/generator/page"
	"github.com/pgsluice/sluice/ivm"
)

//go:embed page.html.tmpl
var pageText string

// view is what the template reads.
type view struct {
	Name, Strategy, How string
	Reasons             []reason
	Sources             []source
	Indexes             []string
	Query, SQL          []page.Line
	QueryFile           string
	Trees               []tree
	Changes             bool // a tree of changes is among them
	Legend              []mark
}

type reason struct {
	Pos, What, Instead string
	Example            []snippet
}

// snippet is a part of an example.
type snippet struct {
	Title string
	SQL   []page.Line
}

type source struct {
	Name, Class string
	Reads       []string
}

type tree struct {
	Title string
	SVG   template.HTML
	Same  bool // as the one before
}

func (t Table) html(stage string) (string, error) {
	return page.HTML(pageText, t.pageOf(stage))
}

func (t Table) pageOf(stage string) view {
	p := view{Name: t.Name, Strategy: string(t.View.Strategy), How: t.how()}
	for _, r := range t.View.Full {
		p.Reasons = append(p.Reasons, reason{r.Pos.String(), r.What, r.Instead(), rewriteOf(r).snippets()})
	}
	costs := t.View.Costs
	for _, c := range costs {
		s := source{Name: c.Table.SQLName(), Class: c.Class.String()}
		for _, r := range c.Reads {
			s.Reads = append(s.Reads, readText(r))
		}
		p.Sources = append(p.Sources, s)
	}
	for _, i := range ivm.Wanted(costs) {
		p.Indexes = append(p.Indexes, indexText(i))
	}
	if stage == "" || stage == StageSQL {
		p.QueryFile = t.Query.File
		p.Query, p.SQL = page.Code(t.Query.Text, t.Query.Pos(0).Line), page.Code(t.SQL, 1)
	}
	p.Trees = t.trees(stage)
	p.Changes = stage != StageResolve && len(p.Trees) > 0
	p.Legend = legend
	return p
}

// trees are the pictures of the stages.
func (t Table) trees(stage string) []tree {
	var trees []tree
	before := ""
	for _, s := range slices.DeleteFunc(slices.Clone(Stages), func(s string) bool { return stage != "" && s != stage }) {
		p := t.picture(s)
		if p == nil {
			continue
		}
		drawn := page.Inline(t.title(s), page.Panel{Picture: p})
		text := page.ColumnNumber.ReplaceAllString(p.Body(), "") // differentiation gives columns new numbers
		trees = append(trees, tree{Title: t.title(s), SVG: template.HTML(drawn), Same: text == before})
		before = text
		if s == StageResolve {
			for _, state := range t.states() {
				trees = append(trees, tree{Title: state.Title, SVG: template.HTML(page.Inline(state.Title, page.Panel{Picture: state.Picture}))})
			}
		}
	}
	return trees
}
