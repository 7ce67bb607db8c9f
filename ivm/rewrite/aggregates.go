package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// OrderAggregates has aggregates take rows in an order that is certain as far as they can tell these apart, so that they make the same of the same rows each time:
//
//	array_agg(a order by b) = array_agg(a order by b, a)
//
// PostgreSQL sorts groups with such an aggregate, so those by a type that cannot be sorted are left as they are.
//
// What a stored group is replaced with that its key finds may be any of what the query says, so the groups at the root are left as they are.
func OrderAggregates(columns *algebra.Columns, known *props.Props) func(algebra.Node) algebra.Node {
	return func(root algebra.Node) algebra.Node {
		found := algebra.RootGroups(root)
		if found != nil && len(found.Keys) == 0 {
			found = nil
		}
		return algebra.Rewrite(root, func(n algebra.Node) algebra.Node {
			groups, ok := n.(*algebra.Aggregate)
			if !ok || found != nil && slices.Equal(groups.Columns(), found.Columns()) || !algebra.SortedKeys(columns, groups.Keys) {
				return n
			}
			ordered := *groups
			ordered.Aggs = slices.Clone(groups.Aggs)
			for i, a := range ordered.Aggs {
				if more := untold(columns, known.Of(groups.Input), a); len(more) > 0 {
					a.Call.Expr, a.Func, a.Args, a.Filter, a.Ordered = a.Call.Expr.Ordered(more), "", nil, nil, true
					ordered.Aggs[i] = a
				}
			}
			return &ordered
		})
	}
}

// untold are further items of the order of an aggregate: those of its arguments that may differ where the order puts no row first.
func untold(columns *algebra.Columns, rows *props.Facts, a algebra.Agg) []sqltext.SortItem {
	call, ok := a.Call.Expr.Call()
	if !ok || call.Distinct || call.WithinGroup || call.Star || call.Name == "json_objectagg" {
		return nil
	}
	same, rounds := sqltext.TakesAnyOrder(a.Func)
	if same {
		return nil
	}
	var has []sqltext.Expr
	var told []algebra.ColID
	for _, item := range call.Order {
		has = append(has, item.Expr)
		if id, ok := item.Expr.Column(); ok && columns.Info(algebra.ColID(id)).Ordered() {
			told = append(told, algebra.ColID(id))
		}
	}
	if rows.Key(told) != nil {
		return nil
	}
	var items []sqltext.SortItem
	for _, e := range call.Args {
		arg := algebra.Scalar{Expr: e}
		info := columns.InfoOf(arg)
		switch {
		case rounds && !sqltext.IsFloat(info.Type):
			return nil
		case len(e.Columns()) == 0 || arg.MadeOf(told):
			continue
		case !rounds && !exact(arg, info):
			e = e.Image()
		}
		if !slices.ContainsFunc(has, func(h sqltext.Expr) bool { return sqltext.Equal(h, e) }) {
			has, items = append(has, e), append(items, sqltext.SortItem{Expr: e})
		}
	}
	return items
}

// exact reports whether values of an expression can be sorted, and are the same where none is before the other.
func exact(e algebra.Scalar, info algebra.Info) bool {
	_, column := e.Column()
	return info.Ordered() && (column || sqltext.IsExact(info.Type))
}
