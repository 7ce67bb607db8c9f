package objects

import (
	"slices"
	"strings"
)

// names finds mentions of earlier objects in the definitions of later ones.
type names struct {
	ids   []string               // in the order of the objects
	names map[string][]namePlace // by their first words, which are all of most names
}

// namePlace is the rest of a name behind its first word, and the place of the object in ids.
type namePlace struct {
	rest  string
	place int
}

func (n *names) add(id, name string) {
	if n.names == nil {
		n.names = map[string][]namePlace{}
	}
	first := name[:wordEnd(name, 0)]
	n.names[first] = append(n.names[first], namePlace{name[len(first):], len(n.ids)})
	n.ids = append(n.ids, id)
}

// in lists the ids of the objects that sql names, as whole words.
func (n *names) in(sql string) (ids []string) {
	var places []int
	for start := 0; start < len(sql); {
		end := wordEnd(sql, start)
		for _, named := range n.names[sql[start:end]] {
			if strings.HasPrefix(sql[end:], named.rest) && (named.rest == "" || !wordAt(sql, end+len(named.rest))) {
				places = append(places, named.place)
			}
		}
		start = end + 1
	}
	slices.Sort(places)
	for _, place := range slices.Compact(places) {
		ids = append(ids, n.ids[place])
	}
	return ids
}

// wordEnd is where the word ends that begins at a byte.
func wordEnd(s string, start int) int {
	end := start
	for wordAt(s, end) {
		end++
	}
	return end
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
