package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// TestRows has rows tested that are joined to one row of which nothing but comparisons is read, so that they are followed by its bounds:
//
//	σ(L × s) = L ⋉ s    where σ compares L with values of s, and nothing above reads s
func TestRows(columns *algebra.Columns) func(algebra.Node) algebra.Node {
	return func(root algebra.Node) algebra.Node {
		t := tests{columns: columns, readers: map[algebra.ColID][]algebra.Node{}}
		algebra.Walk(root, func(n algebra.Node) {
			for _, id := range algebra.Reads(n) {
				t.readers[id] = append(t.readers[id], n)
			}
		})
		for _, id := range root.Columns() {
			t.readers[id] = append(t.readers[id], nil)
		}
		return t.rows(root)
	}
}

type tests struct {
	columns *algebra.Columns
	readers map[algebra.ColID][]algebra.Node
}

// rows turns joins into tests in a tree. Above a join, the filters that stand on it belong to it.
func (t tests) rows(n algebra.Node) algebra.Node {
	done := map[algebra.Node]algebra.Node{}
	var below func(algebra.Node) algebra.Node
	below = func(n algebra.Node) algebra.Node {
		if found, ok := done[n]; ok {
			return found
		}
		made := n
		if tested := t.tested(n); tested != nil {
			made = tested
		}
		inputs, changed := made.Inputs(), false
		for i, in := range inputs {
			inputs[i] = below(in)
			changed = changed || inputs[i] != in
		}
		if changed {
			made = made.With(inputs)
		}
		done[n] = made
		return made
	}
	return below(n)
}

// tested is a join, under filters or not, as a test; nil if it is none.
func (t tests) tested(n algebra.Node) algebra.Node {
	var conds []algebra.Scalar
	chain, at := []algebra.Node{n}, n
	for {
		filter, ok := at.(*algebra.Filter)
		if !ok {
			break
		}
		conds, at = append(conds, filter.Conds...), filter.Input
		chain = append(chain, at)
	}
	join, ok := at.(*algebra.Join)
	if !ok {
		return nil
	}
	conds = append(conds, join.On...)
	for _, sides := range [][2]algebra.Node{{join.Left, join.Right}, {join.Right, join.Left}} {
		if semi := t.by(sides[0], sides[1], conds, chain); semi != nil {
			return semi
		}
	}
	return nil
}

func (t tests) by(rows, value algebra.Node, conds []algebra.Scalar, chain []algebra.Node) algebra.Node {
	if !algebra.Single(value) || algebra.Single(rows) {
		return nil
	}
	for { // one row beside another is one row, too
		join, ok := rows.(*algebra.Join)
		if !ok || len(join.On) > 0 || !algebra.Single(join.Right) {
			break
		}
		rows, value, chain = join.Left, &algebra.Join{Left: join.Right, Right: value}, append(chain, join)
	}
	semi := &algebra.Semi{Left: rows, Right: value}
	var others []algebra.Scalar
	for _, c := range conds {
		if slices.ContainsFunc(c.Columns(), func(id algebra.ColID) bool { return slices.Contains(value.Columns(), id) }) {
			semi.On = append(semi.On, c)
		} else {
			others = append(others, c)
		}
	}
	for _, id := range value.Columns() {
		if slices.ContainsFunc(t.readers[id], func(n algebra.Node) bool { return !slices.Contains(chain, n) }) {
			return nil
		}
	}
	if algebra.BoundsOf(semi, t.columns) == nil {
		return nil
	}
	if len(others) > 0 {
		semi.Left = &algebra.Filter{Input: rows, Conds: others}
	}
	return semi
}
