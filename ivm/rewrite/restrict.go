package rewrite

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// RestrictGroups computes of groups that are joined to changed rows only those which the conditions ask for, as no planner carries the columns of a join into
// groups:
//
//	S ⋈ γ(X) = S ⋈ γ(X ⋉ π(S))    and so with ⋉, ▷ and ⟕ in the place of the first ⋈
//
// where S comes from changes and an equality ties a key of the groups to it. Partitions of window functions are such groups, too. among has the rows of a relation
// that have one of some keys.
func RestrictGroups(columns *algebra.Columns, among func(rows algebra.Node, keys []algebra.Item, of algebra.Node) algebra.Node) func(algebra.Node) algebra.Node {
	return func(root algebra.Node) algebra.Node {
		r := restriction{columns: columns, among: among, changed: map[algebra.Node]bool{}, grouped: map[algebra.Node]bool{}, windowed: map[algebra.Node]bool{}}
		return algebra.Rewrite(root, r.node)
	}
}

type restriction struct {
	columns                    *algebra.Columns
	among                      func(algebra.Node, []algebra.Item, algebra.Node) algebra.Node
	changed, grouped, windowed map[algebra.Node]bool // what is known of has(n, …)
}

func (r restriction) node(n algebra.Node) algebra.Node {
	switch n := n.(type) {
	case *algebra.Filter:
		if join, ok := n.Input.(*algebra.Join); ok {
			return n.With([]algebra.Node{r.join(join, slices.Concat(join.On, n.Conds))})
		}
	case *algebra.Join:
		return r.join(n, n.On)
	case *algebra.Semi:
		if left, right := r.sides(n.Left, n.Right, n.On); right != n.Right {
			return n.With([]algebra.Node{left, right})
		}
	case *algebra.Outer:
		if left, right := r.sides(n.Left, n.Right, n.On); right != n.Right && !n.Full {
			return n.With([]algebra.Node{left, right})
		}
	}
	return n
}

// join restricts the groups on either side of a join by those of conditions on its rows that tie them to the other one.
func (r restriction) join(n *algebra.Join, on []algebra.Scalar) algebra.Node {
	if outer, ok := n.Right.(*algebra.Outer); ok && !outer.Full && r.isChanged(n.Left) && r.isGrouped(outer.Right) {
		// S ⋈ (L ⟕ γ(X)) = (S ⋈ L) ⟕ γ(X), if the conditions read S and L only
		join := &algebra.Join{Left: n.Left, Right: outer.Left, On: n.On}
		if algebra.Verify(join) == nil {
			return &algebra.Project{Input: r.node(&algebra.Outer{Left: join, Right: outer.Right, On: outer.On}), Items: algebra.Same(n.Columns())}
		}
	}
	left, right := r.sides(n.Left, n.Right, on)
	if right == n.Right {
		right, left = r.sides(n.Right, n.Left, on)
	}
	if left == n.Left && right == n.Right {
		return n
	}
	return n.With([]algebra.Node{left, right})
}

// sides restricts the groups in other by the rows of changed, which are then computed once.
func (r restriction) sides(changed, other algebra.Node, on []algebra.Scalar) (algebra.Node, algebra.Node) {
	if !r.isGrouped(other) || !r.isChanged(changed) {
		return changed, other
	}
	rows := algebra.Keep(changed)
	keys := &algebra.Project{Input: rows}
	var ties []tie
	for _, e := range props.Equalities(on) {
		if id, ok := e.Left.Column(); ok && slices.Contains(other.Columns(), id) {
			e.Left, e.Right = e.Right, e.Left
		}
		id, ok := e.Right.Column()
		info := r.columns.InfoOf(e.Left)
		if !ok || !slices.Contains(other.Columns(), id) || !e.Left.MadeOf(changed.Columns()) || !info.Equality.Comparable() || !r.alike(e) {
			continue
		}
		item := algebra.Item{ID: r.columns.New(info), Expr: e.Left}
		keys.Items, ties = append(keys.Items, item), append(ties, tie{algebra.Ref(id), item.ID, false})
	}
	if has(other, r.windowed, isWindow) {
		for _, id := range nulls(on, other) {
			if null := nulls(on, changed); len(null) > 0 {
				item := algebra.Item{ID: r.columns.New(r.columns.Info(null[0])), Expr: algebra.Ref(null[0])}
				keys.Items, ties = append(keys.Items, item), append(ties, tie{algebra.Ref(id), item.ID, true})
			}
		}
	}
	if len(ties) == 0 {
		return changed, other
	}
	if restricted := r.restrict(other, &algebra.Distinct{Input: keys}, ties); restricted != other {
		return rows, restricted
	}
	return changed, other
}

// restrict has groups in n made only of rows that a key asks for. Other rows of n may be left out or stay.
func (r restriction) restrict(n, keys algebra.Node, ties []tie) algebra.Node {
	if len(ties) == 0 || !r.isGrouped(n) {
		return n
	}
	switch n := n.(type) {
	case *algebra.Aggregate:
		return n.With([]algebra.Node{r.joined(n.Input, keys, below(ties, n.Keys))})
	case *algebra.Top:
		return n.With([]algebra.Node{r.joined(n.Input, keys, below(ties, algebra.Same(n.Keys)))})
	case *algebra.Window:
		return r.window(n, keys, ties)
	case *algebra.Project:
		return n.With([]algebra.Node{r.restrict(n.Input, keys, below(ties, n.Items))})
	case *algebra.Filter:
		return n.With([]algebra.Node{r.restrict(n.Input, keys, ties)})
	case *algebra.Each:
		own := slices.DeleteFunc(slices.Clone(ties), func(t tie) bool { return !t.expr.MadeOf(n.Input.Columns()) })
		return n.With([]algebra.Node{r.restrict(n.Input, keys, own)})
	case *algebra.Join:
		l, right := r.both(n.Left, n.Right, n.On, ties)
		return n.With([]algebra.Node{r.restrict(n.Left, keys, l), r.restrict(n.Right, keys, right)})
	case *algebra.Semi:
		l, right := r.both(n.Left, n.Right, n.On, ties)
		return n.With([]algebra.Node{r.restrict(n.Left, keys, l), r.restrict(n.Right, keys, right)})
	case *algebra.Outer:
		if l, right := r.both(n.Left, n.Right, n.On, certain(ties, n.Left)); !n.Full && len(l) > 0 {
			return n.With([]algebra.Node{r.restrict(n.Left, keys, l), r.restrict(n.Right, keys, right)})
		}
	case *algebra.Union:
		u := &algebra.Union{Cols: n.Cols, Mixed: n.Mixed}
		for _, b := range n.From {
			var items []algebra.Item
			for i, id := range n.Cols {
				items = append(items, algebra.Item{ID: id, Expr: algebra.Ref(b.Cols[i])})
			}
			u.From = append(u.From, algebra.Branch{Input: r.restrict(b.Input, keys, below(ties, items)), Cols: b.Cols})
		}
		return u
	}
	return n
}

// window has a window made only of partitions that a key asks for: those that have the key, or of which a row has.
func (r restriction) window(n *algebra.Window, keys algebra.Node, ties []tie) algebra.Node {
	var partitions, rows []tie
	for _, t := range ties {
		if slices.ContainsFunc(n.Keys, func(k algebra.Item) bool { return sqltext.Equal(k.Expr.Expr, t.expr.Expr) }) {
			partitions = append(partitions, t)
		} else if t.expr.MadeOf(n.Input.Columns()) {
			rows = append(rows, t)
		}
	}
	if len(partitions) > 0 || len(rows) == 0 || len(n.Keys) == 0 || r.isGrouped(n.Input) { // a tree of what is restricted so within each other grows too fast
		return n.With([]algebra.Node{r.joined(n.Input, keys, partitions)})
	}
	asked := &algebra.Project{Input: r.joined(n.Input, keys, rows)}
	for _, k := range n.Keys {
		asked.Items = append(asked.Items, algebra.Item{ID: r.columns.New(r.columns.Info(k.ID)), Expr: k.Expr})
	}
	return n.With([]algebra.Node{r.among(n.Input, n.Keys, &algebra.Distinct{Input: asked})})
}

func isWindow(n algebra.Node) bool { _, is := n.(*algebra.Window); return is }

// joined are the rows of groups' input that a key asks for. What is grouped within it is restricted, too.
func (r restriction) joined(n, keys algebra.Node, ties []tie) algebra.Node {
	if len(ties) == 0 {
		return n
	}
	rows := r.restrict(n, keys, ties)
	keys, ties = r.once(keys, ties)
	join := &algebra.Join{Left: keys, Right: rows}
	for _, t := range ties {
		key := sqltext.Column(int(t.key))
		if t.null {
			join.On = append(join.On, r.columns.IsNull(t.expr), r.columns.IsNull(algebra.Scalar{Expr: key}))
		} else {
			join.On = append(join.On, algebra.Scalar{Expr: sqltext.Equals(t.expr.Expr, key)})
		}
	}
	return &algebra.Project{Input: join, Items: algebra.Same(n.Columns())}
}

// isChanged reports whether a node comes from changes, or from groups that they have changed.
func (r restriction) isChanged(n algebra.Node) bool {
	return has(n, r.changed, func(n algebra.Node) bool {
		groups, is := n.(*algebra.Values)
		_, changes := n.(*algebra.Changes)
		return changes || is && len(groups.Rows) == 0
	})
}

// isGrouped reports whether there are groups or partitions in a node, or first rows of some, that have keys and do not come from changes.
func (r restriction) isGrouped(n algebra.Node) bool {
	return has(n, r.grouped, func(n algebra.Node) bool {
		switch n := n.(type) {
		case *algebra.Aggregate:
			return len(n.Keys) > 0 && !r.isChanged(n)
		case *algebra.Window:
			return len(n.Keys) > 0 && !r.isChanged(n)
		case *algebra.Top:
			return len(n.Keys) > 0 && !r.isChanged(n)
		}
		return false
	})
}

// has reports whether something holds of a node or one below it.
func has(n algebra.Node, known map[algebra.Node]bool, is func(algebra.Node) bool) bool {
	found, ok := known[n]
	if !ok {
		found = is(n) || slices.ContainsFunc(n.Inputs(), func(in algebra.Node) bool { return has(in, known, is) })
		known[n] = found
	}
	return found
}
