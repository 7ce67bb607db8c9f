package upgrade

import (
	"fmt"
	"slices"
)

// move gives something another name.
type move struct {
	space    string // within which no two have the same name
	from, to string
	sql      func(from, to string) string
}

// inOrder is the statements of moves, so that a name is free when something gets it. Where names go round in a circle, one is set aside.
func inOrder(moves []move) string {
	moves = slices.DeleteFunc(slices.Clone(moves), func(m move) bool { return m.from == m.to })
	holders := map[[2]string]bool{}
	for _, m := range moves {
		holders[[2]string{m.space, m.from}] = true
	}
	var out string
	for aside := 1; len(moves) > 0; {
		at := slices.IndexFunc(moves, func(m move) bool { return !holders[[2]string{m.space, m.to}] })
		if at >= 0 {
			m := moves[at]
			out += m.sql(m.from, m.to)
			delete(holders, [2]string{m.space, m.from})
			moves = slices.Delete(moves, at, at+1)
			continue
		}
		m := &moves[0]
		out += m.sql(m.from, asideName(aside))
		delete(holders, [2]string{m.space, m.from})
		m.from = asideName(aside)
		aside++
	}
	return out
}

// asideName is a name that nothing has.
func asideName(n int) string { return fmt.Sprintf("pgt_aside_%d", n) }

// ConstraintName is the name that PostgreSQL gives to a constraint of a table, or to the index behind it: label is pkey, check, fkey, idx or
// not_null. Names that are too long lose bytes of the longer part, never half a character.
func ConstraintName(table, column, label string) string {
	room := 63 - 1 - len(label)
	if column != "" {
		room--
	}
	first, second := len(table), len(column)
	for first+second > room {
		if first > second {
			first--
		} else {
			second--
		}
	}
	name := whole(table, first)
	if column != "" {
		name += "_" + whole(column, second)
	}
	return name + "_" + label
}

// whole is at most that many bytes of a text, in whole characters.
func whole(text string, bytes int) string {
	end := 0
	for at, r := range text {
		if at+len(string(r)) > bytes {
			break
		}
		end = at + len(string(r))
	}
	return text[:end]
}
