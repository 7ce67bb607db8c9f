package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// choose finds the conditions under which all that follows a view reads the changes of a table. They are tested before changes are added up, which then
// are fewer, and of which the planner knows better how many there are: behind the sum it expects one row of them, and joins changes to changes in nested
// loops (1 % of the rows: TPC-H's query 10 in 59 ms rather than 22).
func (p *Plan) choose() {
	p.chosen = map[*algebra.Source][]algebra.Scalar{}
	statements := []apply.Statement{p.Apply.Statement}
	for _, s := range p.States {
		statements = append(statements, s.Apply.Statement)
	}
	occurrences := map[*catalog.Relation]*algebra.Source{}
	read := func(n algebra.Node, conds []algebra.Scalar) {
		changes, ok := n.(*algebra.Changes)
		if !ok || changes.Of.Table.Before != nil { // a state, which has no log
			return
		}
		of := changes.Of
		if first, known := occurrences[of.Table]; !known {
			occurrences[of.Table] = of
			p.chosen[of] = slices.DeleteFunc(slices.Clone(conds), func(c algebra.Scalar) bool { return !p.view.comparesConstants(c) })
		} else if first != of { // one log for several occurrences
			p.chosen[first] = nil
		} else {
			p.chosen[of] = slices.DeleteFunc(p.chosen[of], func(c algebra.Scalar) bool { return !emit.Holds(conds, c) })
		}
	}
	for _, s := range statements {
		for _, root := range s.Trees() {
			read(root, nil)
			algebra.Walk(root, func(n algebra.Node) {
				var conds []algebra.Scalar
				if f, ok := n.(*algebra.Filter); ok {
					conds = f.Conds
				}
				for _, in := range n.Inputs() {
					read(in, conds)
				}
			})
		}
	}
}

// Chosen are the conditions under which Apply and States read the changes of a table, over row alias.
func (p *Plan) Chosen(of *catalog.Relation, alias string) []string {
	for s, conds := range p.chosen {
		if s.Table == of {
			return emit.Over(s, conds, alias)
		}
	}
	return nil
}

// settledTypes are those whose comparisons fail for no values, though what a constant says may depend on settings, which hold where changes are read, too.
var settledTypes = []string{"character", "date", "timestamp without time zone", "timestamp with time zone", "real", "double precision"}

// comparesConstants reports whether a condition compares a column of a plain type with constants, or with another, so that it fails for no row.
func (v *view) comparesConstants(cond algebra.Scalar) bool {
	form := cond.Expr.Form()
	switch form.Kind {
	case sqltext.OperationForm, sqltext.ListForm, sqltext.BetweenForm, sqltext.AnyForm:
		if name := form.Operator.Name; form.Kind != sqltext.BetweenForm && !slices.Contains([]string{"=", "<>", "<", "<=", ">", ">=", "~~", "!~~"}, name) {
			return false
		}
	default:
		return false
	}
	return !slices.ContainsFunc(form.Parts, func(part sqltext.Expr) bool {
		id, column := part.Column()
		return !column && len(part.Columns()) > 0 || column && !v.isOf(algebra.ColID(id), plainTypes) && !v.isOf(algebra.ColID(id), settledTypes)
	}) && len(cond.Columns()) > 0
}

// Tables completes what Apply and States are written with, where logs are read under the conditions of Chosen.
func (p *Plan) Tables(t Tables) Tables {
	if !t.Raw {
		t.Chosen = p.chosen
	}
	return t
}
