package resolve

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// A test of a subquery within an expression is a column: rows for which it is true, those for which it is false and those for which it is null are those that
// semi-joins and anti-joins keep, each with that value beside them. None of them is of two kinds.

// mark is a column that says what a test makes of a row.
type mark struct {
	id       algebra.ColID
	branches []markBranch
}

// markBranch are the rows that pass tests, semi-joins without their left side, with the value that they have.
type markBranch struct {
	value sqltext.Expr
	tests []*algebra.Semi
}

// marked marks rows by EXISTS (…), x = ANY (…) or x > ALL (…).
func (j *joining) marked(e sqltext.Expr, rel relation) (side, sqltext.Expr, bool) {
	bound := j.bindWith(e, j.scope, j.clause, func(inner sqltext.Expr, sub sqltext.Subquery) (relation, sqltext.Expr) {
		if inner.SubqueryID() == e.SubqueryID() {
			return rel, sqltext.Expr{}
		}
		return j.subquery(inner, sub)
	})
	t := tested{expr: e, rel: rel}
	t.sub, _ = bound.Expr.Subquery()
	m := &marking{tested: t, ok: true}
	var ok bool
	if m.partners, ok = j.partners(rel.node, j.joined()); !ok {
		return side{}, sqltext.Expr{}, false
	}
	short := j.short[e.SubqueryID()]
	if !short && t.sub.Kind == sqltext.Any && j.from != nil {
		m.neverNull = j.neverNull(j.from, t)
		short = m.neverNull != nil
	}
	made := &mark{branches: m.branches(short)}
	if !m.ok {
		return side{}, sqltext.Expr{}, false
	}
	made.id = j.newColumn(algebra.Info{Name: string(t.sub.Kind), Type: "boolean", Equality: catalog.HashedEquality}, of(catalog.Shape{Kind: catalog.ValueShape}))
	j.types[made.id] = "boolean"
	return side{mark: made}, sqltext.Column(int(made.id)), true
}

// marking makes the tests of a mark.
type marking struct {
	tested
	partners  partners
	neverNull []algebra.ColID
	ok        bool
}

// branches are the kinds of rows. short: those of which the test is null may be taken for those of which it is false.
func (m *marking) branches(short bool) []markBranch {
	yes, no, null := sqltext.True(), sqltext.False(), sqltext.Null("boolean")
	if m.sub.Kind == sqltext.Exists {
		return []markBranch{m.branch(yes, m.some(sqltext.Expr{})), m.branch(no, m.none(sqltext.Expr{}))}
	}
	is, ok := m.comparison()
	if !ok {
		m.ok = false
		return nil
	}
	switch all := m.sub.Kind == sqltext.All; {
	case all && short:
		return []markBranch{m.branch(yes, m.none(sqltext.IsNotTrue(is))), m.branch(no, m.some(sqltext.IsNotTrue(is)))}
	case all:
		return []markBranch{
			m.branch(yes, m.none(sqltext.IsNotTrue(is))), m.branch(no, m.some(sqltext.IsFalse(is))),
			m.branch(null, m.none(sqltext.IsFalse(is)), m.some(sqltext.IsNull(is))),
		}
	case short:
		return []markBranch{m.branch(yes, m.some(is)), m.branch(no, m.none(is))}
	}
	return []markBranch{
		m.branch(yes, m.some(is)), m.branch(no, m.none(sqltext.IsNotFalse(is))), m.branch(null, m.none(is), m.some(sqltext.IsNull(is))),
	}
}

func (m *marking) branch(value sqltext.Expr, tests ...*algebra.Semi) markBranch {
	return markBranch{value, tests}
}

// some keeps rows for which a condition is true of some row of the subquery, and none those for which it is true of none.
func (m *marking) some(cond sqltext.Expr) *algebra.Semi { return m.test(cond, false) }
func (m *marking) none(cond sqltext.Expr) *algebra.Semi { return m.test(cond, true) }

func (m *marking) test(cond sqltext.Expr, anti bool) *algebra.Semi {
	n := &algebra.Semi{Anti: anti, NeverNull: m.neverNull}
	for _, c := range cond.Conjuncts() {
		n.On = append(n.On, algebra.Scalar{Expr: c})
	}
	return m.partners.test(n)
}

// over marks the rows of a tree. together: the kinds of rows stay one relation, as there are other marks, with whose kinds they would multiply.
func (m *mark) over(node algebra.Node, together bool) algebra.Node {
	u := &algebra.Union{Cols: append(node.Columns(), m.id), Mixed: together}
	for _, b := range m.branches {
		kept := node
		for _, t := range b.tests {
			kept = &algebra.Semi{Left: kept, Right: t.Right, On: t.On, Anti: t.Anti, NeverNull: t.NeverNull}
		}
		p := &algebra.Project{Input: kept, Items: append(algebra.Same(node.Columns()), algebra.Item{ID: m.id, Expr: algebra.Scalar{Expr: b.value}})}
		u.From = append(u.From, algebra.Branch{Input: p, Cols: u.Cols})
	}
	return u
}

// shortTests notes the tests in a condition that must be true whose result may be false where it is null.
func shortTests(e sqltext.Expr, found map[any]bool) {
	word, parts := e.Logic()
	if _, ok := e.Subquery(); ok {
		found[e.SubqueryID()] = true
	}
	if word == "AND" || word == "OR" {
		for _, part := range parts {
			shortTests(part, found)
		}
	}
}
