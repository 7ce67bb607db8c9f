package resolve

import (
	"maps"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// correlation is what a subquery reads of the rows around it, pulled up: as conditions on a row of either, and columns of the subquery that are computed from
// both.
type correlation struct {
	*resolver
	conds    []algebra.Scalar
	computed map[algebra.ColID]algebra.Scalar
	any      bool // it only matters whether there is a row
}

func (r *resolver) correlation() correlation {
	return correlation{resolver: r, computed: map[algebra.ColID]algebra.Scalar{}}
}

// up is the tree of a subquery of which it only matters whether there is a row, without what it reads of the rows around it.
func (c *correlation) up(n algebra.Node) algebra.Node {
	c.any = true
	return c.rows(n)
}

// rows is up for a tree whose rows are counted, but for those of c.any.
func (c *correlation) rows(n algebra.Node) algebra.Node {
	switch n := n.(type) {
	case *algebra.Project:
		return c.project(n)
	case *algebra.Distinct:
		if c.any { // one row of several that are alike will do
			return c.rows(n.Input)
		}
	case *algebra.Filter:
		input := c.rows(n.Input)
		if own := c.own(n.Conds, input.Columns()); len(own) > 0 {
			return &algebra.Filter{Input: input, Conds: own}
		}
		return input
	case *algebra.Join:
		return c.join(n.Left, n.Right, n.On)
	case *algebra.Semi:
		return c.semi(n)
	case *algebra.Union:
		if u, ok := c.union(n); ok {
			return u
		}
	case *algebra.Aggregate:
		var b beside
		if !n.Global && c.groupedByEqual(n, &b) {
			c.conds = append(c.conds, b.on...)
			return b.groups
		}
	}
	return n
}

func (c *correlation) join(left, right algebra.Node, on []algebra.Scalar) algebra.Node {
	join := &algebra.Join{Left: c.rows(left), Right: c.rows(right)}
	join.On = c.own(on, join.Columns())
	return join
}

// semi is a join where its conditions read the rows around and a pair for each partner will do. Otherwise nothing is pulled up that they read.
func (c *correlation) semi(n *algebra.Semi) algebra.Node {
	of := c.correlation()
	of.any = c.any
	left := of.rows(n.Left)
	around := slices.ContainsFunc(n.On, func(e algebra.Scalar) bool { return !within(e, slices.Concat(left.Columns(), n.Right.Columns())) })
	computed := slices.ContainsFunc(n.On, func(e algebra.Scalar) bool { return slices.ContainsFunc(e.Columns(), of.computes) })
	switch {
	case around && c.any && !n.Anti:
		return c.join(n.Left, n.Right, n.On)
	case computed:
		return n
	}
	c.add(of)
	return n.With([]algebra.Node{left, n.Right})
}

// add takes over what was pulled up of a tree below.
func (c *correlation) add(of correlation) {
	c.conds = append(c.conds, of.conds...)
	maps.Copy(c.computed, of.computed)
}

// computes reports whether a column is computed from both.
func (c *correlation) computes(id algebra.ColID) bool {
	_, ok := c.computed[id]
	return ok
}

// union has a column more for each expression around that all parts compare with theirs by equalities, of one type.
func (c *correlation) union(n *algebra.Union) (algebra.Node, bool) {
	u := &algebra.Union{Cols: slices.Clone(n.Cols), Mixed: n.Mixed}
	var around []algebra.Scalar
	var types []string
	for i, b := range n.From {
		pulled := c.correlation()
		pulled.any = c.any
		groups := &algebra.Aggregate{Input: pulled.rows(b.Input)} // of which only the keys are wanted
		if len(pulled.conds) == 0 || len(pulled.computed) > 0 || i > 0 && len(pulled.conds) != len(around) {
			return nil, false
		}
		of := algebra.Branch{Cols: slices.Clone(b.Cols)}
		for at, cond := range pulled.conds {
			on, ok := c.keyed(groups, cond)
			if !ok || len(groups.Keys) != at+1 {
				return nil, false
			}
			key := groups.Keys[at]
			_, other, _ := on.Expr.Equality()
			typ, info := c.typeOf(key.Expr), c.columns.InfoOf(key.Expr)
			if info.Varied || info.Any {
				return nil, false
			}
			if i == 0 {
				around, types = append(around, algebra.Scalar{Expr: other}), append(types, typ)
				u.Cols = append(u.Cols, c.columns.New(info))
			} else if !sqltext.Equal(around[at].Expr, other) || types[at] != typ {
				return nil, false
			}
			of.Cols = append(of.Cols, key.ID)
		}
		of.Input = &algebra.Project{Input: groups.Input, Items: append(algebra.Same(b.Cols), groups.Keys...)}
		u.From = append(u.From, of)
	}
	for at, e := range around {
		c.conds = append(c.conds, algebra.Scalar{Expr: sqltext.Equals(sqltext.Column(int(u.Cols[len(n.Cols)+at])), e.Expr)})
	}
	return u, true
}

// own are the conditions that read columns of a tree only; the others are pulled up.
func (c *correlation) own(conds []algebra.Scalar, columns []algebra.ColID) []algebra.Scalar {
	var own []algebra.Scalar
	for _, cond := range conds {
		cond = c.over(cond)
		if within(cond, columns) {
			own = append(own, cond)
		} else {
			c.conds = append(c.conds, cond)
		}
	}
	return own
}

// over puts computed columns in their place.
func (c *correlation) over(e algebra.Scalar) algebra.Scalar {
	return algebra.Scalar{Expr: e.Expr.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		id, ok := e.Column()
		if !ok {
			return sqltext.Expr{}, false
		}
		expr, computed := c.computed[algebra.ColID(id)]
		return expr.Expr, computed
	})}
}

// project passes on what is pulled up of its input besides its own columns. What is pulled up of other trees may read the same columns there, of rows that
// stand in both.
func (c *correlation) project(n *algebra.Project) algebra.Node {
	of := c.correlation()
	of.any = c.any
	input := of.rows(n.Input)
	p := &algebra.Project{Input: input}
	for _, item := range n.Items {
		if item.Expr = of.over(item.Expr); within(item.Expr, input.Columns()) {
			p.Items = append(p.Items, item)
		} else {
			of.computed[item.ID] = item.Expr
		}
	}
	for _, id := range input.Columns() {
		if of.reads(id) && !slices.Contains(p.Columns(), id) {
			p.Items = append(p.Items, algebra.Item{ID: id, Expr: algebra.Ref(id)})
		}
	}
	c.add(of)
	return p
}

// reads reports whether something that was pulled up reads a column.
func (c *correlation) reads(id algebra.ColID) bool {
	reads := func(e algebra.Scalar) bool { return slices.Contains(e.Columns(), id) }
	for _, e := range c.computed {
		if reads(e) {
			return true
		}
	}
	return slices.ContainsFunc(c.conds, reads)
}

func within(e algebra.Scalar, columns []algebra.ColID) bool {
	return !slices.ContainsFunc(e.Columns(), func(id algebra.ColID) bool { return !slices.Contains(columns, id) })
}
