package emit

import (
	"strings"
	"unicode/utf8"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// test is the condition that there is a row, or with anti none, in the branches of a relation. Each is a block of its own within the one whose rows are tested.
type test struct {
	anti     bool
	anySign  bool
	branches []*block
	listed   []sqltext.Expr // what is looked up in a list, and what the list has
}

// semi adds the test of a semi-join or anti-join to the block, which has its left side.
func (b *block) semi(n *algebra.Semi) {
	t := test{anti: n.Anti, anySign: n.AnySign}
	branches := []algebra.Branch{{Input: n.Right, Cols: n.Right.Columns()}}
	if u, ok := n.Right.(*algebra.Union); ok {
		branches = u.From
	}
	for _, from := range branches {
		inner := b.w.block(nil)
		inner.outer, inner.tested = b, b.w.countsOnce(n.Right)
		inner.fold(from.Input)
		for i, id := range n.Right.Columns() {
			if id != from.Cols[i] {
				inner.exprs[id] = inner.over(sqltext.Column(int(from.Cols[i])))
			}
		}
		t.branches = append(t.branches, inner)
		if n.Listed {
			for _, id := range n.On[0].Expr.Columns() {
				t.listed = append(t.listed, b.over(inner.over(sqltext.Column(id))))
			}
			continue
		}
		for _, cond := range n.On {
			inner.conds = append(inner.conds, b.over(inner.over(cond.Expr)))
		}
	}
	b.tests = append(b.tests, t)
}

// lines writes the condition. Where rows have multiplicities, their sum says whether there is one: some take away others.
func (t test) lines() []string {
	if t.listed != nil {
		return t.in()
	}
	signed := false
	for _, b := range t.branches {
		signed = signed || b.negative || b.signed().leaf.Signed
	}
	if !signed || t.anySign {
		return t.exists()
	}
	lines := []string{"("}
	for i, b := range t.branches {
		sum, sign := "count(*)", "+ "
		if b.negative {
			sign = "- "
		}
		if factors := b.factors(); factors != "" {
			sum = "coalesce(sum(" + factors + "), 0)"
		}
		if i == 0 {
			sign = strings.TrimPrefix(sign, "+ ")
		}
		for _, line := range nested(sign+"(", append([]string{"select " + sum}, b.from()...)) {
			lines = append(lines, indent+line)
		}
	}
	if t.anti {
		return append(lines, ") = 0")
	}
	return append(lines, ") > 0")
}

// in looks a value up in a list. Where a condition has it, PostgreSQL hashes the list once, unless it expects it not to fit into work_mem.
func (t test) in() []string {
	of, word := t.branches[0], " in ("
	if t.anti {
		word = " not in ("
	}
	return nested(of.named(t.listed[0])+word, append([]string{"select " + of.named(t.listed[1])}, of.from()...))
}

func (t test) exists() []string {
	var lines []string
	for i, b := range t.branches {
		word := "exists ("
		if t.anti {
			word = "not exists ("
		}
		switch {
		case i > 0 && t.anti:
			word = "and " + word
		case i > 0:
			word = "or " + word
		}
		lines = append(lines, nested(word, append([]string{"select"}, b.from()...))...)
	}
	if len(t.branches) > 1 && !t.anti {
		lines[0] = "(" + lines[0]
		lines[len(lines)-1] += ")"
	}
	return lines
}

// nested writes lines in parentheses: on one line if they fit.
func nested(open string, lines []string) []string {
	var flat []string
	for _, line := range lines {
		flat = append(flat, strings.TrimSpace(line))
	}
	if line := open + strings.Join(flat, " ") + ")"; utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	all := []string{open}
	for _, line := range lines {
		all = append(all, indent+line)
	}
	return append(all, ")")
}
