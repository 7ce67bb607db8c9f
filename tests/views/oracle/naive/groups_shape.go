package naive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pgsluice/sluice/tests/views/oracle"
	"github.com/pgsluice/sluice/tests/views/oracle/cases"
	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// shape is a select with aggregates over one table, in pieces.
type shape struct {
	view       oracle.View
	table      string
	place      *tree.Node // where it is read
	keys       []string   // expressions
	aggregates []*aggregate
}

// aggregate is one of a query.
type aggregate struct {
	name     string     // in the table of groups
	node     *tree.Node // with its filter
	call     string     // count, sum, avg, min or max
	argument *tree.Node // nil for count(*)
	distinct bool
}

// grouping are the features, beside those of linear, of views that are taken apart here.
var grouping = []string{
	"group by", "group by expression", "group by position", "group by nothing", "key not shown", "expression over aggregates", "aggregate filter",
	"having", "distinct aggregate",
}

// shapeOf takes a query apart. If it is of another shape, the reason says why.
func (g Groups) shapeOf(v oracle.View) (*shape, string) {
	q := v.Tree.Query
	for _, f := range v.Tree.Features {
		if !slices.Contains(linear, f) && !slices.Contains(grouping, f) {
			return nil, f
		}
	}
	if len(q.Kids) != cases.TailPart+1 || len(reads(q)) != 1 {
		return nil, "no select from one table"
	}
	if aggregates(q.Kids[cases.FromPart]) {
		return nil, "aggregates below"
	}
	s := &shape{view: v, table: tables(v.Tree)[0], place: reads(q)[0]}
	for _, key := range q.Kids[cases.GroupPart].Kids {
		s.keys = append(s.keys, s.key(key))
	}
	for _, part := range []int{cases.OutputsPart, cases.HavingPart} {
		if reason := s.addAggregates(g, q.Kids[part]); reason != "" {
			return nil, reason
		}
	}
	if len(s.aggregates) == 0 {
		return nil, "no aggregates"
	}
	return s, ""
}

// aggregates reports whether there are groups or aggregates in a piece of a query.
func aggregates(n *tree.Node) bool {
	for part := range n.All() {
		grouped := len(part.Kids) == cases.TailPart+1 && len(part.Kids[cases.GroupPart].Kids) > 0
		if grouped || part.List == nil && slices.Contains(calls, callOf(part)) {
			return true
		}
	}
	return false
}

func callOf(n *tree.Node) string {
	call, _, _ := strings.Cut(n.Text[0], "(")
	return call
}

// key is the expression of a key that may be a position.
func (s *shape) key(n *tree.Node) string {
	if at, err := strconv.Atoi(n.String()); err == nil {
		return bare(s.outputs()[at-1]).String()
	}
	return n.String()
}

func (s *shape) outputs() []*tree.Node { return s.view.Tree.Query.Kids[cases.OutputsPart].Kids }

// bare is an output without its name.
func bare(n *tree.Node) *tree.Node {
	if n.Sort == "" && len(n.Kids) == 1 {
		return n.Kids[0]
	}
	return n
}

var calls = []string{"count", "sum", "avg", "min", "max"}

// addAggregates finds the aggregates of a part of the query.
func (s *shape) addAggregates(g Groups, n *tree.Node) string {
	if n.String() == "" || slices.Contains(s.keys, n.String()) {
		return ""
	}
	a := &aggregate{name: fmt.Sprintf("oracle_a%d", len(s.aggregates)), node: n}
	if n.List == nil && len(n.Kids) == 2 && n.Text[1] == " filter (where " {
		n = n.Kids[0]
	}
	if n.List == nil {
		a.call = callOf(n)
	}
	if !slices.Contains(calls, a.call) {
		for _, kid := range n.Kids {
			if reason := s.addAggregates(g, kid); reason != "" {
				return reason
			}
		}
		return ""
	}
	s.aggregates = append(s.aggregates, a)
	a.distinct = strings.Contains(n.Text[0], "distinct")
	if len(n.Kids) == 1 && n.Text[1] == ")" {
		a.argument = n.Kids[0]
	} else if n.Text[0] != "count(*)" {
		return "another aggregate"
	}
	return a.refused(g.Fault)
}

// refused says why the aggregate is not maintained.
func (a *aggregate) refused(fault GroupsFault) string {
	sums := a.call == "sum" || a.call == "avg"
	exact := []string{"int", "bigint", "smallint", "posint", "dec"}
	switch {
	case a.distinct && (fault != DistinctIsSum || a.call != "count"):
		return "distinct"
	case sums && fault != InfinityMinus && !slices.Contains(exact, a.argument.Sort):
		return "values that cannot be subtracted"
	}
	return ""
}

func (s *shape) state() string { return "oracle_groups_" + s.view.Name }

func (s *shape) keyNames() []string {
	var names []string
	for i := range s.keys {
		names = append(names, fmt.Sprintf("oracle_k%d", i))
	}
	return names
}

// shown is a piece of the query as it is read from the table of groups.
func (s *shape) shown(g Groups, n *tree.Node) string {
	return n.Render(func(n *tree.Node) (string, bool) {
		if i := slices.Index(s.keys, n.String()); i >= 0 {
			return fmt.Sprintf("oracle_k%d", i), true
		}
		for _, a := range s.aggregates {
			if a.node.String() == n.String() {
				return "(" + g.shown(a) + ")::" + cases.Type(n.Sort), true
			}
		}
		return "", false
	})
}

// contribution is a query for what the rows of a relation make of the groups, times 1 or -1.
func (s *shape) contribution(relation, sign string, filtered bool) string {
	q := s.view.Tree.Query
	list := []string{}
	for i, key := range s.keys {
		list = append(list, fmt.Sprintf("%s as oracle_k%d", key, i))
	}
	list = append(list, sign+" * count(*) as oracle_n")
	for _, a := range s.aggregates {
		list = append(list, a.contribution(sign)...)
	}
	text := "select " + strings.Join(list, ", ") + with(q.Kids[cases.FromPart], s.place, relation)
	if filtered {
		text += q.Kids[cases.WherePart].String()
	}
	if len(s.keys) > 0 {
		text += "\ngroup by " + strings.Join(s.keys, ", ")
	}
	return text
}

func (a *aggregate) contribution(sign string) []string {
	switch a.call {
	case "count":
		return []string{sign + " * " + a.node.String() + " as " + a.name}
	case "min", "max":
		return []string{a.node.String() + " as " + a.name}
	}
	filter := ""
	if len(a.node.Kids) == 2 {
		filter = " filter (where " + a.node.Kids[1].String() + ")"
	}
	return []string{
		fmt.Sprintf("%s * coalesce(sum(%s)%s, 0)::numeric as %s", sign, a.argument, filter, a.name),
		fmt.Sprintf("%s * count(%s)%s as %s_count", sign, a.argument, filter, a.name),
	}
}
