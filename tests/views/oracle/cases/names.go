package cases

import (
	"fmt"
	"regexp"
	"strings"
)

// Names that SQL, templates, or the code that keeps stream tables could trip over.
var (
	oddColumns = []string{
		"mult", "xid", "d1", "n", "count", "new_rows", "old_rows", "before", "after", "delta", "key", "value", "old", "new", "excluded", "found", "tg_op",
		"Mixed Case", `quo"te`, "select", "from", "user", "group", "order", "ünï", "dot.name", "a b", "$1", "%s", "{{x}}", "--", "';",
		"sum", "frontier", "changes", "v", "t", "r", "null", "true", long("first key"), long("second key"), long("Ä"),
	}
	oddTables    = []string{"Odd Table", "order", "user", "mult", "t", "old_rows", "new_rows", "delta", "Tab\"le", "ünï", "changes", "with", long("table")}
	plainColumns = []string{"id", "k", "g", "a", "b", "c", "d", "e", "f", "x", "y", "z", "p", "q", "r", "s", "u", "v", "w", "m", "h", "i", "j", "l", "o", "n1", "n2", "n3", "n4", "n5"}
	plainTables  = []string{"orders", "items", "people", "events", "edges", "parts", "stock", "visits"}
)

// long fills a name up to the 63 bytes that names may have, names of one beginning alike.
func long(name string) string { return name + strings.Repeat("_", 63-len(name)) }

var simple = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// reserved are the reserved words among the names here.
var reserved = map[string]bool{
	"select": true, "from": true, "user": true, "group": true, "order": true, "null": true, "true": true, "with": true, "old": false, "new": false,
}

// quote writes a name as SQL does, in quotes only if it needs them.
func quote(name string) string {
	if simple.MatchString(name) && !reserved[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// names hands out names, each once.
type names struct {
	random
	odd   bool
	left  []string
	count int
}

func newNames(r random, odd bool, plain, oddNames []string) *names {
	from := plain
	if odd {
		from = append(some(r, oddNames, len(oddNames), len(oddNames)), plain...)
	}
	return &names{random: r, odd: odd, left: from}
}

func (n *names) next() string {
	if len(n.left) == 0 {
		n.count++
		return fmt.Sprintf("name%d", n.count)
	}
	name := n.left[0]
	n.left = n.left[1:]
	return quote(name)
}
