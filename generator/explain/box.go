package explain

import (
	"strings"

	"github.com/pgsluice/sluice/generator/page"
	"github.com/pgsluice/sluice/ivm/algebra"
)

// Sizes of boxes in characters and lines.
const (
	wrapAt     = 34
	wrapRuleAt = 42 // only trees of views have rules, and those are narrow
	maxLines   = 10
)

// colors are those of operators at their boxes' left edges; the others are grey.
var colors = map[string]string{
	"source": page.Blue, "values": page.Blue,
	"Δ":         page.Amber,
	"aggregate": page.Green, "aggregate global": page.Green, "distinct": page.Green,
	"join": page.Violet, "left join": page.Violet, "full join": page.Violet, "semi join": page.Violet, "anti join": page.Violet,
}

// mark is what a colour of boxes says.
type mark struct{ Color, Text string }

var legend = []mark{
	{page.Blue, "tables that are read"}, {page.Amber, "Δ, the changes of one"}, {page.Violet, "joins"}, {page.Green, "groups, and rows shown once"}, {page.Grey, "everything else"},
}

// newBox is the box of an operator: what it does, and the rule by which it is differentiated.
func newBox(d algebra.Description, rule string) *page.Box {
	texts := page.Wrap(listed(d.Keys, "by ", ","), wrapAt)
	between := ","
	if d.Kind == "filter" || d.Kind == "join" {
		between = " and"
	}
	texts = append(texts, page.Wrap(listed(d.Items, "", between), wrapAt)...)
	return &page.Box{
		Kind: d.Kind, Of: d.Of, Lines: short(texts), Notes: page.Wrap(strings.Fields(rule), wrapRuleAt),
		Full: strings.Join(texts, "\n"), Color: colors[d.Kind],
	}
}

// short leaves out lines that a box has no room for.
func short(lines []string) []string {
	if len(lines) <= maxLines {
		return lines
	}
	return append(append([]string{}, lines[:maxLines-1]...), "…")
}

// listed puts a word before the first item and a separator behind all but the last.
func listed(items []string, before, between string) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item
		if i == 0 {
			texts[i] = before + item
		}
		if i < len(items)-1 {
			texts[i] += between
		}
	}
	return texts
}
