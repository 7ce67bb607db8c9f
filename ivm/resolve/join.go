package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// join resolves JOIN in all its spellings.
func (r *resolver) join(j *sqltext.JoinRef, before *scope) (algebra.Node, *scope) {
	left, ls := r.from(j.Left, before)
	within := inside(before)
	within.tables, within.visible = slices.Clone(before.tables), slices.Clone(before.visible)
	within.tables, within.visible = append(within.tables, ls.tables...), append(within.visible, ls.visible...)
	right, rs := r.from(j.Right, within)

	s := inside(before)
	s.open = ls.open || rs.open
	r.add(s, ls, j.Left.At())
	r.add(s, rs, j.Right.At())
	node := &algebra.Join{Left: left, Right: right}
	using := j.Using
	if j.Natural {
		using = common(ls.visible, rs.visible)
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
		l, lok := r.column(sqltext.Ref{Pos: j.Right.At(), Parts: []string{name}}, ls)
		rt, rok := r.column(sqltext.Ref{Pos: j.Right.At(), Parts: []string{name}}, rs)
		if lok && rok {
			conds = append(conds, equal(l, rt))
			merged = append(merged, column{name, l})
		}
	}
	s.visible = append(append(merged, without(ls.visible, names)...), without(rs.visible, names)...)
	if j.UsingAlias != "" {
		s.tables = append(s.tables, namedTable{name: j.UsingAlias, columns: merged})
	}
	return conds
}

// aliased hides the tables of a join behind its alias.
func (r *resolver) aliased(j *sqltext.JoinRef, s *scope) *scope {
	if j.Alias == "" {
		return s
	}
	columns := r.rename(j.Pos, s.visible, j.Alias, j.Columns)
	return &scope{tables: []namedTable{{name: j.Alias, columns: columns, open: s.open}}, visible: columns, open: s.open}
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
