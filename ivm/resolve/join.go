package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// join resolves JOIN in all its spellings.
func (r *resolver) join(j *sqltext.JoinRef, before *scope) (algebra.Node, *scope) {
	left, ls := r.from(j.Left, before)
	within := behind(before) // what LATERAL in it sees: this side before what stands before the join
	within.tables, within.visible, within.open = ls.tables, ls.visible, ls.open
	right, rs := r.from(j.Right, within)

	s := behind(before)
	r.add(s, ls, j.Left.At())
	r.add(s, rs, j.Right.At())
	var on []algebra.Scalar
	var tests sqltext.Expr
	var merged []algebra.Item
	using := j.Using
	if j.Natural {
		using = common(ls.visible, rs.visible)
		if ls.open || rs.open {
			r.full(j.Right.At(), "natural join of columns that are not known", "write USING")
		}
	}
	if len(using) > 0 {
		on, merged = r.using(j, using, ls, rs, s)
	} else if !j.On.IsZero() {
		on, tests = r.onConditions(j, s)
	}
	var node algebra.Node
	switch {
	case tests.IsZero():
		node = r.beside(j.Right, j.Kind, left, right, on)
	case j.Kind == sqltext.Inner:
		node = r.where(r.beside(j.Right, j.Kind, left, right, on), tests, s, joinConditions)
	case j.Kind == sqltext.Left:
		node = r.leftTested(left, right, on, tests, s)
	default:
		node = r.leftTested(right, left, on, tests, s)
	}
	if outer, ok := node.(*algebra.Outer); ok {
		r.checkPadded(j.Right.At(), outer)
	}
	if len(merged) > 0 {
		for _, id := range node.Columns() {
			merged = append(merged, algebra.Item{ID: id, Expr: algebra.Ref(id)})
		}
		node = &algebra.Project{Input: node, Items: merged}
	}
	return node, r.aliased(j, s)
}

// leftTested are pairs of rows that conditions and tests leave, and with nulls the rows of left of which there is none: the tests are those of the rows of
// right, which may read the row beside.
func (r *resolver) leftTested(left, right algebra.Node, on []algebra.Scalar, tests sqltext.Expr, s *scope) algebra.Node {
	values := &joining{resolver: r, scope: s, from: right, beside: &joining{resolver: r, scope: s, from: left}}
	tested, conds := conditions(values.where(tests, joinConditions), right)
	plain := slices.Concat(left.Columns(), right.Columns())
	on, left = append(on, conds...), attach(left, values.beside.sides)
	if !r.readsAny(tested, left) {
		return &algebra.Outer{Left: left, Right: tested, On: on}
	}
	var first, last []algebra.Scalar
	for _, c := range on {
		if within(c, plain) {
			first = append(first, c)
		} else {
			last = append(last, c) // it reads a value of a subquery
		}
	}
	if len(first) > 0 { // before the tests, which so read few of the values of left
		tested = inPlace(tested, right, &algebra.Filter{Input: right, Conds: first})
	}
	node, ok := r.leftUnder(left, tested, last)
	if !ok {
		r.full(tests.At(), "subquery in an expression", subqueryHint)
		return &algebra.Outer{Left: left, Right: tested, On: on}
	}
	return node
}

// inPlace has a tree stand where the rows do of which another one tests, or what stands beside them.
func inPlace(n, rows, other algebra.Node) algebra.Node {
	if n == rows {
		return other
	}
	inputs := n.Inputs()
	if _, isUnion := n.(*algebra.Union); !isUnion {
		inputs[0] = inPlace(inputs[0], rows, other)
		return n.With(inputs)
	}
	for i := range inputs {
		inputs[i] = inPlace(inputs[i], rows, other)
	}
	return n.With(inputs)
}

// conditions are what filters ask of rows, apart from the other tests of these.
func conditions(n, rows algebra.Node) (tested algebra.Node, conds []algebra.Scalar) {
	if n == rows {
		return n, nil
	}
	switch n := n.(type) {
	case *algebra.Filter:
		tested, conds = conditions(n.Input, rows)
		return tested, append(conds, n.Conds...)
	case *algebra.Semi:
		tested, conds = conditions(n.Left, rows)
		return n.With([]algebra.Node{tested, n.Right}), conds
	}
	return n, nil
}

// onConditions are the conditions of a join, and apart from them those with subqueries.
func (r *resolver) onConditions(j *sqltext.JoinRef, s *scope) (on []algebra.Scalar, tests sqltext.Expr) {
	var plain, others []sqltext.Expr
	for _, e := range j.On.Conjuncts() {
		if j.Kind != sqltext.Full && hasSubquery(e) || j.Kind == sqltext.Inner && r.tells(e) {
			others = append(others, e)
		} else {
			plain = append(plain, e)
		}
	}
	if all := sqltext.And(plain...); !all.IsZero() {
		on = r.conditions(all, s, joinConditions)
	}
	return on, sqltext.And(others...)
}

func hasSubquery(e sqltext.Expr) bool {
	if _, ok := e.Subquery(); ok {
		return true
	}
	return slices.ContainsFunc(e.Children(), hasSubquery)
}

// checkPadded has a query recomputed that has nulls in columns whose type only the server knows, unless it is recomputed anyway, as for what has such columns.
func (r *resolver) checkPadded(at int, n *algebra.Outer) {
	if len(r.result.Full) > 0 {
		return
	}
	for _, id := range n.Padded() {
		if info := r.columns.Info(id); info.Type == "" {
			r.full(at, "outer join of column "+info.Name+", whose type only the server knows", "cast it")
			return
		}
	}
}

func joined(kind sqltext.JoinKind, left, right algebra.Node, on []algebra.Scalar) algebra.Node {
	switch kind {
	case sqltext.Left, sqltext.Full:
		return &algebra.Outer{Left: left, Right: right, On: on, Full: kind == sqltext.Full}
	case sqltext.Right:
		return &algebra.Outer{Left: right, Right: left, On: on}
	}
	return &algebra.Join{Left: left, Right: right, On: on}
}

// using makes the conditions of USING, and merges the columns it names: first
// they, then what is left of either side. Those of a full join are computed.
func (r *resolver) using(j *sqltext.JoinRef, names []string, ls, rs, s *scope) (conds []algebra.Scalar, computed []algebra.Item) {
	var merged []column
	for _, name := range names {
		l, lok := r.usingColumn(j, name, ls, "left")
		rt, rok := r.usingColumn(j, name, rs, "right")
		if lok && rok {
			conds = append(conds, equal(l, rt))
		}
		if id, ok := r.merged(j, l, rt, lok, rok); ok {
			merged = append(merged, column{name, id})
			if j.Kind == sqltext.Full && lok && rok {
				both := sqltext.Coalesce(sqltext.Column(int(l)), sqltext.Column(int(rt)))
				computed = append(computed, algebra.Item{ID: id, Expr: algebra.Scalar{Expr: both}})
			}
		}
	}
	s.visible = append(append(merged, without(ls.visible, names)...), without(rs.visible, names)...)
	if j.UsingAlias != "" {
		s.tables = append(s.tables, namedTable{name: j.UsingAlias, columns: merged})
	}
	return conds, computed
}

// usingColumn is the column of a side that USING names.
func (r *resolver) usingColumn(j *sqltext.JoinRef, name string, side *scope, which string) (algebra.ColID, bool) {
	at := sqltext.NameInUsing(r.text, j.Right.At(), name)
	switch found := named(side.visible, name); {
	case len(found) > 1:
		r.errs.Add(ambiguousUsing(r.pos(at), name, which))
		return 0, false
	case len(found) == 0 && !side.open:
		r.errs.Add(unknownUsing(r.pos(at), name, which, side.visible))
		return 0, false
	}
	return r.column(sqltext.Ref{Pos: at, Parts: []string{name}}, own(side))
}

// own is a side of a join by itself.
func own(s *scope) *scope {
	alone := *s
	alone.outer = nil
	return &alone
}

// merged is the column that USING makes of two: of an outer join that of the side whose rows are all there, and of a full one neither.
func (r *resolver) merged(j *sqltext.JoinRef, left, right algebra.ColID, leftKnown, rightKnown bool) (algebra.ColID, bool) {
	if leftKnown && rightKnown {
		typ := r.mergeTypes(j.Right.At(), left, right)
		if j.Kind == sqltext.Full {
			info, other := r.columns.Info(left), r.columns.Info(right)
			if info.Type != other.Type {
				info.Type, info.Equality = typ, r.catalog.Equality(typ)
			}
			info.Varied, info.Any = info.Varied || other.Varied || info.Type != other.Type && !sqltext.IsExact(typ), info.Any || other.Any
			id := r.newColumn(info, func() catalog.Shape { return r.shapeOfColumn(left) })
			r.types[id] = typ
			return id, true
		}
	}
	switch {
	case rightKnown && (j.Kind == sqltext.Right || !leftKnown):
		return right, true
	}
	return left, leftKnown
}

// aliased hides the tables of a join behind its alias.
func (r *resolver) aliased(j *sqltext.JoinRef, s *scope) *scope {
	if j.Alias == "" {
		return s
	}
	columns := r.rename(j.Pos, s.visible, theTable(j.Alias), j.Columns, s.open)
	return &scope{tables: []namedTable{{name: j.Alias, columns: columns, open: s.open}}, visible: columns, open: s.open, order: s.order}
}

func equal(l, r algebra.ColID) algebra.Scalar {
	return algebra.Scalar{Expr: sqltext.Equals(sqltext.Column(int(l)), sqltext.Column(int(r)))}
}

func common(left, right []column) []string {
	var names []string
	for _, c := range left {
		if len(named(right, c.name)) > 0 && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

func without(columns []column, names []string) []column {
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return slices.Contains(names, c.name) })
}
