package emit

import (
	"strings"
	"unicode/utf8"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// width is where lists break.
const width = 90

// as names an expression.
func as(expr, name string) string { return expr + " as " + sqltext.Ident(name) }

// aliased is a relation under an alias.
func aliased(sql, alias string) string {
	if ident := sqltext.Ident(alias); ident != sql {
		return sql + " " + ident
	}
	return sql
}

// Clause is a keyword and a list: on one line, or an item a line where that does not fit.
func Clause(keyword string, items []string) []string {
	line := keyword + " " + strings.Join(items, ", ")
	if utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	lines := []string{keyword}
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		lines = append(lines, Indent+item)
	}
	return lines
}

// Indent is one level of indentation.
const Indent = "    "

// Inline writes a node as algebra in one line, for comments.
func Inline(n algebra.Node) string {
	switch n := n.(type) {
	case *algebra.Source:
		return n.Table.Name
	case *algebra.Changes:
		return "Δ " + n.Of.Table.Name
	case *algebra.Values:
		return "values"
	case *algebra.Filter:
		return "σ(" + Inline(n.Input) + ")"
	case *algebra.Project:
		return Inline(n.Input)
	case *algebra.Negate:
		return "−" + Inline(n.Input)
	case *algebra.Consolidate:
		return Inline(n.Input)
	case *algebra.Join:
		return Inline(n.Left) + " ⋈ " + Inline(n.Right)
	case *algebra.Union:
		return inlineUnion(n)
	case *algebra.Aggregate:
		return "γ(" + Inline(n.Input) + ")"
	case *algebra.Bag:
		return Inline(n.Input)
	case *algebra.Distinct:
		return "distinct(" + Inline(n.Input) + ")"
	}
	return "?"
}

func inlineUnion(n *algebra.Union) string {
	if algebra.IsBefore(n) {
		return Inline(n.From[0].Input) + " before"
	}
	var terms []string
	for _, b := range n.From {
		terms = append(terms, Inline(b.Input))
	}
	return strings.Join(terms, " ⊎ ")
}

// With writes common table expressions as the lines of a WITH clause.
func With(ctes []CTE) []string {
	lines := append([]string{"with"}, List(ctes)...)
	lines[len(lines)-1] = ")"
	return lines
}

// List writes common table expressions as lines, each with a comma behind it.
func List(ctes []CTE) []string {
	var lines []string
	for _, c := range ctes {
		kept := "not materialized"
		if c.Keep {
			kept = "materialized"
		}
		lines = append(lines, "-- "+oneLine(c.Name+": "+c.Comment), c.Name+" as "+kept+" (")
		for _, line := range c.Lines {
			lines = append(lines, Indent+line)
		}
		lines = append(lines, "),")
	}
	return lines
}

// oneLine keeps names with line breaks from ending a comment.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(text)
}
