package generator

import (
	"slices"
	"strings"
)

// names finds objects in the definitions of later ones.
type names struct {
	ids    []string         // in the order of the objects
	words  map[string][]int // places in ids, by names that are one word
	others []otherName      // quoted names with more in them, and triggers
}

type otherName struct {
	name  string
	place int
}

func (n *names) add(id, name string) {
	place := len(n.ids)
	n.ids = append(n.ids, id)
	if strings.IndexFunc(name, func(c rune) bool { return c < 0x80 && !wordByte(byte(c)) }) >= 0 {
		n.others = append(n.others, otherName{name, place})
		return
	}
	if n.words == nil {
		n.words = map[string][]int{}
	}
	n.words[name] = append(n.words[name], place)
}

// in lists the ids of the objects that sql names, as whole words.
func (n *names) in(sql string) (ids []string) {
	var places []int
	for start := 0; start < len(sql); {
		end := start
		for wordAt(sql, end) {
			end++
		}
		places = append(places, n.words[sql[start:end]]...)
		start = end + 1
	}
	for _, o := range n.others {
		if mentions(sql, o.name) {
			places = append(places, o.place)
		}
	}
	slices.Sort(places)
	for _, place := range slices.Compact(places) {
		ids = append(ids, n.ids[place])
	}
	return ids
}

// mentions reports whether sql names the object, as a whole word.
func mentions(sql, name string) bool {
	for from := 0; ; {
		at := strings.Index(sql[from:], name)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(name)
		if !wordAt(sql, start-1) && !wordAt(sql, end) {
			return true
		}
		from = start + 1
	}
}

func wordAt(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	return wordByte(s[i])
}

func wordByte(c byte) bool {
	return c == '_' || c == '"' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
