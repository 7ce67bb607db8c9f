package resolve

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// setOp is INTERSECT or EXCEPT: groups of equal rows of both sides, of which those are kept that have rows of the right sides. With ALL, they come as often as
// what is common or left over. Groups take nulls for equal, as these operations do.
func (r *resolver) setOp(q *sqltext.SetOp, left, right relation, types []string) relation {
	both := r.unioned(r.marked(left, "true"), r.marked(right, "false"), append(types, "boolean"))
	last := len(both.ids) - 1
	side := both.ids[last]
	groups := &algebra.Aggregate{Input: both.node}
	counts := map[string]int{}
	count := func(name, filter string) {
		id := r.newColumn(algebra.Info{Name: name, Type: "bigint", Equality: catalog.HashedEquality}, of(catalog.Shape{Kind: catalog.ValueShape}))
		r.types[id] = "bigint"
		s := map[string]int{"s": int(side)}
		groups.Aggs = append(groups.Aggs, algebra.Agg{
			ID: id, Call: algebra.Scalar{Expr: parsed("count(*) filter (where "+filter+")", s)}, Func: "count", Filter: []algebra.Scalar{{Expr: parsed(filter, s)}},
		})
		counts[name] = int(id)
	}
	count("lefts", "s")
	count("rights", "not s")

	rel := relation{names: left.names, at: left.at}
	shown := &algebra.Project{}
	sorted := !slices.ContainsFunc(both.ids[:last], func(id algebra.ColID) bool { return !r.columns.Info(id).Sorted() })
	for i, id := range both.ids[:last] {
		info := r.columns.Info(id)
		key := algebra.Item{ID: r.newColumn(info, r.shapes[id]), Expr: algebra.Ref(id)}
		item := algebra.Item{Expr: algebra.Ref(key.ID)}
		if q.Kind == sqltext.Intersect && info.Varied { // of values that are equal and not the same, one of the left side stands for all
			agg, value := leastOf(int(id), int(side), info.Type, sorted)
			least := r.newColumn(algebra.Info{Name: info.Name, Varied: true}, r.shapes[id])
			groups.Aggs = append(groups.Aggs, algebra.Agg{ID: least, Call: algebra.Scalar{Expr: agg}})
			item.Expr = algebra.Scalar{Expr: parsed(value, map[string]int{"v": int(least)})}
		}
		groups.Keys = append(groups.Keys, key)
		item.ID = r.newColumn(info, r.shapes[id])
		r.types[item.ID] = types[i]
		shown.Items, rel.ids = append(shown.Items, item), append(rel.ids, item.ID)
	}
	shown.Input = r.repeated(q, groups, counts)
	rel.node = shown
	return rel
}

// marked has a column more than a side, with the same value in all rows.
func (r *resolver) marked(side relation, value string) relation {
	id := r.newColumn(algebra.Info{Name: "side", Type: "boolean", Equality: catalog.HashedEquality}, of(catalog.Shape{Kind: catalog.ValueShape}))
	r.types[id] = "boolean"
	with := relation{names: append(append([]string{}, side.names...), "side"), ids: append(append([]algebra.ColID{}, side.ids...), id), at: append(append(side.at[:0:0], side.at...), side.at...)}
	with.node = &algebra.Project{Input: side.node, Items: append(algebra.Same(side.ids), algebra.Item{ID: id, Expr: algebra.Scalar{Expr: parsed(value, nil)}})}
	return with
}

// repeated are the groups that a set operation keeps, with ALL as often as it does.
func (r *resolver) repeated(q *sqltext.SetOp, groups algebra.Node, counts map[string]int) algebra.Node {
	conds := []string{"lefts > 0", "rights > 0"}
	series := "generate_series(1, least(lefts, rights))"
	if q.Kind == sqltext.Except {
		if conds = []string{"lefts > 0", "rights = 0"}; q.All {
			conds = []string{"lefts > rights"}
		}
		series = "generate_series(1, lefts - rights)"
	}
	kept := &algebra.Filter{Input: groups}
	for _, c := range conds {
		kept.Conds = append(kept.Conds, algebra.Scalar{Expr: parsed(c, counts)})
	}
	if !q.All {
		return kept
	}
	number := r.newColumn(algebra.Info{Name: "number", Type: "bigint", Equality: catalog.HashedEquality}, of(catalog.Shape{Kind: catalog.ValueShape}))
	return &algebra.Each{Input: kept, Calls: []algebra.RowCall{{Call: algebra.Scalar{Expr: parsed(series, counts)}}}, Cols: []algebra.ColID{number}}
}

// leastOf is the aggregate that finds one of the values of a column on the left side, always the same one, and what is made of its result v.
// sorted: as of sqltext.Least.
func leastOf(column, side int, typ string, sorted bool) (agg sqltext.Expr, value string) {
	known := map[string]int{"c": column, "s": side}
	if !sorted || strings.HasSuffix(typ, "[]") { // of which array_agg makes an array of more dimensions
		return parsed("min("+sqltext.Image("c")+") filter (where s)", known), "v::" + typ
	}
	return parsed("array_agg(c order by "+sqltext.Image("c")+") filter (where s)", known), "v[1]"
}

// parsed is an expression over columns, which are given by name.
func parsed(text string, columns map[string]int) sqltext.Expr {
	e, err := sqltext.ParseExpr(text, columns)
	if err != nil {
		panic(err)
	}
	return e
}
