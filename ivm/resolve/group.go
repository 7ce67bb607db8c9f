package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// grouped reports whether a SELECT makes groups: by GROUP BY, HAVING, or an aggregate that belongs to it, wherever that stands.
func (r *resolver) grouped(q *sqltext.Select, s *scope, targets []target) bool {
	return len(q.Group) > 0 || !q.Having.IsZero() || r.wanted[s.level.at] ||
		slices.ContainsFunc(targets, func(t target) bool { return r.aggregates(t.expr) }) ||
		slices.ContainsFunc(q.Order, func(i sqltext.SortItem) bool { return r.aggregates(i.Expr) }) ||
		slices.ContainsFunc(q.DistinctOn, r.aggregates) || slices.ContainsFunc(q.Windows, r.aggregatesIn)
}

// aggregates reports whether an expression, but for its subqueries, calls an aggregate of the query in which it stands.
func (r *resolver) aggregates(e sqltext.Expr) bool {
	if call, ok := e.Call(); ok && r.isAggregate(call) || e.IsGrouping() {
		return !r.wanted[r.placeOf(e, outerCall)]
	}
	return slices.ContainsFunc(e.Children(), r.aggregates)
}

// aggregatesIn reports whether an item of the WINDOW clause calls an aggregate.
func (r *resolver) aggregatesIn(w sqltext.Window) bool {
	return slices.ContainsFunc(w.Partition, r.aggregates) || slices.ContainsFunc(w.Order, func(i sqltext.SortItem) bool { return r.aggregates(i.Expr) })
}

// alike has a subquery that is written in GROUP BY and once more elsewhere be one, as it is the key there.
func alike(q *sqltext.Select, targets []target) (*sqltext.Select, []target) {
	keys := slices.DeleteFunc(groupedBy(q.Group, targets), func(e sqltext.Expr) bool { return !hasSubquery(e) })
	if len(keys) == 0 {
		return q, targets
	}
	one := func(e sqltext.Expr) sqltext.Expr {
		return e.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
			at := slices.IndexFunc(keys, func(key sqltext.Expr) bool { return sqltext.Equal(key, e) })
			if at < 0 {
				return sqltext.Expr{}, false
			}
			return keys[at], true
		})
	}
	of := *q
	of.Having, targets = one(q.Having), slices.Clone(targets)
	for i, t := range targets {
		targets[i].expr = one(t.expr)
	}
	return &of, targets
}

// groupedBy are the expressions of GROUP BY, and those that it means by their position.
func groupedBy(items []sqltext.Grouping, targets []target) (all []sqltext.Expr) {
	for _, item := range items {
		for _, e := range item.Exprs {
			if n, ok := e.Integer(); ok && n > 0 && n <= len(targets) {
				e = targets[n-1].expr
			}
			all = append(all, e)
		}
		all = append(all, groupedBy(item.Sets, targets)...)
	}
	return all
}

// group resolves GROUP BY, HAVING and the select list over them; over has an expression over rows become one over the groups.
func (r *resolver) group(q *sqltext.Select, node algebra.Node, s *scope, targets []target) (rel relation, over func(algebra.Scalar) algebra.Scalar) {
	g := &grouper{resolver: r, values: &joining{resolver: r, scope: s, rows: &joining{resolver: r, scope: s, from: node}}, scope: s, node: &algebra.Aggregate{Input: node}}
	g.by = g.setsOf(q, s, targets)
	g.node.Global = len(g.by) == 1 && len(g.by[0]) == 0
	having, early := g.having(q)
	if len(early) > 0 {
		g.node.Input = &algebra.Filter{Input: node, Conds: early}
	}
	windows, rows := &windowing{resolver: r, scope: s}, &sets{resolver: r, scope: s}
	rel = r.project(nil, targets, s, func(t target) algebra.Scalar {
		return rows.bind(t, func(t target) algebra.Scalar { return windows.over(g.over(g.values.bind(t.expr, ""), t.expr.At())) })
	})
	for i, side := range g.values.sides {
		g.values.sides[i] = side.mapped(func(e algebra.Scalar) algebra.Scalar { return g.over(e, side.at) })
	}
	g.sorted(q, s)
	g.node.Input = attach(g.node.Input, g.values.rows.sides)
	input := attach(g.grouped(q.Pos), g.values.sides)
	if len(having) > 0 {
		input = &algebra.Filter{Input: input, Conds: having}
	}
	rel.node = rel.node.With([]algebra.Node{rows.over(windows.attach(input))})
	return rel, func(e algebra.Scalar) algebra.Scalar { return g.over(e, q.Pos) }
}

// sorted adds the aggregates by which first groups are found, before anything stands on the groups.
func (g *grouper) sorted(q *sqltext.Select, s *scope) {
	if q.Limit.IsZero() && q.Offset.IsZero() && len(q.DistinctOn) == 0 {
		return
	}
	list := slices.Clone(q.DistinctOn)
	for _, item := range q.Order {
		list = append(list, item.Expr)
	}
	for _, e := range list {
		if _, isName := e.Ref(); !isName && !e.IsConstant() { // which may mean a column of the output
			g.over(g.apart().silent().bind(e, s, ""), e.At())
		}
	}
}

// having resolves HAVING into conditions on groups and on rows. PostgreSQL moves what calls no aggregate below the groups, so that nothing is
// computed of rows which it leaves out; the one group that is made of any rows has it above, too.
func (g *grouper) having(q *sqltext.Select) (groups, rows []algebra.Scalar) {
	written := q.Having.Conjuncts()
	grouped := slices.ContainsFunc(q.Group, func(item sqltext.Grouping) bool { return slices.ContainsFunc(item.Exprs, g.tells) })
	var bound []algebra.Scalar
	joins := make([]bool, len(written)) // it reads subqueries, which are joined, or the time
	for i, e := range written {
		moves := false
		if !grouped && !g.aggregatesMoment(e) {
			e, moves = g.values.moments(e)
		}
		bound = append(bound, g.values.bind(e, ""))
		joins[i] = moves || hasSubquery(e)
	}
	g.checkCondition(bound, "HAVING")
	if inner, ok := g.callIn([]sqltext.Expr{q.Having}, isWindow); ok {
		g.errs.Add(misplacedWindow(g.pos(inner.Pos), "HAVING"))
	}
	for i, e := range written {
		over := g.over(bound[i], e.At())
		moves := !g.sets && !g.aggregates(e) && !joins[i]
		if moves {
			rows = append(rows, bound[i])
		}
		if !moves || g.node.Global {
			groups = append(groups, over)
		}
	}
	return groups, rows
}

// grouper collects the keys and aggregates that a SELECT needs.
type grouper struct {
	*resolver
	values *joining
	scope  *scope // of the rows
	node   *algebra.Aggregate
	sets   bool // it says grouping sets
	by     []keySet

	groupings []grouping
}

// keys are those of a plain item of GROUP BY.
func (g *grouper) keys(item sqltext.Grouping, s *scope, targets []target) keySet {
	var keys keySet
	for _, e := range item.Exprs {
		if t, ok := g.meant(e, s, targets); ok {
			key := g.values.rows.bind(t.expr, "GROUP BY")
			g.checker().Groupable(key.Expr)
			keys = union(keys, keySet{g.key(key, t.name)})
		}
	}
	return keys
}

// meant is the target that an item of GROUP BY names by its position or alias, or the item itself.
func (g *grouper) meant(e sqltext.Expr, s *scope, targets []target) (target, bool) {
	if n, ok := e.Integer(); ok {
		if n < 1 || n > len(targets) {
			g.errs.Add(badPosition(g.pos(e.At()), "GROUP BY", n))
			return target{}, false
		}
		return targets[n-1], true
	}
	if e.IsConstant() && !e.IsBoolean() {
		g.errs.Add(notInteger(g.pos(max(0, e.At())), "GROUP BY"))
		return target{}, false
	}
	ref, ok := e.Ref()
	if !ok || len(ref.Parts) != 1 || ref.Star {
		return target{name: sqltext.FigureName(e, nil), expr: e, at: e.At()}, true
	}
	name := ref.Parts[0]
	if n := slices.IndexFunc(targets, func(t target) bool { return t.name == name }); n >= 0 && len(named(s.visible, name)) == 0 {
		return targets[n], true
	}
	return target{name: name, expr: e, at: e.At()}, true
}

// key adds a key to group by and returns its column.
func (g *grouper) key(e algebra.Scalar, name string) algebra.ColID {
	if id, ok := g.keyOf(e.Expr); ok {
		return id
	}
	info := g.computed(name, e)
	if id, ok := e.Column(); ok {
		info = g.columns.Info(id)
	}
	id := g.typed(info, func() catalog.Shape { return g.shape(e.Expr, g.scope) }, e.Expr)
	g.node.Keys = append(g.node.Keys, algebra.Item{ID: id, Expr: e})
	return id
}

func (g *grouper) keyOf(e sqltext.Expr) (algebra.ColID, bool) {
	for _, k := range g.node.Keys {
		if sqltext.Equal(k.Expr.Expr, e) {
			return k.ID, true
		}
	}
	return 0, false
}

// over turns an expression over rows into one over groups: what equals a key
// becomes the key's column, and each aggregate a column of its own.
func (g *grouper) over(e algebra.Scalar, at int) algebra.Scalar {
	return algebra.Scalar{Expr: e.Expr.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		if id, ok := g.keyOf(e); ok {
			return sqltext.Column(int(id)), true
		}
		if call, ok := e.Call(); ok && g.isAggregate(call) {
			return sqltext.Column(int(g.aggregate(e, call))), true
		}
		if id, ok := e.Column(); ok {
			if call, ok := g.scope.level.aggregateOf(algebra.ColID(id)); ok {
				return g.over(call, at).Expr, true
			}
		}
		if id, ok := e.Column(); ok && g.scope.owns(algebra.ColID(id)) {
			if row, ok := g.wholes[algebra.ColID(id)]; ok {
				return g.dependentRow(row, algebra.ColID(id), at), true
			}
			return sqltext.Column(int(g.dependent(algebra.ColID(id), at))), true
		}
		if e.IsGrouping() {
			return g.grouping(e), true
		}
		return sqltext.Expr{}, false
	})}
}

// dependent is a column that the keys determine: that of a table whose primary
// key is among them. It becomes a key too, which makes no other groups.
func (g *grouper) dependent(id algebra.ColID, at int) algebra.ColID {
	from, ok := g.origin[id]
	if !ok || !g.determined(from) {
		g.errs.Add(mustBeGrouped(g.pos(at), g.columns.Info(id).Name))
		return id
	}
	info := g.columns.Info(id)
	if info.Equality == catalog.NoEquality {
		g.full(at, "group that a column of type "+info.Type+" belongs to", "types without equality make no keys: select it in a stream table of its own, or cast it")
	}
	key := g.key(algebra.Ref(id), info.Name)
	for i, set := range g.by { // which do not become other ones by it
		g.by[i] = union(set, keySet{key})
	}
	return key
}

func (g *grouper) determined(from origin) bool {
	if from.source.Table.Kind == catalog.View || len(from.source.Table.Key) == 0 {
		return false
	}
	for _, attr := range from.source.Table.Key {
		if key, ok := g.keyOf(sqltext.Column(int(from.source.Cols[attr].ID))); !ok || !g.everywhere(key) {
			return false
		}
	}
	return true
}

// aggregate adds an aggregate, unless the same one is there.
func (g *grouper) aggregate(e sqltext.Expr, call sqltext.Call) algebra.ColID {
	if g.scope.order != nil {
		e = g.ordered(e, call, g.scope.order)
		call, _ = e.Call()
	}
	for _, a := range g.node.Aggs {
		if sqltext.Equal(a.Call.Expr, e) {
			return a.ID
		}
	}
	info := g.computed(call.Name, algebra.Scalar{Expr: e})
	if g.picks(call) {
		info.Varied, info.Any = false, info.Varied || info.Any
	}
	agg := algebra.Agg{ID: g.typed(info, func() catalog.Shape { return g.resultOf(e, g.scope).Shape }, e), Call: algebra.Scalar{Expr: e}}
	if g.isBuiltin(call) && len(call.Order) == 0 && !call.WithinGroup && !call.Variadic {
		agg.Func, agg.Distinct = call.Name, call.Distinct
		for _, arg := range call.Args {
			agg.Args = append(agg.Args, algebra.Scalar{Expr: arg})
		}
		for _, cond := range call.Filter.Conjuncts() {
			agg.Filter = append(agg.Filter, algebra.Scalar{Expr: cond})
		}
	}
	g.node.Aggs = append(g.node.Aggs, agg)
	return agg.ID
}
