package sqltext

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// The parser and the printer are written in C and recurse as deep as a text is nested, until they run out of stack, which ends the process. PostgreSQL
// has limits of its own (max_stack_depth), a little above these.

const (
	// mostNested is how many tokens may stand beside each other without a comma between them: a text is nested no deeper than that.
	mostNested = 30_000
	// mostPrinted is how many nodes may stand below each other in what is printed.
	mostPrinted = 300
)

// tooDeep is what texts are refused with that are nested too deeply to be read.
const tooDeep = "the statement is nested too deeply to be read"

// Parse is pg_query's parser, for texts of users.
func Parse(text string) (*pg_query.ParseResult, error) {
	if len(text) > mostNested && longestRun(text) > mostNested {
		return nil, &Error{Message: tooDeep}
	}
	tree, err := pg_query.Parse(text)
	if err != nil && strings.Contains(err.Error(), "maximum recursion depth") {
		return nil, &Error{Message: tooDeep}
	}
	return tree, err
}

// longestRun counts the tokens between two commas.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, t := range Scan(text) {
		run++
		if t.Token == comma {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// depth is how many nodes stand below each other in a part of a parse tree, and which is the first below too many to be printed, nil if none is.
func depth(message any) (deepest int, tooDeep *pg_query.Node) {
	at := 0
	var visit func(m any) bool
	visit = func(m any) bool {
		n, ok := m.(*pg_query.Node)
		if !ok || n.Node == nil {
			return true
		}
		at++
		deepest = max(deepest, at)
		if at > mostPrinted && tooDeep == nil {
			tooDeep = n
		}
		walk(n.Node, visit)
		at--
		return false
	}
	walk(message, visit)
	return deepest, tooDeep
}

// Size counts the nodes of an expression, those below each other, and how often each bound column is in it.
func (e Expr) Size() (nodes, deep int, columns map[int]int) {
	columns = map[int]int{}
	walk(e.node, func(m any) bool {
		switch m := m.(type) {
		case *pg_query.Node:
			nodes++
		case *pg_query.ParamRef:
			columns[int(m.Number)]++
		}
		return true
	})
	deep, _ = depth(e.node)
	return nodes, deep, columns
}
