package cases

import (
	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// groupingSets groups in several ways at once.
func (q *queries) groupingSets(s *selection) bool {
	if len(s.group.Kids) == 0 {
		return false
	}
	q.use("grouping sets")
	list := func() *node { return tree.NewList(tree.List{Sep: ", ", Min: 1}, clones(s.group.Kids)...) }
	first := func() *node { return tree.NewList(tree.List{Sep: ", ", Min: 1}, s.group.Kids[0].Clone()) }
	switch text := q.one("rollup (§)", "cube (§)", "grouping sets ((§), ())", "", "", ""); {
	case text != "":
		s.group.Kids = []*node{format("", text, list())}
	case q.chance(50):
		text := q.one("grouping sets ((§), (§))", "grouping sets ((§), (), (§))", "§, rollup (§)", "distinct rollup (§), cube (§)", "rollup (§), grouping sets ((§), ())", "grouping sets (rollup (§), (§))")
		s.group.Kids = []*node{format("", text, list(), first())}
	default:
		s.group.Kids = []*node{format("", q.one("grouping sets ((§), (§), (§))", "cube ((§), §), grouping sets (§, ())"), list(), first(), first())}
	}
	return true
}

func clones(nodes []*node) []*node {
	var all []*node
	for _, n := range nodes {
		all = append(all, n.Clone())
	}
	return all
}
