package resolve

import (
	"slices"
	"strconv"

	"github.com/pgsluice/sluice/ivm/algebra"
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
	if r.grouped(q, targets) {
		rel = r.group(q, node, s, targets)
	} else {
		rel = r.project(node, targets, func(t target) algebra.Scalar { return r.bind(t.expr, s, "") })
	}
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
}

func (r *resolver) targets(list []sqltext.Target, s *scope) []target {
	var all []target
	for _, t := range list {
		switch {
		case t.Expr.Star():
			all = append(all, r.star(t.Expr, s)...)
		case t.Alias != "":
			all = append(all, target{t.Alias, t.Expr})
		default:
			all = append(all, target{sqltext.FigureName(t.Expr, nil), t.Expr})
		}
	}
	return all
}

// star is what * or t.* stands for.
func (r *resolver) star(e sqltext.Expr, s *scope) []target {
	ref, ok := e.Ref()
	if !ok {
		r.full(e.At(), "expansion of a row", "name its columns")
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
		all = append(all, target{c.name, sqltext.Column(int(c.id))})
	}
	return all
}

// project makes the columns of a select list.
func (r *resolver) project(node algebra.Node, targets []target, bind func(target) algebra.Scalar) relation {
	rel := relation{}
	p := &algebra.Project{Input: node}
	for _, t := range targets {
		item := algebra.Item{Expr: bind(t)}
		info := algebra.Info{Name: t.name, Type: r.typeOf(item.Expr), Nullable: true}
		info.Varied = !sqltext.IsExact(info.Type) && slices.ContainsFunc(item.Expr.Columns(), func(id algebra.ColID) bool { return r.columns.Info(id).Varied })
		if id, ok := item.Expr.Column(); ok {
			info = r.columns.Info(id)
			info.Name = t.name
		}
		item.ID = r.columns.New(info)
		p.Items = append(p.Items, item)
		rel.names, rel.ids = append(rel.names, t.name), append(rel.ids, item.ID)
	}
	rel.node = p
	return rel
}

// typeOf is the type of an expression, as far as it is known.
func (r *resolver) typeOf(e algebra.Scalar) string {
	if e.Expr.IsZero() {
		return ""
	}
	return e.Expr.Type(func(id int) string { return r.columns.Info(algebra.ColID(id)).Type })
}

func itoa(n int) string { return strconv.Itoa(n) }
