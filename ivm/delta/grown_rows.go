package delta

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// gone are the stored rows that follow from first ones, each with its hash, and all others with such a hash: rows are excluded by their hashes alone. Those that
// did not have to be deleted are derived again.
func (g growth) gone(start algebra.Node) *algebra.Recursion {
	n := g.recursionOf(start, g.among)
	n.Seed = g.among(n.Seed)
	n.Cols = append(slices.Clone(n.Cols), g.hashColumn().ID)
	return n
}

// among are the stored rows, with their hashes, that have the hashes of rows.
func (g growth) among(rows algebra.Branch) algebra.Branch {
	cols := g.whole()
	stored := g.stored(cols)
	on := g.same(rows.Cols, nil, cols[len(cols)-1].ID)
	return algebra.Branch{Input: &algebra.Join{Left: rows.Input, Right: stored, On: on}, Cols: stored.Columns()}
}

// staying are the rows that were there without those that go. To test each against all of these, one by one, would take the square of their number, and to join
// both, all rows that were there.
func (g growth) staying(gone algebra.Node) relation {
	return func(cols []algebra.SourceCol) algebra.Node {
		hash := g.hashColumn()
		last := algebra.Item{ID: g.hashColumn().ID, Expr: algebra.Ref(gone.Columns()[len(g.n.Cols)])}
		return &algebra.Semi{
			Left: g.stored(append(slices.Clone(cols), hash)), Right: &algebra.Project{Input: gone, Items: []algebra.Item{last}},
			On: []algebra.Scalar{equal(algebra.Ref(hash.ID), algebra.Ref(last.ID))}, Anti: true, AnySign: true, Listed: true,
		}
	}
}

// outside are the rows of a branch that are not in a relation.
func (g growth) outside(rows algebra.Branch, in relation) algebra.Node {
	cols := g.whole()
	ids := make([]algebra.ColID, len(g.n.Cols))
	for i := range ids {
		ids[i] = cols[i].ID
	}
	return &algebra.Semi{Left: rows.Input, Right: in(cols), On: g.same(rows.Cols, ids, cols[len(ids)].ID), Anti: true, AnySign: true}
}

// whole are the columns of stored rows with their hash, which is the last.
func (g growth) whole() (cols []algebra.SourceCol) {
	for i, id := range g.fresh() {
		cols = append(cols, algebra.SourceCol{ID: id, Attr: i})
	}
	return append(cols, g.hashColumn())
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

// same are the conditions that a row is one of the stored ones, or without their columns, that it has the hash of one. Its hash finds it.
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
	for i, id := range of {
		on = append(on, algebra.Scalar{Expr: sqltext.NotDistinct(sqltext.Column(int(id)), sqltext.Column(int(row[i])))})
	}
	return on
}

// restricted are the rows of a branch that are among those of a node. No index finds rows with nulls, but by IS NULL, which one column that may be null is enough for.
func (g growth) restricted(rows algebra.Branch, among algebra.Node) []algebra.Branch {
	p := &algebra.Project{Input: rows.Input}
	for i, id := range g.fresh() {
		p.Items = append(p.Items, algebra.Item{ID: id, Expr: algebra.Ref(rows.Cols[i])})
	}
	all, nulls, facts := g.again(among), g.again(among), g.props.Of(p)
	some, null := &algebra.Join{Left: p, Right: all}, &algebra.Join{Left: p}
	var has sqltext.Expr
	one := -1 // of the columns, the only one that may be null
	for i, id := range p.Columns() {
		some.On = append(some.On, equal(algebra.Ref(id), algebra.Ref(all.Columns()[i])))
		of := sqltext.Column(int(nulls.Columns()[i]))
		null.On = append(null.On, algebra.Scalar{Expr: sqltext.NotDistinct(sqltext.Column(int(id)), of)})
		if !facts.NotNull(id) {
			if null := sqltext.IsNull(of); has.IsZero() {
				has, one = null, i
			} else {
				has, one = sqltext.Or(has, null), -1
			}
		}
	}
	found := []algebra.Branch{{Input: some, Cols: p.Columns()}}
	if has.IsZero() {
		return found
	}
	if one >= 0 {
		null.On[one] = algebra.Scalar{Expr: sqltext.IsNull(sqltext.Column(int(p.Columns()[one])))}
	}
	null.Right = &algebra.Filter{Input: nulls, Conds: []algebra.Scalar{{Expr: has}}}
	any := &algebra.Project{Input: null.Right} // whether there are any, which is found out first
	return append(found, algebra.Branch{Input: &algebra.Semi{Left: null, Right: any, AnySign: true}, Cols: p.Columns()})
}
