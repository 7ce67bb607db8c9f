package emit

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// State writes how groups that are stored beside the rows of a view change, as lines of common table expressions: <name>_found, the changed groups as they
// become; <name>_delta, signed rows of what root shows of the groups; <name>, those as they become, and <name>_before, as they were, each if statement reads it.
func State(name string, s apply.Statement, root algebra.Node, columns *algebra.Columns, t Tables, statement []string) []string {
	state := &algebra.Values{}
	for _, column := range s.Groups.Columns() {
		state.Cols = append(state.Cols, columns.New(algebra.Info{Name: column}))
	}
	found, delta, before := name+"_found", name+"_delta", name+"_before"
	show := func(from, alias string, more ...string) []string {
		exprs, _ := Shown(root, s.Groups, columns, state, alias)
		for i, column := range s.Storage.Visible {
			if typ := columns.Info(root.Columns()[i]).Type; alias == "f" && i >= len(s.Groups.Keys) && typ != "" { // what adds up counts is numeric, and so are sums of it
				exprs[i] = "(" + exprs[i] + ")::" + typ
			}
			if exprs[i] != alias+"."+sqltext.Ident(column) {
				exprs[i] = as(exprs[i], column)
			}
		}
		return append(clause("select", append(exprs, more...)), "from "+from)
	}
	there := func(lines []string) []string {
		if len(s.Groups.Keys) == 0 {
			return lines
		}
		return append(lines, "where f."+apply.Members+" > 0")
	}
	single := func(lines []string) []string { // or the planner expects a thousand rows of a table that was never analyzed: query 22 of TPC-H took 20 times as long
		if len(s.Groups.Keys) == 0 {
			return append(lines, "limit 1")
		}
		return lines
	}
	union := func(a, b []string) []string { return append(append(a, "union all"), b...) }
	inner := append([]string{"with"}, Lines(s, columns, t)...)
	inner[len(inner)-1] = ")"
	ctes := []CTE{
		{Name: found, Comment: "the groups of " + name + " that change, as they become", Keep: true, Lines: single(append(inner, "select *", "from found"))},
		{Name: delta, Comment: "Δ " + name, Keep: true, Lines: union(
			there(show(found+" f", "f", "1 as "+Mult)), show(found+" f join "+t.Stored+" r on r.ctid = f.__at", "r", "-1"),
		)},
		{Name: name, Comment: name + " with what changes", Lines: single(union(
			append(show(t.Stored+" r", "r"), "where not exists (select from "+found+" f where f.__at = r.ctid)"), there(show(found+" f", "f")),
		))},
		{Name: before, Comment: name + " as it was", Lines: single(show(t.Stored+" r", "r"))},
	}
	text := strings.Join(statement, "\n")
	read := ctes[:1]
	for _, c := range ctes[1:] {
		if strings.Contains(text, " "+c.Name+" ") || strings.Contains(text, " "+c.Name+"\n") {
			read = append(read, c)
		}
	}
	return list(read)
}
