package resolve

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// where keeps the rows for which a condition is true. Those of its conjuncts that look for a row of a subquery become semi-joins and anti-joins.
func (r *resolver) where(node algebra.Node, cond sqltext.Expr, s *scope) algebra.Node {
	var all, plain []algebra.Scalar
	var tests []tested
	for _, e := range cond.Conjuncts() {
		test, ok := testOf(e)
		if !ok {
			plain = append(plain, r.bind(e, s, "WHERE"))
			all = append(all, plain[len(plain)-1])
			continue
		}
		bound := r.bindWith(e, s, "WHERE", func(inner sqltext.Expr, sub sqltext.Subquery) relation {
			if inner.SubqueryID() != test.expr.SubqueryID() {
				r.full(inner.At(), "subquery in an expression", "")
				return r.query(sub.Query, s)
			}
			test.rel = r.query(sub.Query, s)
			return test.rel
		})
		if at, ok := testOf(bound.Expr); ok {
			test.sub = at.sub
		}
		all, tests = append(all, bound), append(tests, test)
	}
	r.checkCondition(all, "WHERE")
	if len(plain) > 0 {
		node = &algebra.Filter{Input: node, Conds: plain}
	}
	for _, t := range tests {
		semi := t.semi(node)
		if semi == nil {
			r.full(t.expr.At(), "subquery in an expression", "")
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

// semi is the semi-join or anti-join that keeps the rows of left for which the condition is true; nil for one whose subquery reads the rows around it in
// other places than its conditions. In a condition that must be true, NOT IN asks that no comparison is true or null, and x > ALL that each is true.
func (t tested) semi(left algebra.Node) algebra.Node {
	pulled := correlation{computed: map[algebra.ColID]algebra.Scalar{}}
	n := &algebra.Semi{Left: left, Right: pulled.up(t.rel.node), On: pulled.conds, Anti: t.negated != (t.sub.Kind == sqltext.All)}
	if t.sub.Kind != sqltext.Exists {
		compared, ok := t.compared()
		if !ok {
			return nil
		}
		for _, c := range compared.Conjuncts() {
			n.On = append(n.On, pulled.over(algebra.Scalar{Expr: c}))
		}
	}
	if !pulled.complete(n) {
		return nil
	}
	return n
}

// compared is the comparison that a row of the subquery makes true.
func (t tested) compared() (sqltext.Expr, bool) {
	values := []sqltext.Expr{t.sub.Test}
	if form := t.sub.Test.Form(); form.Kind == sqltext.RowForm {
		values = form.Parts
	}
	if len(values) != len(t.rel.ids) || len(values) > 1 && t.sub.Operator.Name != "=" {
		return sqltext.Expr{}, false
	}
	var all []sqltext.Expr
	for i, value := range values {
		all = append(all, sqltext.Compare(t.sub.Operator, value, sqltext.Column(int(t.rel.ids[i]))))
	}
	compared := sqltext.And(all...)
	switch {
	case t.sub.Kind == sqltext.Any && t.negated:
		compared = sqltext.IsNotFalse(compared)
	case t.sub.Kind == sqltext.All && t.negated:
		compared = sqltext.IsFalse(compared)
	case t.sub.Kind == sqltext.All:
		compared = sqltext.IsNotTrue(compared)
	}
	return compared, true
}
