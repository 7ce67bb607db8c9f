package delta

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// staying are the rows that were there without those that go.
func (g growth) staying(gone algebra.Node) relation {
	return func(cols []algebra.SourceCol) algebra.Node {
		there := slices.Clone(cols)
		ids := make([]algebra.ColID, len(g.n.Cols))
		for i := range ids {
			at := slices.IndexFunc(cols, func(c algebra.SourceCol) bool { return c.Attr == i })
			if at < 0 {
				at = len(there)
				there = append(there, algebra.SourceCol{ID: g.columns.New(g.columns.Info(g.n.Cols[i])), Attr: i})
			}
			ids[i] = there[at].ID
		}
		hash := g.hashColumn()
		there = append(there, hash)
		of := g.again(gone)
		return &algebra.Semi{Left: g.stored(there), Right: of, On: g.same(of.Columns(), ids, hash.ID), Anti: true, AnySign: true}
	}
}

// tested are the rows of a branch that are in a relation, or are not.
func (g growth) tested(rows algebra.Branch, in relation, anti bool) algebra.Node {
	cols := make([]algebra.SourceCol, len(g.n.Cols))
	for i, id := range g.fresh() {
		cols[i] = algebra.SourceCol{ID: id, Attr: i}
	}
	hash := g.hashColumn()
	right := in(append(slices.Clone(cols), hash))
	ids := make([]algebra.ColID, len(cols))
	for i, c := range cols {
		ids[i] = c.ID
	}
	return &algebra.Semi{Left: rows.Input, Right: right, On: g.same(rows.Cols, ids, hash.ID), Anti: anti, AnySign: true}
}

// again are the rows of a node under other columns.
func (g growth) again(n algebra.Node) algebra.Node {
	p := &algebra.Project{Input: n}
	for i, id := range g.fresh() {
		p.Items = append(p.Items, algebra.Item{ID: id, Expr: algebra.Ref(n.Columns()[i])})
	}
	return p
}

// hashColumn is the hash of stored rows, under a number of its own.
func (g growth) hashColumn() algebra.SourceCol {
	attr := len(g.n.Cols)
	column := g.n.Stored.Columns[attr]
	return algebra.SourceCol{ID: g.columns.New(algebra.Info{Name: column.Name, Type: column.Type, Equality: column.Equality}), Attr: attr}
}

// same are the conditions that a row is one of the stored ones. Its hash finds it.
func (g growth) same(row, of []algebra.ColID, hash algebra.ColID) []algebra.Scalar {
	columns, names := map[string]int{"h": int(hash)}, []string{}
	for i, id := range row {
		names = append(names, fmt.Sprintf("c%d", i))
		columns[names[i]] = int(id)
	}
	found, err := sqltext.ParseExpr("hash_record_extended(row("+strings.Join(names, ", ")+"), 0) = h", columns)
	if err != nil {
		panic(err)
	}
	on := []algebra.Scalar{{Expr: found}}
	for i, id := range row {
		on = append(on, algebra.Scalar{Expr: sqltext.NotDistinct(sqltext.Column(int(of[i])), sqltext.Column(int(id)))})
	}
	return on
}

// restricted are the rows of a branch that are among those of a node. No index finds rows with nulls.
func (g growth) restricted(rows algebra.Branch, among algebra.Node) []algebra.Branch {
	p := &algebra.Project{Input: rows.Input}
	for i, id := range g.fresh() {
		p.Items = append(p.Items, algebra.Item{ID: id, Expr: algebra.Ref(rows.Cols[i])})
	}
	all, nulls, facts := g.again(among), g.again(among), g.props.Of(p)
	some, null := &algebra.Join{Left: p, Right: all}, &algebra.Join{Left: p}
	var has sqltext.Expr
	for i, id := range p.Columns() {
		some.On = append(some.On, equal(algebra.Ref(id), algebra.Ref(all.Columns()[i])))
		of := sqltext.Column(int(nulls.Columns()[i]))
		null.On = append(null.On, algebra.Scalar{Expr: sqltext.NotDistinct(sqltext.Column(int(id)), of)})
		if !facts.NotNull(id) {
			if null := sqltext.IsNull(of); has.IsZero() {
				has = null
			} else {
				has = sqltext.Or(has, null)
			}
		}
	}
	found := []algebra.Branch{{Input: some, Cols: p.Columns()}}
	if has.IsZero() {
		return found
	}
	null.Right = &algebra.Filter{Input: nulls, Conds: []algebra.Scalar{{Expr: has}}}
	any := &algebra.Project{Input: null.Right} // whether there are any, which is found out first
	return append(found, algebra.Branch{Input: &algebra.Semi{Left: null, Right: any, AnySign: true}, Cols: p.Columns()})
}
