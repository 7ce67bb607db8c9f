package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// joining binds expressions of which subqueries with one value become columns, of relations that are joined to the rows.
type joining struct {
	*resolver
	scope *scope
	sides []side
}

// side is a relation with a row at most for each row that it is joined to, or without conditions exactly one.
type side struct {
	node algebra.Node
	on   []algebra.Scalar
}

// bind is resolver.bind.
func (j *joining) bind(e sqltext.Expr, clause string) algebra.Scalar {
	within := map[any]bool{}
	j.inAggregates(e, false, within)
	return j.bindWith(e, j.scope, clause, func(e sqltext.Expr, sub sqltext.Subquery) (relation, sqltext.Expr) {
		return j.subquery(e, sub, !within[e.SubqueryID()])
	})
}

// inAggregates notes the subqueries within calls of aggregates, whose rows are other ones.
func (j *joining) inAggregates(e sqltext.Expr, within bool, found map[any]bool) {
	if call, ok := e.Call(); ok && j.isAggregate(call) {
		within = true
	}
	if _, ok := e.Subquery(); ok && within {
		found[e.SubqueryID()] = true
	}
	for _, below := range e.Children() {
		j.inAggregates(below, within, found)
	}
}

// subquery resolves a subquery, and joins it if it has one value that can be computed by groups.
func (j *joining) subquery(e sqltext.Expr, sub sqltext.Subquery, may bool) (relation, sqltext.Expr) {
	reasons := len(j.result.Full)
	rel := j.query(sub.Query, j.scope)
	if may && sub.Kind == sqltext.Scalar && rel.open == nil && len(rel.ids) == 1 {
		if s, value, ok := j.side(rel); ok {
			j.sides = append(j.sides, s)
			return rel, value
		}
	}
	j.result.Full = slices.Insert(j.result.Full, reasons, subqueryReason(j.pos(max(0, e.At()))))
	return rel, sqltext.Expr{}
}

// side is the subquery of one aggregate as groups, one for each value that its conditions compare with the rows around it. Where there is no group, the
// aggregates of no rows are null, and counts 0.
func (j *joining) side(rel relation) (s side, value sqltext.Expr, ok bool) {
	p, isProject := rel.node.(*algebra.Project)
	if !isProject {
		return side{}, value, false
	}
	all, isGroup := p.Input.(*algebra.Aggregate)
	if !isGroup || !all.Global || len(all.Keys) > 0 {
		return side{}, value, false
	}
	pulled := correlation{computed: map[algebra.ColID]algebra.Scalar{}}
	groups := &algebra.Aggregate{Input: pulled.rows(all.Input), Aggs: all.Aggs}
	if len(pulled.conds) == 0 {
		if algebra.Verify(all) != nil {
			return side{}, value, false
		}
		return side{node: all}, p.Items[0].Expr.Expr, true
	}
	for _, cond := range pulled.conds {
		if on, ok := j.keyed(groups, pulled.over(cond)); ok {
			s.on = append(s.on, on)
		} else {
			return side{}, value, false
		}
	}
	if len(groups.Keys) == 0 || algebra.Verify(groups) != nil {
		return side{}, value, false
	}
	counts := map[algebra.ColID]bool{}
	for _, a := range groups.Aggs {
		call, _ := a.Call.Expr.Call()
		if !j.isBuiltin(call) || call.WithinGroup || j.columns.Info(a.ID).Type == "" {
			return side{}, value, false
		}
		counts[a.ID] = call.Name == "count" || call.Name == "regr_count"
	}
	s.node = groups
	value = p.Items[0].Expr.Expr.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		id, isColumn := e.Column()
		return sqltext.Coalesce(e, sqltext.Integer(0)), isColumn && counts[algebra.ColID(id)]
	})
	return s, value, true
}

// keyed groups by the side of an equality that reads the groups' rows, and is the condition on the groups. A condition on the rows around is one as it is.
func (j *joining) keyed(groups *algebra.Aggregate, cond algebra.Scalar) (algebra.Scalar, bool) {
	rows := groups.Input.Columns()
	if !slices.ContainsFunc(cond.Columns(), func(id algebra.ColID) bool { return slices.Contains(rows, id) }) {
		return cond, true
	}
	l, r, ok := cond.Expr.Equality()
	left, right := algebra.Scalar{Expr: l}, algebra.Scalar{Expr: r}
	if ok && !within(left, rows) {
		left, right = right, left
	}
	// Of two types, values of one that differ may equal the same value of the other, as of numeric and float.
	typ := j.typeOf(left)
	if !ok || len(left.Columns()) == 0 || !within(left, rows) || readsAny(right, rows) || typ == "" || j.catalog.PlainType(typ) != j.catalog.PlainType(j.typeOf(right)) {
		return algebra.Scalar{}, false
	}
	info := j.columns.InfoOf(left)
	if !info.Equality.Comparable() {
		return algebra.Scalar{}, false
	}
	key := algebra.Item{ID: j.columns.New(info), Expr: left}
	groups.Keys = append(groups.Keys, key)
	return algebra.Scalar{Expr: sqltext.Equals(sqltext.Column(int(key.ID)), right.Expr)}, true
}

func readsAny(e algebra.Scalar, columns []algebra.ColID) bool {
	return slices.ContainsFunc(e.Columns(), func(id algebra.ColID) bool { return slices.Contains(columns, id) })
}

// attach joins the sides to a tree.
func attach(node algebra.Node, sides []side) algebra.Node {
	for _, s := range sides {
		if len(s.on) == 0 {
			node = &algebra.Join{Left: node, Right: s.node}
		} else {
			node = &algebra.Outer{Left: node, Right: s.node, On: s.on}
		}
	}
	return node
}
