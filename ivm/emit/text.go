package emit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// width is where lists break, long is what has a line of its own in them, and sentence is how long a comment may be.
const width, long, sentence = 118, 60, 90

// as names an expression.
func as(expr, name string) string { return expr + " as " + sqltext.Ident(name) }

// aliased is a relation under an alias.
func aliased(sql, alias string) string {
	if ident := sqltext.Ident(alias); ident != sql {
		return sql + " " + ident
	}
	return sql
}

// clause is a keyword and a list: on one line if that fits. Otherwise items share lines, and long expressions have lines of their own.
func clause(keyword string, items []string) []string {
	line := keyword + " " + strings.Join(items, ", ")
	if utf8.RuneCountInString(line) <= width && !slices.ContainsFunc(items, isLong) || len(items) == 1 {
		return []string{line}
	}
	lines := []string{keyword}
	alone := true // nothing may follow on the last line
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		last := &lines[len(lines)-1]
		computed := isLong(item)
		if alone || computed || utf8.RuneCountInString(*last+" "+item) > width {
			lines = append(lines, indent+item)
		} else {
			*last += " " + item
		}
		alone = computed
	}
	return lines
}

// twoLines is a line, or two of it where it is too long for one.
func twoLines(first, second string) []string {
	if line := first + " " + second; utf8.RuneCountInString(line) <= width || strings.Contains(second, "\n") {
		return []string{line}
	}
	return []string{first, indent + second}
}

func isLong(item string) bool {
	return utf8.RuneCountInString(item) > long && strings.Contains(item, "(")
}

// anyOf is a keyword and conditions of which one is enough, as many on a line as fit.
func anyOf(keyword string, conds []string) []string {
	lines := []string{keyword + " " + conds[0]}
	for _, c := range conds[1:] {
		last := &lines[len(lines)-1]
		if utf8.RuneCountInString(*last+" or "+c) > width {
			lines = append(lines, indent+"or "+c)
		} else {
			*last += " or " + c
		}
	}
	return lines
}

// indent is one level of indentation.
const indent = "    "

// inline writes a node as algebra in one line; what known has a name for is named.
func inline(n algebra.Node, known func(algebra.Node) string) string {
	below := func(n algebra.Node) string {
		if name := known(n); name != "" {
			return name
		}
		return inline(n, known)
	}
	switch n := n.(type) {
	case *algebra.Source:
		return n.Table.Name
	case *algebra.Changes:
		return "Δ " + n.Of.Table.Name
	case *algebra.Values:
		return "values"
	case *algebra.Filter:
		return "σ(" + below(n.Input) + ")"
	case *algebra.Project:
		return below(n.Input)
	case *algebra.Each:
		return inlineEach(n, below)
	case *algebra.Negate:
		return "−" + below(n.Input)
	case *algebra.Consolidate:
		return map[algebra.Sign]string{algebra.Gone: "gone ", algebra.Come: "come "}[n.Only] + below(n.Input)
	case *algebra.Join:
		return below(n.Left) + " ⋈ " + below(n.Right)
	case *algebra.Outer:
		if n.Full {
			return below(n.Left) + " ⟗ " + below(n.Right)
		}
		return below(n.Left) + " ⟕ " + below(n.Right)
	case *algebra.Semi:
		if n.Anti {
			return below(n.Left) + " ▷ " + fencedUnion(n.Right, below)
		}
		return below(n.Left) + " ⋉ " + fencedUnion(n.Right, below)
	case *algebra.Union:
		return inlineUnion(n, below)
	case *algebra.Aggregate:
		return "γ(" + below(n.Input) + ")"
	case *algebra.Top:
		return "top(" + below(n.Input) + ")"
	case *algebra.Recursion:
		return "μ(" + below(n.Seed.Input) + ", " + below(n.Step.Input) + ")"
	case *algebra.Window:
		return "ω(" + below(n.Input) + ")"
	case *algebra.Bag:
		return below(n.Input)
	case *algebra.Kept:
		return below(n.Input)
	case *algebra.Distinct:
		return "distinct(" + below(n.Input) + ")"
	}
	return "?"
}

func fencedUnion(n algebra.Node, below func(algebra.Node) string) string {
	if _, ok := n.(*algebra.Union); ok {
		return "(" + below(n) + ")"
	}
	return below(n)
}

func inlineUnion(n *algebra.Union, below func(algebra.Node) string) string {
	var terms []string
	for _, b := range n.From {
		terms = append(terms, below(b.Input))
	}
	return strings.Join(terms, " ⊎ ")
}

// comment is a node as algebra: from the sources on, or where that is long, over what is written already. What is kept has its name: it stands in
// several places, and what is kept within it in twice as many.
func (w *writer) comment(n algebra.Node) string {
	seen := 0
	text := inline(n, func(n algebra.Node) string {
		if seen++; seen > 10*sentence { // nobody could read it, and a tree of shared nodes may have very many
			return strings.Repeat("…", sentence+1)
		}
		if _, is := n.(*algebra.Kept); is {
			return w.place(n)
		}
		return ""
	})
	if utf8.RuneCountInString(text) <= sentence {
		return text
	}
	text = inline(n, w.place)
	switch n.(type) {
	case *algebra.Consolidate:
		text += ", added up"
	case *algebra.Bag:
		text += ", each row as often as it counts"
	}
	return text
}

// place is the common table expression that a node is read from, if it is.
func (w *writer) place(n algebra.Node) string {
	if _, table := w.leaf(n); table {
		return ""
	}
	return w.done[n].SQL
}

// with writes common table expressions as the lines of a WITH clause.
func with(ctes []CTE) []string {
	lines := append([]string{"with"}, list(ctes)...)
	lines[len(lines)-1] = ")"
	return lines
}

// list writes common table expressions as lines, each with a comma behind it. PostgreSQL plans and computes one that is not materialized
// wherever it is named: groups that are named more than once are computed once.
func list(ctes []CTE) []string {
	var lines []string
	times := named(ctes)
	for i, c := range ctes {
		kept := "not materialized"
		if c.Keep || c.groups && times[i] > 1 {
			kept = "materialized"
		}
		lines = append(lines, "-- "+oneLine(c.Name+": "+c.Comment), c.Name+" as "+kept+" (")
		for _, line := range c.Lines {
			lines = append(lines, indent+line)
		}
		lines = append(lines, "),")
	}
	return lines
}

// named counts the places in which each would be computed.
func named(ctes []CTE) []int {
	places, times := map[string]int{}, make([]int, len(ctes))
	for i, c := range ctes {
		places[c.Name] = i
	}
	for i := len(ctes) - 1; i >= 0; i-- {
		copies := min(max(times[i], 1), 2) // 2 stand for many
		if ctes[i].Keep || ctes[i].groups {
			copies = 1
		}
		for _, name := range ctes[i].reads {
			if at, ok := places[name]; ok {
				times[at] += copies
			}
		}
	}
	return times
}

// oneLine keeps names with line breaks from ending a comment.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(text)
}
