package emit

import (
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// from writes FROM and WHERE: each condition over several items stands at the
// join that makes it possible.
func (b *block) from() []string {
	on, where := make([][]string, len(b.items)), []string{}
	for _, c := range b.conds {
		if i, several := b.last(c); several && b.items[i].kind == "" {
			on[i] = append(on[i], b.named(c))
		} else {
			where = append(where, b.named(c))
		}
	}
	var lines []string
	for i, item := range b.items {
		where = append(where, item.leaf.Where...)
		text := b.source(item)
		switch {
		case i == 0:
			lines = append(lines, "from "+text)
		case item.kind != "":
			lines = append(lines, item.kind+" "+text+" on "+strings.Join(b.allNamed(item.on), " and "))
		case len(on[i]) > 0:
			lines = append(lines, "join "+text+" on "+strings.Join(conjuncts(on[i]), " and "))
		default:
			lines = append(lines, "cross join "+text)
		}
	}
	wheres := [][]string{}
	for _, cond := range where {
		if len(where)+len(b.tests) > 1 {
			cond = fenced(cond)
		}
		wheres = append(wheres, []string{cond})
	}
	for _, t := range b.tests {
		wheres = append(wheres, t.lines())
	}
	if b.outer == nil {
		wheres = append(wheres, b.fewRead(len(wheres) > 0)...)
	}
	for i, cond := range wheres {
		word := "where "
		if i > 0 {
			word = "  and "
		}
		lines = append(lines, word+cond[0])
		for _, line := range cond[1:] {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

// fewRead are the conditions by which the planner expects few changes, or few rows that follow from them: the last ones. Where they may be left out, others come
// first.
func (b *block) fewRead(several bool) (conds [][]string) {
	few := b.few
	if i := slices.IndexFunc(b.items, func(i item) bool { return i.leaf.Few }); i >= 0 {
		few = [][]int{{i}}
	}
	if b.w.few == ForFew && !several {
		return nil
	}
	for _, items := range few {
		var nulls []string
		for _, i := range items {
			if columns := b.items[i].leaf.Columns; len(columns) > 0 {
				first := columns[slices.Min(slices.Collect(maps.Keys(columns)))]
				nulls = append(nulls, b.items[i].alias+"."+sqltext.Ident(first)+" is null")
			}
		}
		if len(nulls) == len(items) {
			conds = append(conds, []string{expectFew(b.w.few, "("+strings.Join(nulls, " or ")+")::integer", "0 and 1")})
		}
	}
	return conds
}

// conjuncts are conditions that stand side by side.
func conjuncts(conds []string) []string {
	if len(conds) < 2 {
		return conds
	}
	all := make([]string, len(conds))
	for i, c := range conds {
		all[i] = fenced(c)
	}
	return all
}

// fenced is a condition in parentheses where AND would bind more tightly than what is in it.
func fenced(cond string) string {
	if sqltext.IsLoose(cond) {
		return "(" + cond + ")"
	}
	return cond
}
