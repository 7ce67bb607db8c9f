// Package emit writes algebra as SQL that people read: common table
// expressions in order, each under the algebra that it stands for.
package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
)

// Mult is the column that holds the multiplicity of a row.
const Mult = apply.Mult

// Leaf is a relation that a node is read from.
type Leaf struct {
	SQL     string                   // what stands in FROM, without an alias
	Alias   string                   // a good alias for it
	Columns map[algebra.ColID]string // names of its columns
	Signed  bool                     // it has a column Mult; otherwise each row counts once
	Taken   bool                     // without Signed, each row counts minus once
	Where   []string                 // conditions on what is read
	Few     bool                     // see ForFew
	Small   bool                     // Mult is a small integer, whose products would not fit
}

// CTE is a common table expression.
type CTE struct {
	Name    string
	Comment string   // the algebra
	Keep    bool     // materialized: read more than once, and small
	Lines   []string // of its query, not indented

	reads  []string // the common table expressions that the query names, each as often as it does
	groups bool     // it adds rows up: no condition from outside helps to compute less
}

// writer collects the common table expressions of one statement.
type writer struct {
	CTEs    []CTE
	columns *algebra.Columns
	leaf    func(algebra.Node) (Leaf, bool)
	done    map[algebra.Node]Leaf
	written map[string]string                    // names of common table expressions by their text
	reads   []string                             // what the one that is being written reads
	single  map[algebra.Node]bool                // what countsOnce has found
	within  int                                  // how many common table expressions stand within others
	chosen  map[*algebra.Source][]algebra.Scalar // see Tables
	few     string                               // see Tables
}

// newWriter returns a writer; leaf describes where sources and changes are read
// from, and may do so for any node that a table holds.
func newWriter(columns *algebra.Columns, leaf func(algebra.Node) (Leaf, bool)) *writer {
	return &writer{columns: columns, leaf: leaf, done: map[algebra.Node]Leaf{}, single: map[algebra.Node]bool{}, written: map[string]string{}}
}

// Add writes a node as a common table expression with a column for each of
// names, which are in the order of the node's columns, and Mult.
func (w *writer) Add(n algebra.Node, names []string, keep bool) string {
	c := CTE{Keep: keep}
	switch n.(type) {
	case *algebra.Aggregate, *algebra.Consolidate, *algebra.Bag, *algebra.Top, *algebra.Window, *algebra.Recursion:
		c.groups = true
	}
	return w.add(c, func(c *CTE) { c.Lines, c.Comment = w.relation(n, names), w.comment(n) })
}

// add adds a common table expression that write completes, with those that it reads before it, and returns its name. A node that stands in several
// places is written once because done remembers it; trees that differ and come to the same SELECT are one common table expression, too.
func (w *writer) add(c CTE, write func(*CTE)) string {
	outer := w.reads
	w.reads = nil
	write(&c)
	c.reads, w.reads = w.reads, outer
	text := strings.Join(c.Lines, "\n")
	if name, ok := w.written[text]; ok {
		for i := range w.CTEs {
			w.CTEs[i].Keep = w.CTEs[i].Keep || c.Keep && w.CTEs[i].Name == name
		}
		return name
	}
	c.Name = fmt.Sprintf("d%d", len(w.CTEs)+w.within+1)
	w.CTEs = append(w.CTEs, c)
	w.written[text] = c.Name
	return c.Name
}

// relation is the SELECT that makes a node's rows under the given names.
func (w *writer) relation(n algebra.Node, names []string) []string {
	switch n := n.(type) {
	case *algebra.Union:
		return w.union(n, names)
	case *algebra.Values:
		return w.values(n, names)
	case *algebra.Consolidate:
		return w.consolidate(n, names)
	case *algebra.Bag:
		return w.bag(n, names)
	case *algebra.Distinct:
		return w.distinct(n, names)
	case *algebra.Aggregate:
		return w.aggregate(n, names)
	case *algebra.Top:
		return w.top(n, names)
	case *algebra.Recursion:
		return w.recursion(n, names)
	case *algebra.Window:
		return w.window(n, names)
	}
	return w.block(n).render(n.Columns(), names)
}

// read is the leaf that a node is read from: a table, or a common table
// expression that is written for it.
func (w *writer) read(n algebra.Node) Leaf {
	leaf := w.find(n)
	w.reads = append(w.reads, leaf.SQL)
	return leaf
}

func (w *writer) find(n algebra.Node) Leaf {
	if leaf, ok := w.done[n]; ok {
		return leaf
	}
	leaf, ok := w.leaf(n)
	if _, once := n.(*algebra.Distinct); once {
		return w.Keep(n, w.names(n.Columns()))
	}
	keep, of := false, n
	if kept, is := n.(*algebra.Kept); is {
		n, keep = kept.Input, true
	}
	if !ok {
		leaf = Leaf{Columns: map[algebra.ColID]string{}, Signed: !w.countsOnce(n)}
		names := w.names(n.Columns())
		for i, id := range n.Columns() {
			leaf.Columns[id] = names[i]
		}
		leaf.SQL = w.Add(n, names, keep)
		leaf.Alias = leaf.SQL
	}
	w.done[n], w.done[of] = leaf, leaf
	return leaf
}

// countsOnce reports whether the rows of a node count once each. Whether there is one is then asked by EXISTS, which PostgreSQL makes a join of: a sum of
// multiplicities is computed for each row that asks, and took seconds for a thousand changed rows of TPC-H's query 18.
func (w *writer) countsOnce(n algebra.Node) bool {
	once, known := w.single[n]
	if !known {
		once = w.findOnce(n)
		w.single[n] = once
	}
	return once
}

func (w *writer) findOnce(n algebra.Node) bool {
	switch n := n.(type) {
	case *algebra.Aggregate, *algebra.Top, *algebra.Window, *algebra.Bag, *algebra.Distinct, *algebra.Values:
		return true
	case *algebra.Recursion:
		return !n.All || w.countsOnce(n.Seed.Input)
	case *algebra.Source:
		leaf, ok := w.leaf(n)
		return ok && !leaf.Signed && !leaf.Taken
	case *algebra.Changes, *algebra.Negate, *algebra.Consolidate:
		return false
	case *algebra.Semi:
		return w.countsOnce(n.Inputs()[0])
	}
	return !slices.ContainsFunc(n.Inputs(), func(in algebra.Node) bool { return !w.countsOnce(in) })
}

// names gives columns the names that people know them by, each once.
func (w *writer) names(ids []algebra.ColID) []string {
	taken := map[string]bool{Mult: true}
	names := make([]string, len(ids))
	for i, id := range ids {
		name := w.columns.Info(id).Name
		if taken[name] || name == "?column?" {
			name = fmt.Sprintf("c%d", id)
		}
		for taken[name] { // a column that people named so
			name += "_"
		}
		taken[name] = true
		names[i] = name
	}
	return names
}
