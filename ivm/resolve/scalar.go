package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// joining binds expressions of which subqueries become columns, of relations that are joined to the rows.
type joining struct {
	*resolver
	scope  *scope
	sides  []side
	from   algebra.Node         // the rows of the scope; nil where the expressions are over groups
	rows   *joining             // of the rows that aggregates take, where the expressions are over groups
	short  map[any]bool         // subqueries whose result may be false where it is null
	known  map[any]replacedWith // by their ids
	beside *joining             // of the rows that those of an outer join are joined to
	clock  algebra.ColID        // the moment of a refresh, where an expression reads it; 0: none does
	clause string
}

// replacedWith is a subquery and what stands for it.
type replacedWith struct {
	rel   relation
	value sqltext.Expr
}

// side is a relation with a row at most for each row that it is joined to, or without conditions exactly one; or it marks rows by tests.
type side struct {
	node   algebra.Node
	on     []algebra.Scalar
	domain *algebra.Project // values of the rows that it is joined to, of which it is made
	mark   *mark
	at     int // where the subquery is
}

// bind is resolver.bind.
func (j *joining) bind(e sqltext.Expr, clause string) algebra.Scalar {
	within, fixed := map[any]bool{}, map[any]string{}
	j.inAggregates(e, false, within)
	inFixed(e, "", fixed)
	j.clause = clause
	return j.bindWith(e, j.scope, clause, func(e sqltext.Expr, sub sqltext.Subquery) (relation, sqltext.Expr) {
		if where := fixed[e.SubqueryID()]; where != "" {
			j.full(max(0, e.At()), "subquery in "+where, "write a constant")
			return j.query(sub.Query, j.scope), sqltext.Expr{}
		}
		if within[e.SubqueryID()] && j.rows != nil {
			return j.rows.subquery(e, sub)
		}
		return j.subquery(e, sub)
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

// subquery resolves a subquery, and joins it if it has one value that can be computed by groups, or is a test.
func (j *joining) subquery(e sqltext.Expr, sub sqltext.Subquery) (relation, sqltext.Expr) {
	for _, at := range []*joining{j, j.below()} {
		if found, ok := at.known[e.SubqueryID()]; ok {
			return found.rel, found.value
		}
	}
	reasons := len(j.result.Full)
	q := ofArray(sub)
	rel := j.query(q, j.scope)
	if q != sub.Query && len(rel.ids) > 1 {
		rel.ids, rel.names, rel.at = rel.ids[:1], rel.names[:1], rel.at[:1]
	}
	if sub.Kind != sqltext.Exists {
		for _, id := range rel.ids {
			if row, ok := j.resolver.rows[id]; ok {
				j.want(row)
			}
		}
	}
	if sub.Kind == sqltext.Scalar && rel.open == nil && len(rel.ids) == 1 {
		if value, ok := j.valueOfRow(rel); ok {
			return rel, value
		}
	}
	if rel.open == nil {
		at := j
		if sub.Kind == sqltext.Scalar || sub.Kind == sqltext.Array {
			at = j.around(rel.node)
		}
		if s, value, ok := at.sideOf(e, sub, rel); ok {
			s.at = e.At()
			at.sides = append(at.sides, s)
			if j.known == nil {
				j.known = map[any]replacedWith{}
			}
			j.known[e.SubqueryID()] = replacedWith{rel, value}
			return rel, value
		}
	}
	j.result.Full = slices.Insert(j.result.Full, reasons, subqueryReason(j.pos(max(0, e.At()))))
	return rel, sqltext.Expr{}
}

// around is what binds the expressions that a subquery with a value belongs to: those of the innermost query around it whose rows it reads, as its value is the
// same for all rows of queries between.
func (j *joining) around(n algebra.Node) *joining {
	at := j
	for at.from != nil && !at.isRead(n) && j.readsAny(n, nil) {
		up := at.beside
		if up == nil && at.scope.outer != nil {
			up = at.scope.outer.values
		}
		if up == nil || up.from == nil {
			break
		}
		at = up
	}
	return at
}

// joined are the rows with what is joined to them so far; nil for groups.
func (j *joining) joined() algebra.Node {
	if j.from == nil {
		return nil
	}
	return attach(j.from, j.sides)
}

// isRead reports whether a tree reads the rows, or what is joined to them.
func (j *joining) isRead(n algebra.Node) bool {
	return slices.ContainsFunc(props.New(j.columns).Of(n).Outer, func(id algebra.ColID) bool {
		return j.scope.owns(id) && (j.beside == nil || !slices.Contains(j.beside.from.Columns(), id))
	}) || slices.ContainsFunc(j.sides, func(s side) bool { return s.node != nil && j.readsAny(n, s.node) })
}

// query is resolver.query for a subquery in an expression that is bound.
func (j *joining) query(q sqltext.Query, s *scope) relation {
	defer func(values *joining) { s.values = values }(s.values)
	s.values = j
	return j.resolver.query(q, s)
}

// below is what binds expressions over the rows that are grouped; nothing is known of others.
func (j *joining) below() *joining {
	if j.rows == nil {
		return &joining{}
	}
	return j.rows
}

func (j *joining) sideOf(e sqltext.Expr, sub sqltext.Subquery, rel relation) (side, sqltext.Expr, bool) {
	switch sub.Kind {
	case sqltext.Exists, sqltext.Any, sqltext.All:
		return j.marked(e, rel)
	case sqltext.Array:
		if len(rel.ids) != 1 {
			return side{}, sqltext.Expr{}, false
		}
		array, ok := j.arrayOf(rel)
		if !ok {
			return side{}, sqltext.Expr{}, false
		}
		return j.side(array)
	case sqltext.Scalar:
		if len(rel.ids) != 1 {
			return side{}, sqltext.Expr{}, false
		}
		if s, value, ok := j.side(rel); ok {
			return s, value, true
		}
		if s, value, ok := j.single(rel); ok {
			return s, value, true
		}
		return j.first(rel)
	}
	return side{}, sqltext.Expr{}, false
}

// side is the subquery of aggregates as groups, one for each of the values that they read of the rows around. Where there is no group, the aggregates of no
// rows are null, counts 0 and ranks 1.
func (j *joining) side(rel relation) (s side, value sqltext.Expr, ok bool) {
	p, isProject := rel.node.(*algebra.Project)
	if !isProject {
		return side{}, value, false
	}
	all, isGroup := p.Input.(*algebra.Aggregate)
	if !isGroup || !all.Global || len(all.Keys) > 0 {
		return side{}, value, false
	}
	result := p.Items[0].Expr
	if algebra.Verify(all) == nil {
		return side{node: all}, result.Expr, true
	}
	b, ok := j.groupsBeside(all)
	if !ok {
		return side{}, value, false
	}
	return side{node: b.groups, on: b.on, domain: b.domain}, b.whole(result.Expr), true
}

// single is a subquery that has a row at most, as its conditions compare a key of a table with the rows around.
func (j *joining) single(rel relation) (s side, value sqltext.Expr, ok bool) {
	pulled := j.correlation()
	node := pulled.rows(rel.node)
	columns := node.Columns()
	for i := range pulled.conds {
		s.on = append(s.on, pulled.over(pulled.conds[i]))
	}
	var tied []algebra.ColID
	for _, e := range props.Equalities(s.on) {
		for _, sides := range [][2]algebra.Scalar{{e.Left, e.Right}, {e.Right, e.Left}} {
			id, isColumn := sides[0].Column()
			if isColumn && slices.Contains(columns, id) && !readsAny(sides[1], columns) && j.catalog.PlainType(j.typeOf(sides[0])) == j.catalog.PlainType(j.typeOf(sides[1])) {
				tied = append(tied, id)
			}
		}
	}
	key := props.New(j.columns).Of(node).Key(tied)
	if key == nil {
		return side{}, value, false
	}
	value = sqltext.Column(int(rel.ids[0]))
	if computed, ok := pulled.computed[rel.ids[0]]; ok { // of both sides: null where there is no row
		value = parsed("case when k is not null then v end", map[string]int{"k": int(key[0]), "v": int(rel.ids[0])}).Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
			id, _ := e.Column()
			return computed.Expr, algebra.ColID(id) == rel.ids[0]
		})
	}
	found := partners{pulled: pulled, rows: node}.test(&algebra.Semi{On: []algebra.Scalar{{Expr: value}}}).Right
	if j.readsAny(found, j.from) || slices.ContainsFunc(found.Columns(), func(id algebra.ColID) bool { return j.columns.Info(id).Type == "" }) {
		return side{}, value, false
	}
	s.node = found
	return s, value, true
}

// mapped is the side with other expressions over what it is joined to.
func (s side) mapped(over func(algebra.Scalar) algebra.Scalar) side {
	all := func(exprs []algebra.Scalar) []algebra.Scalar {
		var mapped []algebra.Scalar
		for _, e := range exprs {
			mapped = append(mapped, over(e))
		}
		return mapped
	}
	s.on = all(s.on)
	if s.domain != nil {
		for i, item := range s.domain.Items {
			s.domain.Items[i].Expr = over(item.Expr)
		}
	}
	if s.mark != nil {
		for _, b := range s.mark.branches {
			for _, t := range b.tests {
				t.On = all(t.On)
			}
		}
	}
	return s
}

// attach joins the sides to a tree.
func attach(node algebra.Node, sides []side) algebra.Node {
	last := -1
	for i, s := range sides {
		if s.mark != nil {
			last = i
		}
	}
	for i, s := range sides {
		if s.domain != nil {
			s.domain.Input = node
		}
		switch {
		case s.mark != nil:
			node = s.mark.over(node, i < last)
		case len(s.on) == 0:
			node = &algebra.Join{Left: node, Right: s.node}
		default:
			node = &algebra.Outer{Left: node, Right: s.node, On: s.on}
		}
	}
	return node
}
