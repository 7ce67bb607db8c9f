package emit

import (
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// reached is the relation that a recursion reads itself from.
const reached = "reached"

// recursion writes a query that reads itself. What it reads that takes common table expressions stands before it. Rows of a bag that have multiplicities pass them
// on, where the step is made of single rows.
func (w *writer) recursion(n *algebra.Recursion, names []string) []string {
	counts, columns := n.All && !n.Gathers() && !w.countsOnce(n.Seed.Input), idents(names)
	word, shown := "union", "select *, 1 as "+Mult
	if n.All {
		word = "union all"
	}
	if counts {
		columns, shown = append(columns, Mult), "select *"
	}
	seed := w.branch(n, n.Seed, names, counts)
	lines := slices.Concat(seed, []string{word}, w.step(n, names, counts))
	open := clause("with recursive "+reached+" (", columns)
	open[0] = strings.Replace(open[0], "( ", "(", 1)
	open[len(open)-1] += ") as ("
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return slices.Concat(open, lines, []string{")", shown, "from " + reached})
}

// step is the SELECT of the step, with the common table expressions that read the recursion.
func (w *writer) step(n *algebra.Recursion, names []string, counts bool) []string {
	outer, before, sql := w.leaf, len(w.CTEs), reached
	if n.Gathers() {
		sql = "(select * from " + reached + ")" // PostgreSQL refuses aggregates beside the recursion itself
	}
	w.leaf = func(of algebra.Node) (Leaf, bool) {
		if !n.Is(of) {
			return outer(of)
		}
		w.reads = append(w.reads, reached)
		leaf := Leaf{SQL: sql, Alias: initial(n.Self.Name), Columns: map[algebra.ColID]string{}, Signed: counts}
		for _, c := range of.(*algebra.Source).Cols {
			leaf.Columns[c.ID] = names[c.Attr]
		}
		return leaf, true
	}
	step := n.Step
	step.Input = algebra.Rewrite(step.Input, func(of algebra.Node) algebra.Node {
		if s, ok := of.(*algebra.Source); ok && s.Table.Counted && (n.All || !positive(s)) {
			return w.expanded(of)
		}
		return of
	})
	lines := w.branch(n, step, names, counts)
	w.leaf = outer
	within := w.inStep(before)
	if len(within) == 0 {
		return lines
	}
	lines = append(with(within), lines...)
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return slices.Concat([]string{"("}, lines, []string{")"})
}

// inStep takes away the common table expressions from one on that read a recursion, which stand in its step.
func (w *writer) inStep(from int) (within []CTE) {
	names, left := []string{reached}, w.CTEs[:from:from]
	for _, c := range w.CTEs[from:] {
		if !slices.ContainsFunc(c.reads, func(read string) bool { return slices.Contains(names, read) }) {
			left = append(left, c)
			continue
		}
		within, names = append(within, c), append(names, c.Name)
		w.reads = append(w.reads, c.reads...)
	}
	w.CTEs, w.within = left, w.within+len(within)
	maps.DeleteFunc(w.written, func(_, name string) bool { return slices.Contains(names, name) })
	maps.DeleteFunc(w.done, func(_ algebra.Node, leaf Leaf) bool { return slices.Contains(names, leaf.SQL) })
	return within
}

// branch is the SELECT of the columns of a branch, with Mult if the recursion counts.
func (w *writer) branch(n *algebra.Recursion, from algebra.Branch, names []string, counts bool) []string {
	if counts {
		b := w.block(from.Input)
		b.expectsFew(n)
		return append(clause("select", append(b.list(from.Cols, names), b.counted())), b.from()...)
	}
	input := from.Input
	if n.All || !positive(input) { // otherwise it does not matter how often a row is there
		input = w.expanded(input)
	}
	b := w.block(input)
	b.expectsFew(n)
	return append(clause("select", b.list(from.Cols, names)), b.from()...)
}

// expectsFew has the planner expect one row to begin with, and of each step: a dozen in all. It takes ten times the rows of the first for those that steps are
// made of, and ten steps, so that what follows from one changed row would be a thousand, for which it reads tables as a whole.
func (b *block) expectsFew(n *algebra.Recursion) {
	if !n.Few || b.w.few == "" || len(b.items) == 0 {
		return
	}
	last := len(b.items) - 1
	if at := slices.IndexFunc(b.items, func(i item) bool { return i.leaf.SQL == reached }); at < 0 {
		b.few = [][]int{{0}}
	} else if b.few = [][]int{{at}}; last > 0 {
		b.few = append(b.few, []int{0, last}) // of both: neither is read by itself then
	}
}

// counted is Mult as a number of the type that it has in all branches of a recursion.
func (b *block) counted() string {
	product := b.factors()
	if product == "" {
		product = "1"
	}
	if b.negative {
		product = "-(" + product + ")"
	}
	return as("("+product+")::numeric", Mult)
}

// expanded are the rows of a node, each as often as it counts.
func (w *writer) expanded(n algebra.Node) algebra.Node {
	if w.countsOnce(n) {
		return n
	}
	return &algebra.Bag{Input: n}
}

// positive reports whether no row of a node takes another one away.
func positive(n algebra.Node) bool {
	switch n := n.(type) {
	case *algebra.Source:
		return !n.Table.Counted || n.Table.Before == nil
	case *algebra.Changes, *algebra.Negate:
		return false
	case *algebra.Consolidate:
		return n.Only != 0
	case *algebra.Aggregate, *algebra.Top, *algebra.Window, *algebra.Bag, *algebra.Distinct, *algebra.Recursion:
		return true
	case *algebra.Semi:
		return positive(n.Left)
	}
	return !slices.ContainsFunc(n.Inputs(), func(in algebra.Node) bool { return !positive(in) })
}
