package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
)

// index has the rows of states found by the columns that are compared with others, or that rows are found by which are computed anew.
func (v *view) index() {
	if len(v.states) == 0 {
		return
	}
	for _, s := range v.states {
		s.indexSteps()
	}
	algebra.Walk(v.Root, func(n algebra.Node) {
		var by []algebra.ColID
		for _, e := range props.Equalities(algebra.Exprs(n)) {
			for _, side := range []algebra.Scalar{e.Left, e.Right} {
				if id, ok := side.Column(); ok && len(e.Left.Columns()) > 0 && len(e.Right.Columns()) > 0 {
					by = append(by, id)
				}
			}
		}
		switch n := n.(type) {
		case *algebra.Aggregate:
			if v.rereads(n) != Never {
				by = append(by, renamed(n.Keys, keyIDs(n))...)
			}
		case *algebra.Window:
			by = append(by, n.KeyColumns()...)
		case *algebra.Top:
			by = append(by, n.Keys...)
		}
		for _, in := range n.Inputs() {
			for _, id := range by {
				if slices.Contains(in.Columns(), id) {
					v.indexOn(in, id)
				}
			}
		}
	})
}

// indexOn has a state indexed by the column of it that a column of a node is, if it is one.
func (v *view) indexOn(n algebra.Node, id algebra.ColID) {
	facts := v.props.Of(n)
	for _, s := range facts.Sources {
		state := v.state(s.Table)
		if state == nil || !s.Table.Counted {
			continue
		}
		for _, c := range s.Cols {
			if slices.Contains(facts.Origins(id), c.ID) {
				state.index(c.Attr)
			}
		}
	}
}

// indexSteps has the rows of a recursion found by the columns that its step compares with those of tables.
func (s *State) indexSteps() {
	n, ok := s.of.Root.(*algebra.Project).Input.(*algebra.Recursion)
	if !ok || !s.of.rules.rules.Grows(n) {
		return
	}
	algebra.Walk(n.Step.Input, func(at algebra.Node) {
		self, ok := at.(*algebra.Source)
		if !ok || !n.Is(self) {
			return
		}
		for _, c := range self.Cols {
			algebra.Walk(n.Step.Input, func(at algebra.Node) {
				for _, e := range props.Equalities(algebra.Exprs(at)) {
					left, isLeft := e.Left.Column()
					right, isRight := e.Right.Column()
					if isLeft && left == c.ID || isRight && right == c.ID {
						s.index(c.Attr)
					}
				}
			})
		}
		n.Self.Indexed = s.relation.Indexed
	})
}

// index has the rows of the state found by one of its columns, which can be sorted.
func (s *State) index(attr int) {
	column := s.relation.Columns[attr]
	if slices.Contains(s.By, column.Name) || !column.Equality.Sorted() {
		return
	}
	s.By = append(s.By, column.Name)
	s.relation.Indexed = append(s.relation.Indexed, []int{attr})
	s.relation.Before.Indexed = s.relation.Indexed
}
