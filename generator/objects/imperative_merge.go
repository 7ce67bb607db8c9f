package objects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// shared is a statement of some kinds of inboxes that functions create, with the kinds that have each line. Texts that have little in common are
// variants of it.
type shared struct {
	id       string
	variants [][]line
}

type line struct {
	text string
	of   kinds
}

// kinds is a set of kinds, by their numbers.
type kinds uint64

func (k kinds) has(n int) bool { return k>>n&1 == 1 }

// merge adds the statements of kind n. What creates the same object, in the same order, is one statement.
func merge(all []shared, statements []statement, n int) []shared {
	from := 0
	for _, s := range statements {
		at := slices.IndexFunc(all[from:], func(a shared) bool { return a.id == s.id })
		if at < 0 {
			all = slices.Insert(all, from, shared{id: s.id})
			at = 0
		}
		all[from+at].add(strings.Split(strings.TrimSuffix(s.sql, "\n"), "\n"), n)
		from += at + 1
	}
	return all
}

// add adds the lines of kind n to the variant that has most of them, if that has a third.
func (s *shared) add(lines []string, n int) {
	to, most := -1, len(lines)/3
	var same []int
	for v, variant := range s.variants {
		places := common(variant, lines)
		if count := len(lines) - len(slices.DeleteFunc(slices.Clone(places), func(at int) bool { return at >= 0 })); count > most {
			to, most, same = v, count, places
		}
	}
	if to < 0 {
		to, same = len(s.variants), slices.Repeat([]int{-1}, len(lines))
		s.variants = append(s.variants, nil)
	}
	var all []line
	have, from := s.variants[to], 0
	for at, text := range lines {
		if same[at] < 0 {
			all = append(all, line{text, 1 << n})
			continue
		}
		all = append(all, have[from:same[at]]...)
		all = append(all, line{text, have[same[at]].of | 1<<n})
		from = same[at] + 1
	}
	s.variants[to] = append(all, have[from:]...)
}

// fewest is how many lines in a row are worth to be stored once: each change of kinds costs a line, too.
const fewest = 2

// common finds the most lines that two texts have in the same order: for each line its place in the other text, or -1. Single lines count for nothing.
func common(have []line, lines []string) []int {
	most := make([][]int, len(lines)+1) // of what follows
	for at := range most {
		most[at] = make([]int, len(have)+1)
	}
	for at := len(lines) - 1; at >= 0; at-- {
		for of := len(have) - 1; of >= 0; of-- {
			if most[at][of] = max(most[at+1][of], most[at][of+1]); lines[at] == have[of].text {
				most[at][of] = most[at+1][of+1] + 1
			}
		}
	}
	same := make([]int, len(lines))
	for at, of := 0, 0; at < len(lines); {
		switch {
		case of < len(have) && lines[at] == have[of].text:
			same[at] = of
			at, of = at+1, of+1
		case of < len(have) && most[at][of+1] >= most[at+1][of]:
			of++
		default:
			same[at] = -1
			at++
		}
	}
	for start := 0; start < len(lines); {
		end := start
		for end < len(lines) && (same[end] >= 0) == (same[start] >= 0) {
			end++
		}
		if end-start < min(fewest, len(lines)) {
			same[start] = -1
		}
		start = end
	}
	return same
}

// expression is a part of the script as an expression of pgt_inbox_script.
func expression(all []render.CreatedKind, statements []shared) string {
	var lines []line
	for _, s := range statements {
		lines = append(lines, slices.Concat(s.variants...)...)
	}
	var parts []string
	for start := 0; start < len(lines); {
		end := start
		text := "$sql$\n"
		for ; end < len(lines) && lines[end].of == lines[start].of; end++ {
			text += lines[end].text + "\n"
		}
		if condition := conditionOf(all, lines[start].of); condition != "" {
			text = "case when " + condition + " then " + text + "$sql$ else '' end"
		} else {
			text += "$sql$"
		}
		parts = append(parts, text)
		start = end
	}
	return strings.Join(parts, " || ")
}

// conditionOf is the condition that an inbox is of some kinds; empty for all.
func conditionOf(all []render.CreatedKind, of kinds) string {
	const managed, whole, parted = 0, 1, 2 // with a table of its own, or over one of a user's
	var modes []string
	var some [3][]string
	for n, kind := range all {
		class := managed
		switch {
		case kind.ByRow():
			class = parted
		case kind.Tracked:
			class = whole
		default:
			modes = append(modes, kind.Mode)
		}
		if of.has(n) {
			some[class] = append(some[class], kind.Mode)
		}
	}
	var either []string
	add := func(class string, in []string) {
		if len(in) > 0 {
			either = append(either, strings.TrimSuffix(class+" and "+modeIn(modes, in), " and "))
		}
	}
	switch {
	case slices.Equal(some[managed], some[whole]) && slices.Equal(some[whole], some[parted]):
		return modeIn(modes, some[managed])
	case slices.Equal(some[whole], some[parted]):
		add("v_inbox.is_managed", some[managed])
		add("not v_inbox.is_managed", some[whole])
	case slices.Equal(some[managed], some[whole]):
		add("not v_is_parted", some[managed])
		add("v_is_parted", some[parted])
	default:
		add("v_inbox.is_managed", some[managed])
		add("not v_inbox.is_managed and not v_is_parted", some[whole])
		add("v_is_parted", some[parted])
	}
	return strings.Join(either, " or ")
}

// modeIn is the condition that the mode of an inbox is one of some; empty if it can be no other.
func modeIn(all, some []string) string {
	others := slices.DeleteFunc(slices.Clone(all), func(mode string) bool { return slices.Contains(some, mode) })
	switch {
	case len(others) == 0:
		return ""
	case len(some) == 1:
		return "v_mode = " + sqltext.Literal(some[0])
	case len(others) == 1:
		return "v_mode <> " + sqltext.Literal(others[0])
	}
	items := make([]string, len(some))
	for n, mode := range some {
		items[n] = sqltext.Literal(mode)
	}
	return fmt.Sprintf("v_mode in (%s)", strings.Join(items, ", "))
}
