package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// beside joins an item of FROM to what stands before it, which it may read: functions do, and LATERAL subqueries.
func (r *resolver) beside(item sqltext.From, kind sqltext.JoinKind, left, right algebra.Node, on []algebra.Scalar) algebra.Node {
	each, isEach := right.(*algebra.Each)
	isEach = isEach && algebra.IsOneRow(each.Input)
	inner := kind != sqltext.Left && kind != sqltext.Right && kind != sqltext.Full
	reads := r.readsAny(right, left)
	switch {
	case isEach && kind == sqltext.Left && !each.Keeps:
		return &algebra.Each{Input: left, Calls: each.Calls, Cols: each.Cols, Ordinality: each.Ordinality, Keeps: true, On: on}
	case kind == sqltext.Left && reads && !oneEach(right, on):
		if node, ok := r.leftUnder(left, right, on); ok {
			return node
		}
	case (inner || kind == sqltext.Left) && reads || inner && isEach:
		node, ok := r.under(left, right)
		if !ok {
			break
		}
		if len(on) > 0 {
			node = &algebra.Filter{Input: node, Conds: on}
		}
		return node
	case !reads:
		return joined(kind, left, right, on)
	}
	r.full(item.At(), "LATERAL subquery that reads what stands before it", "join what it reads, grouped by what it compares")
	return joined(kind, left, right, on)
}

// oneEach reports whether there is one row of n for each row beside it, as of an aggregate of all rows, which conditions leave there.
func oneEach(n algebra.Node, on []algebra.Scalar) bool {
	if slices.ContainsFunc(on, func(c algebra.Scalar) bool { return c.Expr.SQL() != "true" }) {
		return false
	}
	for {
		switch at := n.(type) {
		case *algebra.Project:
			n = at.Input
		case *algebra.Aggregate:
			return at.Global && len(at.Keys) == 0
		default:
			return algebra.IsOneRow(n)
		}
	}
}

// leftUnder are the rows of n under left, and with nulls those of left for which there is none.
func (r *resolver) leftUnder(left, n algebra.Node, on []algebra.Scalar) (algebra.Node, bool) {
	if slices.ContainsFunc(n.Columns(), func(id algebra.ColID) bool { return r.columns.Info(id).Type == "" }) {
		return nil, false
	}
	if node, ok := r.leftGroups(left, n, on); ok {
		return node, true
	}
	if b, ok := r.firstsBeside(n); ok {
		b.beside(left)
		cols := slices.Concat(left.Columns(), n.Columns())
		return &algebra.Project{Input: &algebra.Outer{Left: left, Right: b.rows, On: slices.Concat(b.on, on)}, Items: algebra.Same(cols)}, true
	}
	rows, ok := r.under(left, n)
	if !ok {
		return nil, false
	}
	if len(on) > 0 {
		rows = &algebra.Filter{Input: rows, Conds: on}
	}
	partners, ok := r.partners(n, left)
	if !ok {
		return nil, false
	}
	none := partners.test(&algebra.Semi{Left: left, On: on, Anti: true})
	padded := &algebra.Project{Input: none, Items: algebra.Same(left.Columns())}
	for _, id := range n.Columns() {
		padded.Items = append(padded.Items, algebra.Item{ID: id, Expr: r.columns.Null(id)})
	}
	cols := padded.Columns()
	return &algebra.Union{Cols: cols, From: []algebra.Branch{{Input: rows, Cols: cols}, {Input: padded, Cols: cols}}}, true
}

// leftGroups is leftUnder for groups with keys.
func (r *resolver) leftGroups(left, n algebra.Node, on []algebra.Scalar) (algebra.Node, bool) {
	p, isProject := n.(*algebra.Project)
	if !isProject {
		return nil, false
	}
	all, isGroups := p.Input.(*algebra.Aggregate)
	if !isGroups || len(all.Keys) == 0 {
		return nil, false
	}
	b, ok := r.groupsBeside(all)
	if !ok {
		return nil, false
	}
	if b.domain != nil {
		b.domain.Input = left
	}
	right := &algebra.Project{Input: b.groups, Items: slices.Clone(p.Items)}
	for _, k := range b.groups.Keys {
		if !slices.Contains(right.Columns(), k.ID) {
			right.Items = append(right.Items, algebra.Item{ID: k.ID, Expr: algebra.Ref(k.ID)})
		}
	}
	outer := &algebra.Outer{Left: left, Right: right, On: slices.Concat(b.on, on)}
	return outer, algebra.Verify(right) == nil
}

// under are the rows of n, which may read columns of left, for each row of left. It is false where that is not computed row by row:
//
//	L × σ(X) = σ(L × X)    L × π(X) = π(L × X)    L × (X ⋈ Y) = (L × X) ⋈ Y    L × f(X) = f(L × X)    L × (X ⊎ Y) = L × X ⊎ L × Y
func (r *resolver) under(left, n algebra.Node) (algebra.Node, bool) {
	if algebra.IsOneRow(n) {
		return left, true
	}
	if each, ok := n.(*algebra.Each); !r.readsAny(n, left) && !(ok && algebra.IsOneRow(each.Input)) {
		return &algebra.Join{Left: left, Right: n}, true
	}
	switch n := n.(type) {
	case *algebra.Each, *algebra.Filter:
		input, ok := r.under(left, n.Inputs()[0])
		return n.With([]algebra.Node{input}), ok
	case *algebra.Project:
		input, ok := r.under(left, n.Input)
		return &algebra.Project{Input: input, Items: append(algebra.Same(left.Columns()), n.Items...)}, ok
	case *algebra.Join:
		input, ok := r.under(left, n.Left)
		if !ok {
			return nil, false
		}
		if r.readsAny(n.Right, left) {
			input, ok = r.under(input, n.Right)
		} else {
			input = &algebra.Join{Left: input, Right: n.Right}
		}
		if len(n.On) > 0 {
			input = &algebra.Filter{Input: input, Conds: n.On}
		}
		return input, ok
	case *algebra.Semi:
		input, ok := r.under(left, n.Left)
		if !ok {
			return nil, false
		}
		right, ok := r.partners(n.Right, input)
		return right.test(n.With([]algebra.Node{input, n.Right}).(*algebra.Semi)), ok
	case *algebra.Outer:
		return r.underOuter(left, n)
	case *algebra.Union:
		return r.underUnion(left, n)
	case *algebra.Aggregate:
		return r.underGroups(left, n)
	case *algebra.Top:
		b, ok := r.firstsBeside(n)
		if !ok {
			return nil, false
		}
		b.beside(left)
		cols := slices.Concat(left.Columns(), n.Columns())
		return &algebra.Project{Input: &algebra.Join{Left: left, Right: b.rows, On: b.on}, Items: algebra.Same(cols)}, true
	case *algebra.Distinct:
		return r.underDistinct(left, n)
	case *algebra.Values:
		return r.underValues(left, n), true
	}
	return nil, false
}

// underOuter is L × (X ⟕ Y) = (L × X) ⟕ Y, where Y is made for each of the values that it reads of L × X.
func (r *resolver) underOuter(left algebra.Node, n *algebra.Outer) (algebra.Node, bool) {
	if n.Full {
		return nil, false
	}
	input, ok := r.under(left, n.Left)
	if !ok {
		return nil, false
	}
	if !r.readsAny(n.Right, input) {
		return &algebra.Outer{Left: input, Right: n.Right, On: n.On}, true
	}
	rows, on, ok := r.rowsByValues(n.Right, input)
	if !ok || slices.ContainsFunc(rows.Columns(), func(id algebra.ColID) bool { return r.columns.Info(id).Type == "" }) {
		return nil, false
	}
	outer := &algebra.Outer{Left: input, Right: rows, On: slices.Concat(n.On, on)}
	return &algebra.Project{Input: outer, Items: algebra.Same(slices.Concat(left.Columns(), n.Columns()))}, true
}

func (r *resolver) underUnion(left algebra.Node, n *algebra.Union) (algebra.Node, bool) {
	u := &algebra.Union{Cols: append(left.Columns(), n.Cols...), Mixed: n.Mixed}
	for _, b := range n.From {
		input, ok := r.under(left, b.Input)
		if !ok {
			return nil, false
		}
		u.From = append(u.From, algebra.Branch{Input: input, Cols: append(left.Columns(), b.Cols...)})
	}
	return u, true
}

// underValues are constant rows, which may be computed from those of left, for each of them.
func (r *resolver) underValues(left algebra.Node, n *algebra.Values) algebra.Node {
	u := &algebra.Union{Cols: append(left.Columns(), n.Cols...), Mixed: true}
	for _, row := range n.Rows {
		p, cols := &algebra.Project{Input: left, Items: algebra.Same(left.Columns())}, left.Columns()
		for i, value := range row {
			id := r.columns.New(r.columns.Info(n.Cols[i]))
			p.Items, cols = append(p.Items, algebra.Item{ID: id, Expr: value}), append(cols, id)
		}
		u.From = append(u.From, algebra.Branch{Input: p, Cols: cols})
	}
	return u
}

// underDistinct is underGroups for DISTINCT, groups without aggregates.
func (r *resolver) underDistinct(left algebra.Node, n *algebra.Distinct) (algebra.Node, bool) {
	groups := &algebra.Aggregate{Input: n.Input}
	p := &algebra.Project{Items: algebra.Same(left.Columns())}
	for _, id := range n.Columns() {
		key := r.columns.New(r.columns.Info(id))
		groups.Keys = append(groups.Keys, algebra.Item{ID: key, Expr: algebra.Ref(id)})
		p.Items = append(p.Items, algebra.Item{ID: id, Expr: algebra.Ref(key)})
	}
	input, ok := r.underGroups(left, groups)
	p.Input = input
	return p, ok
}
