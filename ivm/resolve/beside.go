package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// beside are groups, of rows that may read columns of what the groups stand beside, as groups that do not: one for each of the values that are read.
type beside struct {
	groups    *algebra.Aggregate
	on        []algebra.Scalar      // which group belongs to a row beside
	ofNothing map[algebra.ColID]int // what aggregates are of no rows, those that are not null
	// domain are the values that are read, where the groups are made of these; its input is what the groups stand beside.
	domain *algebra.Project
}

// grouped makes groups that stand beside others of n.
func (r *resolver) groupsBeside(n *algebra.Aggregate) (beside, bool) {
	b := beside{ofNothing: map[algebra.ColID]int{}}
	if n.Global && len(n.Keys) == 0 && !r.knownOfNothing(n, b.ofNothing) {
		return b, false
	}
	if r.groupedByEqual(n, &b) {
		return b, true
	}
	return b, r.groupedByValues(n, &b)
}

// knownOfNothing finds what aggregates are of no rows where that is not null, and reports whether it is known of all.
func (r *resolver) knownOfNothing(n *algebra.Aggregate, values map[algebra.ColID]int) bool {
	for _, a := range n.Aggs {
		call, ok := a.Call.Expr.Call()
		if !ok || !r.isBuiltin(call) || r.columns.Info(a.ID).Type == "" {
			return false
		}
		if value, ok := valuesOfNothing[call.Name]; ok {
			values[a.ID] = value
		}
	}
	return true
}

// valuesOfNothing are those of PostgreSQL's aggregates that are not null of no rows.
var valuesOfNothing = map[string]int{"count": 0, "regr_count": 0, "rank": 1, "dense_rank": 1, "percent_rank": 0, "cume_dist": 1}

// groupedByEqual groups by what equalities compare with columns beside.
func (r *resolver) groupedByEqual(n *algebra.Aggregate, b *beside) bool {
	pulled := r.correlation()
	b.groups, b.on = &algebra.Aggregate{Input: pulled.rows(n.Input), Keys: slices.Clone(n.Keys), Aggs: n.Aggs}, nil
	for _, cond := range pulled.conds {
		on, ok := r.keyed(b.groups, pulled.over(cond))
		if !ok {
			return false
		}
		b.on = append(b.on, on)
	}
	return len(b.groups.Keys) > len(n.Keys) && algebra.Verify(b.groups) == nil
}

// groupedByValues makes groups for each combination of values that are read of what stands beside.
func (r *resolver) groupedByValues(n *algebra.Aggregate, b *beside) bool {
	read, ok := r.valuesRead(n)
	if !ok {
		return false
	}
	keys, added := slices.Clone(n.Keys), []algebra.ColID{}
	for _, id := range read.values {
		key := r.columns.New(r.columns.Info(id))
		keys, added = append(keys, algebra.Item{ID: key, Expr: algebra.Ref(id)}), append(added, key)
	}
	b.on = read.same(n.Input, added)
	over := read.over(&algebra.Aggregate{Input: n.Input, Keys: keys, Aggs: n.Aggs}).(*algebra.Aggregate)
	b.domain = read.domain
	input, ok := r.under(&algebra.Distinct{Input: b.domain}, over.Input)
	if !ok {
		return false
	}
	b.groups = &algebra.Aggregate{Input: input, Keys: over.Keys, Aggs: over.Aggs}
	return true
}

// keyed groups by the side of an equality that reads the groups' rows, and is the condition on the groups. A condition on the rows around is one as it is.
func (r *resolver) keyed(groups *algebra.Aggregate, cond algebra.Scalar) (algebra.Scalar, bool) {
	rows := groups.Input.Columns()
	if !slices.ContainsFunc(cond.Columns(), func(id algebra.ColID) bool { return slices.Contains(rows, id) }) {
		return cond, true
	}
	l, rt, ok := cond.Expr.Equality()
	left, right := algebra.Scalar{Expr: l}, algebra.Scalar{Expr: rt}
	if ok && !within(left, rows) {
		left, right = right, left
	}
	// Of two types, values of one that differ may equal the same value of the other, as of numeric and float.
	typ := r.typeOf(left)
	if !ok || len(left.Columns()) == 0 || !within(left, rows) || readsAny(right, rows) || typ == "" || r.catalog.PlainType(typ) != r.catalog.PlainType(r.typeOf(right)) {
		return algebra.Scalar{}, false
	}
	info := r.columns.InfoOf(left)
	if !info.Equality.Comparable() {
		return algebra.Scalar{}, false
	}
	key := algebra.Item{ID: r.columns.New(info), Expr: left}
	groups.Keys = append(groups.Keys, key)
	return algebra.Scalar{Expr: sqltext.Equals(sqltext.Column(int(key.ID)), right.Expr)}, true
}

// whole has the values of no rows in the place of null.
func (b beside) whole(e sqltext.Expr) sqltext.Expr {
	return e.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		id, _ := e.Column()
		value, ok := b.ofNothing[algebra.ColID(id)]
		return sqltext.Coalesce(e, sqltext.Integer(value)), ok
	})
}

// underGroups are groups of rows that may read columns of left, for each row of left.
func (r *resolver) underGroups(left algebra.Node, n *algebra.Aggregate) (algebra.Node, bool) {
	b, ok := r.groupsBeside(n)
	if !ok {
		return nil, false
	}
	if b.domain != nil {
		b.domain.Input = left
	}
	if !n.Global || len(n.Keys) > 0 {
		return &algebra.Join{Left: left, Right: b.groups, On: b.on}, true
	}
	p := &algebra.Project{Items: algebra.Same(left.Columns())}
	groups := *b.groups
	groups.Aggs = slices.Clone(groups.Aggs)
	for i, a := range groups.Aggs {
		id := r.columns.New(r.columns.Info(a.ID))
		groups.Aggs[i].ID = id
		value := sqltext.Column(int(id))
		if of, ok := b.ofNothing[a.ID]; ok {
			value = sqltext.Coalesce(value, sqltext.Integer(of))
		}
		p.Items = append(p.Items, algebra.Item{ID: a.ID, Expr: algebra.Scalar{Expr: value}})
	}
	p.Input = &algebra.Outer{Left: left, Right: &groups, On: b.on}
	return p, true
}

func readsAny(e algebra.Scalar, columns []algebra.ColID) bool {
	return slices.ContainsFunc(e.Columns(), func(id algebra.ColID) bool { return slices.Contains(columns, id) })
}
