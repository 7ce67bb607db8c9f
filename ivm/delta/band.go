package delta

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

const bandRule = "Δ (L ⋉ s) = Δ L ⋉ (s ⊎ −Δ s) ⊎ B ⋉ s ⊎ −B ⋉ (s ⊎ −Δ s), B being the rows of L between s and s as it was"

// band is the change of rows that are compared with the values of one row: where those move, only rows between both come and go. B may hold too many rows, as
// those that pass both tests cancel themselves. An index finds B where the rows are those of tables; what is computed of several rows is compared as it is made.
func (c Calculus) band(n *algebra.Semi, bounds []algebra.Bound, left, right algebra.Node) algebra.Node {
	now := algebra.Keep(n.Right)
	before := algebra.Keep(&algebra.Bag{Input: algebra.Before(now, right)})
	if earlier := algebra.Earlier(n.Right); earlier != nil {
		now, before = n.Right, earlier
	}
	test := func(rows, of algebra.Node) algebra.Node { return n.With([]algebra.Node{rows, of}) }
	var terms []algebra.Node
	if left != nil {
		terms = append(terms, test(left, before))
	}
	rows := algebra.Keep(c.between(n, bounds, now, before))
	return sum(n.Columns(), append(terms, test(rows, now), &algebra.Negate{Input: test(rows, before)}))
}

// between are the rows that may pass for one of two rows of values, and not for the other, each once. Each way a bound may move has a branch of its own, of which
// at most one reads the rows.
func (c Calculus) between(n *algebra.Semi, bounds []algebra.Bound, now, before algebra.Node) algebra.Node {
	rows, known := n.Left, c.props.Of(n.Left)
	pair, old := c.values(n.On, now, before)
	all := &algebra.Union{Cols: rows.Columns()}
	add := func(on ...algebra.Scalar) {
		branch := &algebra.Project{Input: &algebra.Join{Left: pair, Right: rows, On: on}, Items: algebra.Same(all.Cols)}
		all.From = append(all.From, algebra.Branch{Input: branch, Cols: all.Cols})
	}
	var earlier []algebra.Scalar // whether a bound has moved over the row that has a branch already
	indexed := !slices.ContainsFunc(bounds, func(b algebra.Bound) bool {
		id, ok := b.Of.Column()
		return !ok || len(known.Origins(id)) != 1
	})
	for _, b := range bounds {
		was := old(b.Value)
		met, before := b.Meets(b.Value), b.Meets(was)
		over := algebra.Scalar{Expr: sqltext.Or(met.Expr, before.Expr)}
		if !b.Equal() {
			over.Expr = sqltext.Or(sqltext.And(met.Expr, sqltext.IsNotTrue(before.Expr)), sqltext.And(before.Expr, sqltext.IsNotTrue(met.Expr)))
		}
		switch {
		case !indexed:
		case b.Equal():
			add(before)
			add(met, algebra.Scalar{Expr: sqltext.IsNotTrue(before.Expr)})
		default:
			add(append(slices.Clone(earlier), met, b.Fails(was), b.Looser(b.Value, was))...)
			add(append(slices.Clone(earlier), before, b.Fails(b.Value), b.Looser(was, b.Value))...)
			if null := c.nullIn(b.Value, was, now); null != nil {
				add(append(slices.Clone(earlier), *null)...)
			}
		}
		earlier = append(earlier, algebra.Scalar{Expr: sqltext.IsNotTrue(over.Expr)})
		if !indexed && len(all.From) == 0 {
			add(over)
		} else if !indexed {
			join := all.From[0].Input.(*algebra.Project).Input.(*algebra.Join)
			join.On[0].Expr = sqltext.Or(join.On[0].Expr, over.Expr)
		}
	}
	if len(all.From) == 1 {
		return all.From[0].Input
	}
	return all
}

// values are both rows of values beside each other, if they differ, and what an expression over one of them is over the other.
func (c Calculus) values(on []algebra.Scalar, now, before algebra.Node) (pair algebra.Node, old func(algebra.Scalar) algebra.Scalar) {
	again := map[algebra.ColID]algebra.ColID{}
	renamed := &algebra.Project{Input: before}
	var same []sqltext.Expr
	for _, cond := range on {
		for _, id := range cond.Columns() {
			if again[id] != 0 || !slices.Contains(now.Columns(), id) {
				continue
			}
			again[id] = c.columns.New(c.columns.Info(id))
			renamed.Items = append(renamed.Items, algebra.Item{ID: again[id], Expr: algebra.Ref(id)})
			if c.columns.Info(id).Equality.Comparable() {
				same = append(same, sqltext.NotDistinct(sqltext.Column(int(id)), sqltext.Column(int(again[id]))))
			}
		}
	}
	join := &algebra.Join{Left: now, Right: &algebra.Kept{Input: renamed}} // a relation of its own, as both have the same columns
	if s, ok := before.(*algebra.Source); ok {
		join.Right = s.Renamed(again)
	}
	if len(same) == len(again) {
		join.On = []algebra.Scalar{{Expr: sqltext.IsNotTrue(sqltext.And(same...))}}
	}
	return algebra.Keep(join), func(e algebra.Scalar) algebra.Scalar {
		return algebra.Scalar{Expr: e.Expr.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
			id, ok := e.Column()
			return sqltext.Column(int(again[algebra.ColID(id)])), ok
		})}
	}
}

// nullIn is the condition that one of both values is null; nil if neither can be.
func (c Calculus) nullIn(value, was algebra.Scalar, rows algebra.Node) *algebra.Scalar {
	if algebra.NeverNull(value.Expr, c.props.Of(rows).NotNull) {
		return nil
	}
	one, other := sqltext.IsNull(value.Expr), sqltext.IsNull(was.Expr)
	return &algebra.Scalar{Expr: sqltext.And(sqltext.Or(one, other), sqltext.IsNotTrue(sqltext.And(one, other)))}
}
