package algebra

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Format prints a tree, a node a line, inputs indented below. It is what tests
// and explain read: columns are printed as name#number.
func Format(n Node, c *Columns) string {
	p := printer{columns: c, kept: map[Node]int{}}
	p.node(n, 0)
	return p.out.String()
}

type printer struct {
	columns *Columns
	out     strings.Builder
	kept    map[Node]int // numbers of what is computed once
}

func (p *printer) node(n Node, depth int) {
	line := p.line(n)
	if _, ok := n.(*Kept); ok {
		number, printed := p.kept[n]
		if !printed {
			number = len(p.kept) + 1
			p.kept[n] = number
		}
		line += " " + strconv.Itoa(number)
		if printed {
			p.out.WriteString(strings.Repeat("  ", depth) + line + ", as above\n")
			return
		}
	}
	p.out.WriteString(strings.Repeat("  ", depth) + line + "\n")
	for _, in := range n.Inputs() {
		p.node(in, depth+1)
	}
}

func (p *printer) line(n Node) string {
	switch n := n.(type) {
	case *Source:
		return "source " + n.Table.SQLName() + p.ids(" ", n.Columns())
	case *Changes:
		return "Δ " + n.Of.Table.SQLName() + p.ids(" ", n.Columns())
	case *Values:
		return fmt.Sprintf("values%s, rows: %d", p.ids(" ", n.Cols), len(n.Rows))
	case *Filter:
		return "filter " + p.conditions(n.Conds)
	case *Project:
		return "project " + p.items(n.Items)
	case *Union:
		return "union" + p.ids(" ", n.Cols)
	case *Negate:
		return "negate"
	case *Consolidate:
		return "consolidate" + map[Sign]string{Gone: ", what goes", Come: ", what comes"}[n.Only]
	case *Join:
		return strings.TrimSpace("join " + p.conditions(n.On))
	case *Outer:
		return strings.TrimSpace(n.kind() + " " + p.conditions(n.On))
	case *Semi:
		return strings.TrimSpace(n.kind() + " " + p.conditions(n.On))
	case *Each:
		return p.each(n)
	case *Aggregate:
		return p.aggregate(n)
	case *Window:
		return p.window(n)
	case *Distinct:
		return "distinct"
	case *Top:
		return p.top(n)
	case *Bag:
		return "bag"
	case *Kept:
		return "kept"
	case *Recursion:
		return p.recursion(n)
	}
	panic(fmt.Sprintf("no text for %T", n))
}

func (p *printer) aggregate(n *Aggregate) string {
	line := "aggregate"
	if n.Global {
		line += " global"
	}
	if len(n.Keys) > 0 {
		line += " by " + p.items(n.Keys)
	}
	if calls := p.callTexts(n.Aggs); len(calls) > 0 {
		line += ": " + strings.Join(calls, ", ")
	}
	return line
}

func (p *printer) callTexts(aggs []Agg) []string {
	var calls []string
	for _, a := range aggs {
		calls = append(calls, p.id(a.ID)+" := "+p.scalar(a.Call))
	}
	return calls
}

func (p *printer) id(id ColID) string { return fmt.Sprintf("%s#%d", p.columns.Info(id).Name, id) }

func (p *printer) ids(before string, ids []ColID) string {
	return before + "(" + strings.Join(p.idTexts(ids), ", ") + ")"
}

func (p *printer) idTexts(ids []ColID) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = p.id(id)
	}
	return names
}

func (p *printer) items(items []Item) string { return strings.Join(p.itemTexts(items), ", ") }

func (p *printer) itemTexts(items []Item) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = p.id(item.ID)
		if id, ok := item.Expr.Column(); !ok || id != item.ID {
			texts[i] += " := " + p.scalar(item.Expr)
		}
	}
	return texts
}

func (p *printer) conditions(conds []Scalar) string {
	return strings.Join(p.conditionTexts(conds), " and ")
}

func (p *printer) conditionTexts(conds []Scalar) []string {
	texts := make([]string, len(conds))
	for i, c := range conds {
		texts[i] = p.scalar(c)
	}
	return texts
}

var bound = regexp.MustCompile(`#([0-9]+)`)

func (p *printer) scalar(s Scalar) string {
	return bound.ReplaceAllStringFunc(s.Expr.SQL(), func(text string) string {
		id, err := strconv.Atoi(text[1:])
		if err != nil || id > len(p.columns.infos) {
			return text
		}
		return p.id(ColID(id))
	})
}
