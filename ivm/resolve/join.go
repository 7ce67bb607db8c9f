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
	within := inside(before) // what LATERAL in it sees: this side before what stands before the join
	within.tables, within.visible, within.open = ls.tables, ls.visible, ls.open
	right, rs := r.from(j.Right, within)

	s := inside(before)
	r.add(s, ls, j.Left.At())
	r.add(s, rs, j.Right.At())
	node := &algebra.Join{Left: left, Right: right}
	using := j.Using
	if j.Natural {
		using = common(ls.visible, rs.visible)
		if ls.open || rs.open {
			r.full(j.Right.At(), "natural join of columns that are not known", "write USING")
		}
	}
	if len(using) > 0 {
		node.On = r.using(j, using, ls, rs, s)
	} else if !j.On.IsZero() {
		node.On = r.conditions(j.On, s, "JOIN conditions")
	}
	switch j.Kind {
	case sqltext.Left, sqltext.Right, sqltext.Full:
		r.full(j.Right.At(), string(j.Kind)+" join", "")
	}
	return node, r.aliased(j, s)
}

// using makes the conditions of USING, and merges the columns it names: first
// they, then what is left of either side.
func (r *resolver) using(j *sqltext.JoinRef, names []string, ls, rs, s *scope) []algebra.Scalar {
	var conds []algebra.Scalar
	var merged []column
	for _, name := range names {
		l, lok := r.usingColumn(j, name, ls, "left")
		rt, rok := r.usingColumn(j, name, rs, "right")
		if lok && rok {
			conds = append(conds, equal(l, rt))
		}
		if id, ok := r.merged(j, l, rt, lok, rok); ok {
			merged = append(merged, column{name, id})
		}
	}
	s.visible = append(append(merged, without(ls.visible, names)...), without(rs.visible, names)...)
	if j.UsingAlias != "" {
		s.tables = append(s.tables, namedTable{name: j.UsingAlias, columns: merged})
	}
	return conds
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
			id := r.newColumn(r.columns.Info(left), func() catalog.Shape { return r.shapeOfColumn(left) })
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
