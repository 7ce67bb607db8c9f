package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// where keeps the rows for which a condition is true. Those of its conjuncts that look for a row of a subquery become semi-joins and anti-joins.
func (r *resolver) where(node algebra.Node, cond sqltext.Expr, s *scope, clause string) algebra.Node {
	return (&joining{resolver: r, scope: s, from: node}).where(cond, clause)
}

func (values *joining) where(cond sqltext.Expr, clause string) algebra.Node {
	r, s, node := values.resolver, values.scope, values.from
	values.short, values.clause = map[any]bool{}, clause
	var all, plain, early []algebra.Scalar
	var tests []tested
	for _, e := range cond.Conjuncts() {
		test, ok := testOf(e)
		if !ok {
			sides := len(values.sides)
			e, moves := values.moments(e)
			shortTests(e, values.short)
			bound := values.bind(e, clause)
			if all = append(all, bound); moves || len(values.sides) > sides {
				plain = append(plain, bound)
			} else {
				early = append(early, bound)
			}
			continue
		}
		bound := r.bindWith(e, s, clause, func(inner sqltext.Expr, sub sqltext.Subquery) (relation, sqltext.Expr) {
			if inner.SubqueryID() != test.expr.SubqueryID() {
				return values.subquery(inner, sub)
			}
			test.rel = values.query(sub.Query, s)
			return test.rel, sqltext.Expr{}
		})
		if at, ok := testOf(bound.Expr); ok {
			test.sub = at.sub
		}
		all, tests = append(all, bound), append(tests, test)
	}
	r.checkCondition(all, clause)
	if len(early) > 0 {
		node = &algebra.Filter{Input: node, Conds: early}
	}
	if node = attach(node, values.sides); len(plain) > 0 {
		node = &algebra.Filter{Input: node, Conds: plain}
	}
	for _, t := range tests {
		semi := r.semi(node, t)
		if semi == nil {
			r.full(t.expr.At(), "subquery in an expression", subqueryHint)
			continue
		}
		node = semi
	}
	return node
}

// tested is a condition of the forms EXISTS (…), x = ANY (…) and x = ALL (…), or NOT before one.
type tested struct {
	expr    sqltext.Expr // without NOT
	negated bool
	sub     sqltext.Subquery
	rel     relation // the rows of the subquery
}

// isTest reports whether a condition becomes a semi-join or an anti-join, which may change the order of rows.
func isTest(e sqltext.Expr) bool {
	_, ok := testOf(e)
	return ok
}

func testOf(e sqltext.Expr) (tested, bool) {
	negated := false
	for {
		word, args := e.Logic()
		if word != "NOT" {
			break
		}
		negated, e = !negated, args[0]
	}
	sub, ok := e.Subquery()
	return tested{expr: e, negated: negated, sub: sub}, ok && (sub.Kind == sqltext.Exists || sub.Kind == sqltext.Any || sub.Kind == sqltext.All)
}

// semi is the semi-join or anti-join that keeps the rows of left for which the condition is true; nil for one that is not followed. In a condition that must be
// true, NOT IN asks that no comparison is true or null, and x > ALL that each is true.
func (r *resolver) semi(left algebra.Node, t tested) algebra.Node {
	rows := t.rel.node
	if t.sub.Kind == sqltext.Exists {
		rows = unlimited(rows)
	}
	n := &algebra.Semi{Left: left, Anti: t.negated != (t.sub.Kind == sqltext.All)}
	if t.sub.Kind != sqltext.Exists {
		compared, ok := t.compared()
		if !ok {
			return nil
		}
		if t.negated && t.sub.Kind == sqltext.Any {
			if n.NeverNull = r.neverNull(left, t); n.NeverNull == nil {
				compared = sqltext.IsNotFalse(compared)
			}
		}
		for _, c := range compared.Conjuncts() {
			n.On = append(n.On, algebra.Scalar{Expr: c})
		}
	}
	right, ok := r.partners(rows, left)
	if !ok {
		return nil
	}
	return right.test(n)
}

// unlimited is a relation that has a row where another one has: there is a first one where there is any.
func unlimited(n algebra.Node) algebra.Node {
	switch n := n.(type) {
	case *algebra.Project:
		if top, ok := n.Input.(*algebra.Top); ok {
			return unlimited(top)
		}
	case *algebra.Top:
		if count, ok := n.Count.Expr.Integer(); n.Offset.Expr.IsZero() && (n.Count.Expr.IsZero() || ok && count > 0) {
			return unlimited(n.Input)
		}
	}
	return n
}

// compared is the comparison that a row of the subquery makes true, for NOT IN without what nulls make of it.
func (t tested) compared() (sqltext.Expr, bool) {
	compared, ok := t.comparison()
	switch {
	case !ok:
	case t.sub.Kind == sqltext.All && t.negated:
		compared = sqltext.IsFalse(compared)
	case t.sub.Kind == sqltext.All:
		compared = sqltext.IsNotTrue(compared)
	}
	return compared, ok
}

// comparison is that of what is tested with a row of the subquery.
func (t tested) comparison() (sqltext.Expr, bool) {
	values := t.values()
	if len(values) != len(t.rel.ids) || len(values) > 1 && t.sub.Operator.Name != "=" {
		return sqltext.Expr{}, false
	}
	var all []sqltext.Expr
	for i, value := range values {
		all = append(all, sqltext.Compare(t.sub.Operator, value, sqltext.Column(int(t.rel.ids[i]))))
	}
	return sqltext.And(all...), true
}

// values are what is compared with the columns of the subquery.
func (t tested) values() []sqltext.Expr {
	if form := t.sub.Test.Form(); form.Kind == sqltext.RowForm {
		return form.Parts
	}
	return []sqltext.Expr{t.sub.Test}
}

// neverNull are the columns that NOT IN compares, where it compares columns by = that are never null: an index then finds the equal ones.
func (r *resolver) neverNull(left algebra.Node, t tested) []algebra.ColID {
	if t.sub.Operator.Name != "=" || t.sub.Operator.Schema != "" {
		return nil
	}
	known := props.New(r.columns)
	rows, ids := known.Of(left), slices.Clone(t.rel.ids)
	for i, value := range t.values() {
		id, ok := value.Column()
		if !ok || !rows.NotNull(algebra.ColID(id)) || !known.Of(t.rel.node).NotNull(t.rel.ids[i]) {
			return nil
		}
		ids = append(ids, algebra.ColID(id))
	}
	return ids
}
