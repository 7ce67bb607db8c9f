package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/typing"
)

// arrayOf is ARRAY(subquery) as an aggregate of the subquery's rows, empty of none.
func (j *joining) arrayOf(rel relation) (relation, bool) {
	info, typ := j.columns.Info(rel.ids[0]), j.exactType(rel.ids[0])
	switch typ {
	case "", typing.Record:
		return relation{}, false
	case typing.Unknown:
		typ = "text"
	}
	if len(typ) < 2 || typ[len(typ)-2:] != "[]" {
		typ += "[]"
	}
	of := map[string]int{"v": int(rel.ids[0])}
	call := parsed("array_agg(v)", of)
	made, _ := call.Call()
	call = j.ordered(call, made, rel.order)
	array := algebra.Info{Name: "array", Type: typ, Varied: info.Varied, Any: info.Any, Equality: info.Equality}
	shape := func() catalog.Shape { return j.shapeOfColumn(rel.ids[0]).Array() }
	agg := algebra.Agg{ID: j.newColumn(array, shape), Call: algebra.Scalar{Expr: call}}
	item := algebra.Item{ID: j.newColumn(array, shape), Expr: algebra.Scalar{Expr: parsed("coalesce(v, '{}'::"+typ+")", map[string]int{"v": int(agg.ID)})}}
	j.types[agg.ID], j.types[item.ID] = typ, typ
	groups := &algebra.Aggregate{Input: rel.node, Aggs: []algebra.Agg{agg}, Global: true}
	return relation{node: &algebra.Project{Input: groups, Items: []algebra.Item{item}}, names: rel.names, ids: []algebra.ColID{item.ID}, at: rel.at}, true
}

// ofArray is the query of a subquery; that of ARRAY has what it is sorted by as further columns, so that the order is known outside.
func ofArray(sub sqltext.Subquery) sqltext.Query {
	q, ok := sub.Query.(*sqltext.Select)
	if sub.Kind != sqltext.Array || !ok || q.Distinct || len(q.DistinctOn) > 0 || len(q.Targets) != 1 || q.Targets[0].Expr.Star() {
		return sub.Query
	}
	sorted := *q
	sorted.Order = slices.Clone(q.Order)
	for i, item := range q.Order {
		ref, named := item.Expr.Ref()
		if _, position := item.Expr.Integer(); position || named && len(ref.Parts) == 1 && ref.Parts[0] == q.Targets[0].Alias {
			continue
		}
		sorted.Targets = append(slices.Clip(sorted.Targets), sqltext.Target{Pos: item.Expr.At(), Alias: "sorted" + itoa(i+1), Expr: item.Expr})
		sorted.Order[i].Expr = sqltext.Integer(len(sorted.Targets))
	}
	return &sorted
}
