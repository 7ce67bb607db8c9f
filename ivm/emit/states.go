package emit

import (
	"slices"
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
	return list(append(ctes[:1:1], reading(ctes[1:], statement)...))
}

// RowState is State for rows that are stored with how often they are there: <name>_before, <name>_delta, and <name>.
func RowState(name string, s apply.Statement, columns *algebra.Columns, t Tables, statement []string) []string {
	delta, before := name+"_delta", name+"_before"
	stored := func(alias string) []string {
		return append(prefixed(alias, s.Storage.Stored), alias+"."+Mult, alias+"."+apply.Hash)
	}
	inner := append([]string{"with"}, Lines(s, columns, t)...)
	inner[len(inner)-1] = ")"
	changes := CTE{Name: delta, Comment: "Δ " + name, Keep: true, Lines: append(inner, "select *", "from "+DeltaName)}
	was := append(clause("select", stored("r")), "from "+t.Stored+" r")
	ctes := append(reading([]CTE{{Name: before, Comment: name + " as it was", Lines: was}}, slices.Concat(inner, statement)), changes)
	// Without OFFSET, the planner finds no way to look stored rows up by an index where both are joined.
	now := slices.Concat(was, []string{"union all", "("}, indented(append(clause("select", stored("d")), "from "+delta+" d", "offset 0")), []string{")"})
	return list(append(ctes, reading([]CTE{{Name: name, Comment: name + " with what changes", Lines: now}}, statement)...))
}

func indented(lines []string) []string {
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}

// reading are those of common table expressions that a statement reads.
func reading(ctes []CTE, statement []string) []CTE {
	text := strings.Join(statement, "\n") + "\n"
	return slices.DeleteFunc(slices.Clone(ctes), func(c CTE) bool {
		return !strings.Contains(text, " "+c.Name+" ") && !strings.Contains(text, " "+c.Name+"\n")
	})
}
