package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// valuesRead are the values that a tree reads of what stands beside it.
type valuesRead struct {
	of, values []algebra.ColID  // columns beside, and in the same order those of the domain
	domain     *algebra.Project // its input is what the tree stands beside
}

// valuesRead finds what a tree reads of what stands beside it. It is false where equal values may differ, so that what is made for one is not what is made
// for the other, and where nothing is read.
func (r *resolver) valuesRead(n algebra.Node) (v valuesRead, ok bool) {
	v.domain = &algebra.Project{}
	v.of = props.New(r.columns).Of(n).Outer
	for _, id := range v.of {
		info := r.columns.Info(id)
		if !info.Equality.Comparable() || info.Varied || info.Any || info.Type == "" {
			return v, false
		}
		value := r.columns.New(info)
		v.values = append(v.values, value)
		v.domain.Items = append(v.domain.Items, algebra.Item{ID: value, Expr: algebra.Ref(id)})
	}
	return v, len(v.of) > 0
}

// over is a tree that reads the values of the domain.
func (v valuesRead) over(n algebra.Node) algebra.Node {
	return algebra.Substitute(n, func(e algebra.Scalar) algebra.Scalar {
		return algebra.Scalar{Expr: e.Expr.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
			id, isColumn := e.Column()
			at := slices.Index(v.of, algebra.ColID(id))
			if !isColumn || at < 0 {
				return sqltext.Expr{}, false
			}
			return sqltext.Column(int(v.values[at])), true
		})}
	})
}

// rowsByValues are the rows that a tree has for each of the values that it reads of what stands beside it, with these values, and the conditions by which they
// belong to a row of left, which stands beside it. They are made of a copy of left: in SQL, a column of it within would hide the one outside.
func (r *resolver) rowsByValues(n, left algebra.Node) (rows algebra.Node, on []algebra.Scalar, ok bool) {
	read, ok := r.valuesRead(n)
	if !ok || !copyable(left) {
		return nil, nil, false
	}
	copied, as := algebra.Copy(left, r.columns)
	read.domain.Input = copied
	for i, item := range read.domain.Items {
		read.domain.Items[i].Expr = item.Expr.Renamed(as)
	}
	rows, ok = r.under(&algebra.Distinct{Input: read.domain}, read.over(n))
	return rows, read.same(n, read.values), ok
}

// copyable reports whether a tree is whole, and has no recursion.
func copyable(n algebra.Node) bool {
	if n == nil {
		return false
	}
	if _, is := n.(*algebra.Recursion); is {
		return false
	}
	if p, is := n.(*algebra.Project); is && p.Input == nil { // a domain, of which only the columns are known yet
		return false
	}
	return !slices.ContainsFunc(n.Inputs(), func(in algebra.Node) bool { return !copyable(in) })
}

// same are the conditions by which rows that are made of the values, which are in columns, belong to a row beside.
func (v valuesRead) same(rows algebra.Node, columns []algebra.ColID) (on []algebra.Scalar) {
	strict := strictConditions(rows)
	for i, id := range v.of {
		same := sqltext.NotDistinct(sqltext.Column(int(id)), sqltext.Column(int(columns[i])))
		if slices.ContainsFunc(strict, func(c algebra.Scalar) bool { return algebra.Refuses(c, []algebra.ColID{id}) }) {
			same = sqltext.Equals(sqltext.Column(int(id)), sqltext.Column(int(columns[i]))) // of a null there are no rows
		}
		on = append(on, algebra.Scalar{Expr: same})
	}
	return on
}

// strictConditions are conditions without which a tree has no rows.
func strictConditions(n algebra.Node) []algebra.Scalar {
	switch n := n.(type) {
	case *algebra.Filter:
		return append(strictConditions(n.Input), n.Conds...)
	case *algebra.Join:
		return slices.Concat(strictConditions(n.Left), strictConditions(n.Right), n.On)
	case *algebra.Project:
		return strictConditions(n.Input)
	case *algebra.Semi:
		return strictConditions(n.Left)
	case *algebra.Outer:
		if !n.Full {
			return strictConditions(n.Left)
		}
	}
	return nil
}
