package apply

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Inputs are the changes of the groups' rows with columns for what accumulators add up: keys, values and whether they are counted.
func (g *Groups) Inputs(changes algebra.Node, columns *algebra.Columns) algebra.Node {
	p, names := &algebra.Project{Input: changes}, g.InputNames()
	add := func(e algebra.Scalar, least catalog.Equality, varied bool) { // varied: of equal values each counts for itself
		typ := columns.TypeOf(e)
		info := algebra.Info{Name: names[len(p.Items)], Type: typ, Equality: max(catalog.EqualityOf(typ), least), Varied: varied}
		p.Items = append(p.Items, algebra.Item{ID: columns.New(info), Expr: e})
	}
	for _, k := range g.Node.Keys {
		add(k.Expr, catalog.OrderedEquality, false) // or the query could not group by it
	}
	for _, a := range g.own() {
		scales := slices.ContainsFunc(g.Accumulators, func(b Accumulator) bool { return b.Input == a.Name && b.Kind == Scales })
		switch {
		case a.Extreme():
			add(a.Arg, catalog.OrderedEquality, scales) // or there would be no least or greatest
		case !a.Arg.Expr.IsZero():
			add(a.Arg, catalog.NoEquality, scales)
		}
		if len(a.Filter) > 0 {
			add(All(a.Filter), catalog.HashedEquality, false)
		}
	}
	return p
}

// InputNames are the names of the columns of Inputs.
func (g *Groups) InputNames() []string {
	names := Names(g.Keys)
	for _, a := range g.own() {
		if !a.Arg.Expr.IsZero() {
			names = append(names, a.Name)
		}
		if len(a.Filter) > 0 {
			names = append(names, a.Name+"_if")
		}
	}
	return names
}

// own are the accumulators with a column of Inputs of their own.
func (g *Groups) own() []Accumulator {
	var own []Accumulator
	for _, a := range g.Accumulators {
		if a.Input == a.Name {
			own = append(own, a)
		}
	}
	return own
}

// All is the condition that all of several hold.
func All(conds []algebra.Scalar) algebra.Scalar {
	exprs := make([]sqltext.Expr, len(conds))
	for i, c := range conds {
		exprs[i] = c.Expr
	}
	return algebra.Scalar{Expr: sqltext.And(exprs...)}
}
