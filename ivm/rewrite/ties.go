package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// tie says that an expression over a tree equals a column of the keys, or that both are null.
type tie struct {
	expr algebra.Scalar
	key  algebra.ColID
	null bool
}

// nulls are the columns of a node of which conditions say that they are null, as null keys of groups are looked up.
func nulls(on []algebra.Scalar, n algebra.Node) []algebra.ColID {
	var ids []algebra.ColID
	for _, cond := range on {
		form := cond.Expr.Form()
		if form.Kind != sqltext.NullTestForm && form.Kind != sqltext.DistinctForm {
			continue
		}
		if tested := form.Parts[0]; !sqltext.Equal(cond.Expr, sqltext.IsNull(tested)) && !sqltext.Equal(cond.Expr, sqltext.IsNullItself(tested)) {
			continue
		}
		if id, ok := form.Parts[0].Column(); ok && slices.Contains(n.Columns(), algebra.ColID(id)) {
			ids = append(ids, algebra.ColID(id))
		}
	}
	return ids
}

// once are the keys that ties name, each once: several may differ in others only.
func (r restriction) once(keys algebra.Node, ties []tie) (algebra.Node, []tie) {
	named := func(id algebra.ColID) bool { return slices.ContainsFunc(ties, func(t tie) bool { return t.key == id }) }
	if !slices.ContainsFunc(keys.Columns(), func(id algebra.ColID) bool { return !named(id) }) {
		return keys, ties
	}
	p, again := &algebra.Project{Input: keys}, map[algebra.ColID]algebra.ColID{}
	for _, id := range keys.Columns() {
		if named(id) {
			again[id] = r.columns.New(r.columns.Info(id))
			p.Items = append(p.Items, algebra.Item{ID: again[id], Expr: algebra.Ref(id)})
		}
	}
	fewer := make([]tie, len(ties))
	for i, t := range ties {
		fewer[i] = tie{t.expr, again[t.key], t.null}
	}
	return &algebra.Distinct{Input: p}, fewer
}

// alike reports whether both sides of an equality have one type. Of two types, a value of one may equal several of the other that differ.
func (r restriction) alike(e props.Equality) bool {
	typ := r.columns.TypeOf(e.Left)
	return typ != "" && sqltext.Unsized(typ) == sqltext.Unsized(r.columns.TypeOf(e.Right))
}

// both are the ties of the two sides of a join: what its conditions say is equal to a tied column is tied, too.
func (r restriction) both(left, right algebra.Node, on []algebra.Scalar, ties []tie) (l, rt []tie) {
	for _, t := range ties {
		exprs := []algebra.Scalar{t.expr}
		for _, e := range props.Equalities(on) {
			switch {
			case !r.alike(e):
			case sqltext.Equal(e.Left.Expr, t.expr.Expr):
				exprs = append(exprs, e.Right)
			case sqltext.Equal(e.Right.Expr, t.expr.Expr):
				exprs = append(exprs, e.Left)
			}
		}
		l, rt = appendFirst(l, left, exprs, t), appendFirst(rt, right, exprs, t)
	}
	return l, rt
}

// appendFirst adds the first of expressions that are equal which reads columns of a node only.
func appendFirst(ties []tie, n algebra.Node, exprs []algebra.Scalar, of tie) []tie {
	for _, e := range exprs {
		if e.MadeOf(n.Columns()) {
			return append(ties, tie{e, of.key, of.null})
		}
	}
	return ties
}

// below are the ties over what items are computed from. Ties of computed columns are lost, but for keys of groups.
func below(ties []tie, items []algebra.Item) []tie {
	var all []tie
	for _, t := range ties {
		id, ok := t.expr.Column()
		if !ok {
			continue
		}
		for _, item := range items {
			if item.ID == id {
				all = append(all, tie{item.Expr, t.key, t.null})
			}
		}
	}
	return all
}

// certain are the ties of the right side of an outer join that leave nothing out which is missed: those of the left side, and of columns that would be null.
func certain(ties []tie, left algebra.Node) []tie {
	return slices.DeleteFunc(slices.Clone(ties), func(t tie) bool {
		_, plain := t.expr.Column()
		return !t.expr.MadeOf(left.Columns()) && (t.null || !plain)
	})
}
