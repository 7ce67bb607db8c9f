package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// mostSets is how many grouping sets are followed: each is a statement's part of its own.
const mostSets = 128

// keySet are keys to group by at once.
type keySet []algebra.ColID

// grouping is GROUPING(…) as a column.
type grouping struct {
	id   algebra.ColID
	args keySet
}

// sets are those by which GROUP BY groups, one if it says no grouping sets: of each item one, in all ways.
func (g *grouper) setsOf(q *sqltext.Select, s *scope, targets []target) []keySet {
	sets := []keySet{nil}
	for _, item := range q.Group {
		var crossed []keySet
		of := g.itemSets(item, s, targets)
		if len(sets)*len(of) > mostSets {
			g.full(max(0, item.Pos), "more than "+itoa(mostSets)+" grouping sets", "write a stream table for each grouping")
			of = of[:1]
		}
		for _, before := range sets {
			for _, set := range of {
				crossed = append(crossed, union(before, set))
			}
		}
		sets = crossed
	}
	if !q.GroupDistinct {
		return sets
	}
	var distinct []keySet
	for _, set := range sets {
		if !slices.ContainsFunc(distinct, func(other keySet) bool { return len(other) == len(set) && len(union(other, set)) == len(set) }) {
			distinct = append(distinct, set)
		}
	}
	return distinct
}

func union(a, b keySet) keySet {
	all := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// itemSets are the sets of an item of GROUP BY.
func (g *grouper) itemSets(item sqltext.Grouping, s *scope, targets []target) []keySet {
	var parts, sets []keySet
	switch item.Kind {
	case sqltext.Empty:
		return []keySet{nil}
	case sqltext.Plain:
		return []keySet{g.keys(item, s, targets)}
	case sqltext.Sets:
		g.sets = true
		for _, set := range item.Sets {
			sets = append(sets, g.itemSets(set, s, targets)...)
		}
		return sets
	}
	g.sets = true
	for _, part := range item.Sets {
		parts = append(parts, g.keys(part, s, targets))
	}
	if item.Kind == sqltext.Rollup {
		for n := len(parts); n >= 0; n-- {
			sets = append(sets, union(nil, slices.Concat(parts[:n]...)))
		}
		return sets
	}
	if len(parts) > 12 { // PostgreSQL takes no more
		g.full(max(0, item.Pos), "more than "+itoa(mostSets)+" grouping sets", "write a stream table for each grouping")
		parts = nil
	}
	for without := range 1 << len(parts) {
		var set keySet
		for n, part := range parts {
			if without>>(len(parts)-1-n)&1 == 0 {
				set = union(set, part)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// everywhere reports whether a key is in all sets.
func (g *grouper) everywhere(id algebra.ColID) bool {
	return !slices.ContainsFunc(g.by, func(set keySet) bool { return !slices.Contains(set, id) })
}

// grouped are the groups: of several sets those of each, with nulls for the keys that it lacks.
func (g *grouper) grouped(at int) algebra.Node {
	if len(g.by) == 1 {
		return g.node
	}
	u := &algebra.Union{Cols: g.node.Columns()}
	for _, k := range g.node.Keys {
		info := g.columns.Info(k.ID)
		if info.Type == "" {
			g.full(at, "grouping sets by a column whose type only the server knows", "cast it")
			return g.node
		}
		u.Mixed = u.Mixed || g.catalog.BaseType(info.Type) != info.Type // the null is not of the domain
	}
	for _, of := range g.groupings {
		u.Cols = append(u.Cols, of.id)
	}
	for _, set := range g.by {
		u.From = append(u.From, g.branch(set))
	}
	return u
}

// branch are the groups of one set, with all columns.
func (g *grouper) branch(set keySet) algebra.Branch {
	groups := &algebra.Aggregate{Input: g.node.Input, Global: len(set) == 0}
	p := &algebra.Project{Input: groups}
	add := func(of algebra.ColID, value algebra.Scalar) {
		p.Items = append(p.Items, algebra.Item{ID: g.columns.New(g.columns.Info(of)), Expr: value})
	}
	for _, k := range g.node.Keys {
		if !slices.Contains(set, k.ID) {
			add(k.ID, algebra.Scalar{Expr: sqltext.Null(g.catalog.BaseType(g.columns.Info(k.ID).Type))})
			continue
		}
		key := algebra.Item{ID: g.columns.New(g.columns.Info(k.ID)), Expr: k.Expr}
		groups.Keys = append(groups.Keys, key)
		add(k.ID, algebra.Ref(key.ID))
	}
	for _, a := range g.node.Aggs {
		of := a.ID
		a.ID = g.columns.New(g.columns.Info(of))
		groups.Aggs = append(groups.Aggs, a)
		add(of, algebra.Ref(a.ID))
	}
	for _, of := range g.groupings {
		bits := 0
		for _, id := range of.args {
			bits *= 2
			if !slices.Contains(set, id) {
				bits++
			}
		}
		add(of.id, algebra.Scalar{Expr: sqltext.Integer(bits)})
	}
	return algebra.Branch{Input: p, Cols: p.Columns()}
}

// grouping is GROUPING(…) of a set: which of the keys it lacks, as bits.
func (g *grouper) grouping(e sqltext.Expr) sqltext.Expr {
	var args keySet
	for _, arg := range e.Children() {
		id, ok := g.keyOf(arg)
		if !ok {
			g.errs.Add(badGrouping(g.pos(max(0, arg.At()))))
		}
		args = append(args, id)
	}
	if len(g.by) == 1 {
		return sqltext.Integer(0)
	}
	at := slices.IndexFunc(g.groupings, func(known grouping) bool { return slices.Equal(known.args, args) })
	if at < 0 {
		info := algebra.Info{Name: "grouping", Type: "integer", Equality: catalog.EqualityOf("integer")}
		at = len(g.groupings)
		g.groupings = append(g.groupings, grouping{g.newColumn(info, of(g.catalog.ShapeOf("integer"))), args})
	}
	return sqltext.Column(int(g.groupings[at].id))
}
