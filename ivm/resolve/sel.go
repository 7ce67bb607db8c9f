package resolve

import (
	"slices"
	"strconv"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// sel resolves a SELECT, clause by clause in the order in which SQL means them.
func (r *resolver) sel(q *sqltext.Select, outer *scope) relation {
	node, s := r.fromList(q.From, outer)
	if !q.Where.IsZero() {
		node = &algebra.Filter{Input: node, Conds: r.conditions(q.Where, s, "WHERE")}
	}
	targets := r.targets(q.Targets, s)
	var rel relation
	open := r.openStar(q.Targets, s)
	if r.grouped(q, targets) {
		rel = r.group(q, node, s, targets)
	} else {
		rel = r.project(node, targets, func(t target) algebra.Scalar { return r.bind(t.expr, s, "") })
	}
	rel.open = open
	if q.Distinct {
		rel.node = &algebra.Distinct{Input: rel.node}
	}
	if len(q.DistinctOn) > 0 {
		r.full(q.DistinctOn[0].At(), "DISTINCT ON", "")
	}
	r.tail(q.Tail, q.Pos)
	return rel
}

// target is an item of the select list, stars expanded.
type target struct {
	name string
	expr sqltext.Expr
	at   int
}

func (r *resolver) targets(list []sqltext.Target, s *scope) []target {
	var all []target
	for _, t := range list {
		switch {
		case t.Expr.Star():
			all = append(all, r.star(t, s)...)
		case t.Alias != "":
			all = append(all, target{t.Alias, t.Expr, t.Pos})
		default:
			all = append(all, target{sqltext.FigureName(t.Expr, nil), t.Expr, t.Pos})
		}
	}
	return all
}

// star is what * or t.* stands for.
func (r *resolver) star(item sqltext.Target, s *scope) []target {
	ref, ok := item.Expr.Ref()
	if !ok {
		r.full(item.Expr.At(), "expansion of a row", "name its columns")
		return nil
	}
	columns := s.visible
	if len(ref.Parts) > 0 {
		t := s.table(ref.Parts)
		if t == nil {
			r.errs.Add(unknownAlias(r.pos(ref.Pos), ref.Parts, s))
			return nil
		}
		columns = t.columns
	}
	var all []target
	for _, c := range columns {
		all = append(all, target{c.name, sqltext.Column(int(c.id)), item.Pos})
	}
	return all
}

// openStar finds a star that stands for columns which are not known.
func (r *resolver) openStar(list []sqltext.Target, s *scope) *diag.Pos {
	for _, item := range list {
		if !item.Expr.Star() {
			continue
		}
		ref, ok := item.Expr.Ref()
		open := !ok || s.open
		if len(ref.Parts) > 0 {
			t := s.table(ref.Parts)
			open = t != nil && t.open
		}
		if open {
			at := r.pos(max(0, item.Pos))
			return &at
		}
	}
	return nil
}

// project makes the columns of a select list.
func (r *resolver) project(node algebra.Node, targets []target, bind func(target) algebra.Scalar) relation {
	rel := relation{}
	p := &algebra.Project{Input: node}
	for _, t := range targets {
		item := algebra.Item{Expr: bind(t)}
		info := r.computed(t.name, item.Expr)
		if id, ok := item.Expr.Column(); ok {
			info = r.columns.Info(id)
			info.Name = t.name
		}
		item.ID = r.columns.New(info)
		p.Items = append(p.Items, item)
		rel.names, rel.ids, rel.at = append(rel.names, t.name), append(rel.ids, item.ID), append(rel.at, r.pos(t.at))
	}
	rel.node = p
	return rel
}

// computed is what is known of an expression as a column.
func (r *resolver) computed(name string, e algebra.Scalar) algebra.Info {
	typ := r.typeOf(e)
	return algebra.Info{Name: name, Type: typ, Nullable: true, Equality: r.catalog.Equality(typ), Varied: r.varied(e, typ)}
}

// varied reports whether equal values of an expression may differ. Of a type that only the server knows, they may where those do of which it is made.
func (r *resolver) varied(e algebra.Scalar, typ string) bool {
	columns := e.Columns()
	switch {
	case len(columns) == 0 || sqltext.IsExact(typ):
		return false
	case typ == "numeric":
		return e.Expr.Scale(sqltext.Scales{Types: r.types(), Fixed: func(id int) bool { return !r.columns.Info(algebra.ColID(id)).Varied }}) == sqltext.VariedScale
	case typ == "":
		return slices.ContainsFunc(columns, func(id algebra.ColID) bool { return r.columns.Info(id).Varied })
	}
	return true
}

// typeOf is the type of an expression, as far as it is known.
func (r *resolver) typeOf(e algebra.Scalar) string {
	if e.Expr.IsZero() {
		return ""
	}
	return e.Expr.Type(r.types())
}

// types tells the types of what expressions name.
func (r *resolver) types() sqltext.Types {
	return sqltext.Types{
		Column:   func(id int) string { return r.columns.Info(algebra.ColID(id)).Type },
		Function: func(schema, name string, args int) string { return r.catalog.ResultIn(r.path, schema, name, args) },
		Named:    func(schema, name string) string { return r.catalog.TypeNameIn(r.path, schema, name) },
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
