package resolve

import (
	"slices"
	"strconv"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/typing"
)

// sel resolves a SELECT, clause by clause in the order in which SQL means them.
func (r *resolver) sel(q *sqltext.Select, outer *scope) relation {
	node, s := r.fromList(q.From, outer)
	s.level.at = r.ownerPlace(q)
	for _, t := range q.Targets {
		if t.Alias != "" {
			s.aliases = append(s.aliases, t.Alias)
		}
	}
	if !q.Where.IsZero() {
		node = r.where(node, q.Where, s, "WHERE")
		if s.order != nil && slices.ContainsFunc(q.Where.Conjuncts(), isTest) {
			s.order = unknownOrder
		}
	}
	s.windows = q.Windows
	targets, open := r.targets(q.Targets, s)
	q, targets = alike(withWindows(q, targets), targets)
	var rel relation
	of := selected{targets: targets, on: q.DistinctOn, over: func(e algebra.Scalar) algebra.Scalar { return e }}
	if r.grouped(q, s, targets) {
		rel, of.over = r.group(q, node, s, targets)
		if s.order != nil && len(q.Group) > 0 {
			of.order, rel.order = unknownOrder, unknownOrder
		}
	} else {
		values, windows, rows := &joining{resolver: r, scope: s, from: node}, &windowing{resolver: r, scope: s, order: s.order}, &sets{resolver: r, scope: s}
		rel = r.project(nil, targets, s, func(t target) algebra.Scalar {
			if _, ok := r.unmade(t.expr, s); ok {
				return algebra.Scalar{Expr: t.expr}
			}
			return rows.bind(t, func(t target) algebra.Scalar { return windows.over(values.bind(t.expr, "")) })
		})
		of.order = s.order
		if s.order != nil && windows.sorts {
			of.order = unknownOrder
		}
		rel.order = of.order.through(rel.node.(*algebra.Project).Items)
		rel.node = rel.node.With([]algebra.Node{rows.over(windows.attach(attach(node, values.sides)))})
	}
	rel.open = open
	if q.Distinct {
		r.checkDistinct(rel)
		rel.node, of.over = &algebra.Distinct{Input: rel.node}, nil
		if s.order != nil {
			of.order, rel.order = unknownOrder, unknownOrder
		}
	}
	r.checkDistinctOrder(q, s, rel, targets)
	r.windows(q.Windows, s)
	return r.tail(q.Tail, q.Pos, s, rel, of)
}

// checkDistinctOrder checks that DISTINCT leaves what its rows are sorted by, and that those of DISTINCT ON are sorted by what it names first.
func (r *resolver) checkDistinctOrder(q *sqltext.Select, s *scope, rel relation, targets []target) {
	var on []algebra.ColID // 0: not of the output
	for _, e := range q.DistinctOn {
		id, _, _ := r.orderBy(sqltext.SortItem{Expr: e}, s, rel, targets, "DISTINCT ON")
		on = append(on, id)
	}
	if rel.open != nil || slices.Contains(on, 0) {
		return
	}
	left := slices.Clone(on)
	for _, item := range q.Order {
		id, _, ok := r.apart().silent().orderBy(item, s, rel, targets, "ORDER BY")
		switch {
		case q.Distinct && !ok:
			r.errs.Add(unsortedDistinct(r.pos(max(0, item.Expr.At()))))
		case !slices.Contains(on, id):
			if len(left) > 0 {
				at := slices.Index(on, left[0])
				r.errs.Add(unsortedDistinctOn(r.pos(max(0, q.DistinctOn[at].At()))))
			}
			return
		}
		left = slices.DeleteFunc(left, func(o algebra.ColID) bool { return o == id })
	}
}

// windows resolves the WINDOW clause, which says nothing unless a window function names it.
func (r *resolver) windows(windows []sqltext.Window, s *scope) {
	for n, w := range windows {
		if slices.ContainsFunc(windows[:n], func(before sqltext.Window) bool { return before.Name == w.Name }) {
			r.errs.Add(repeatedWindow(r.pos(w.Pos), w.Name))
		}
		r.checkWindow(&w, windows[:n])
		r.bindAll(w.Partition, s, "")
		for _, item := range w.Order {
			r.bind(item.Expr, s, "")
		}
		r.bindAll(w.Bounds, s, "")
	}
}

// target is an item of the select list, stars expanded.
type target struct {
	name  string
	expr  sqltext.Expr
	at    int
	shape shapeOf // nil: that of the expression
}

// targets are the items of a select list. Open is the place of a star that stands for columns which are not known besides; nil if all are.
func (r *resolver) targets(list []sqltext.Target, s *scope) (all []target, open *diag.Pos) {
	all = []target{}
	for _, t := range list {
		switch {
		case t.Expr.Star():
			columns, known := r.star(t, s)
			if all = append(all, columns...); !known {
				at := r.pos(max(0, t.Pos))
				open = &at
			}
		case t.Alias != "":
			all = append(all, target{name: t.Alias, expr: t.Expr, at: t.Pos})
		default:
			all = append(all, target{name: sqltext.FigureName(t.Expr, r.firstName(s)), expr: t.Expr, at: t.Pos})
		}
	}
	return all, open
}

// firstName names a subquery in a select list, after its first column.
func (r *resolver) firstName(s *scope) func(sqltext.Query) string {
	return func(q sqltext.Query) string {
		if name, ok := sqltext.FirstName(q); ok {
			return name
		}
		if rel := r.apart().silent().query(q, s); len(rel.names) > 0 {
			return rel.names[0]
		}
		return "?column?"
	}
}

// star is what *, t.* or (row).* stands for; known is false if there are other columns, which only the server knows.
func (r *resolver) star(item sqltext.Target, s *scope) (all []target, known bool) {
	ref, ok := item.Expr.Ref()
	if !ok {
		return r.fields(item, s)
	}
	columns, open := s.visible, s.open
	if len(ref.Parts) > 0 {
		t := r.tableAround(s, ref.Parts)
		if t == nil {
			r.errs.Add(unknownAlias(r.pos(ref.Pos), ref.Parts, s))
			return nil, true
		}
		columns, open = t.columns, t.open
	}
	for _, c := range columns {
		all = append(all, target{name: c.name, expr: sqltext.Column(int(c.id)), at: item.Pos})
	}
	return all, !open
}

// fields is what (row).* stands for.
func (r *resolver) fields(item sqltext.Target, s *scope) (all []target, known bool) {
	if row, ok := r.fieldsOf(item.Expr.Starred(), s); ok {
		for _, c := range row.fields {
			all = append(all, target{name: c.name, expr: sqltext.Column(int(c.id)), at: item.Pos})
		}
		return all, true
	}
	row := r.resultOf(r.apart().silent().bind(item.Expr.Starred(), s, "").Expr, s)
	for _, c := range row.Columns {
		all = append(all, target{name: c.Name, expr: item.Expr.Starred().Field(c.Name), at: item.Pos, shape: of(r.catalog.ShapeOf(c.Type))})
	}
	if known = row.Kind == catalog.RowShape && !row.open; !known {
		r.bind(item.Expr.Starred(), s, "")
		r.full(item.Expr.At(), "expansion of a row", "name its columns")
	}
	return all, known
}

// project makes the columns of a select list.
func (r *resolver) project(node algebra.Node, targets []target, s *scope, bind func(target) algebra.Scalar) relation {
	rel := relation{}
	p := &algebra.Project{Input: node}
	for _, t := range targets {
		item := algebra.Item{Expr: bind(t)}
		info := r.computed(t.name, item.Expr)
		if id, ok := item.Expr.Column(); ok {
			info = r.columns.Info(id)
			info.Name = t.name
		}
		shape := t.shape
		if shape == nil {
			shape = func() catalog.Shape { return r.shape(item.Expr.Expr, s) }
		}
		item.ID = r.typed(info, shape, item.Expr.Expr)
		if id, ok := item.Expr.Column(); ok && r.paths[id] {
			r.paths[item.ID] = true
		}
		r.measure(item, t.at)
		p.Items = append(p.Items, item)
		rel.names, rel.ids, rel.at = append(rel.names, t.name), append(rel.ids, item.ID), append(rel.at, r.pos(t.at))
	}
	for _, item := range p.Items {
		if row, ok := r.unmade(item.Expr.Expr, s); ok {
			r.rowItems(p, item.ID, row)
		}
	}
	rel.node = p
	return rel
}

// computed is what is known of an expression as a column.
func (r *resolver) computed(name string, e algebra.Scalar) algebra.Info {
	typ := r.typeOf(e)
	info := algebra.Info{Name: name, Type: typ, Equality: r.catalog.Equality(typ), Varied: r.varied(e, typ)}
	if !sqltext.IsExact(typ) && slices.ContainsFunc(e.Columns(), func(id algebra.ColID) bool { return r.columns.Info(id).Any }) {
		info.Varied, info.Any = false, true
	}
	return info
}

// varied reports whether equal values of an expression may differ. Of a type that only the server knows, they may where those do of which it is made.
func (r *resolver) varied(e algebra.Scalar, typ string) bool {
	columns := e.Columns()
	switch {
	case len(columns) == 0 || sqltext.IsExact(typ):
		return false
	case typ == "numeric":
		return r.columns.ScaleOf(e) == sqltext.VariedScale
	case typ == "":
		return slices.ContainsFunc(columns, func(id algebra.ColID) bool { return r.columns.Info(id).Varied })
	}
	return true
}

// typeOf is the type of an expression, as far as it is known; that of a literal is text, which it becomes as a column.
func (r *resolver) typeOf(e algebra.Scalar) string {
	typ := r.silent().checker().Type(e.Expr)
	if typ == typing.Unknown {
		return "text"
	}
	return typ
}

func itoa(n int) string { return strconv.Itoa(n) }
