package algebra

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/catalog"
)

// Node is an operator. The kinds are those of this package.
type Node interface {
	// Columns are those of the rows that the node makes, in order.
	Columns() []ColID
	// Inputs are the nodes below.
	Inputs() []Node
	// With is the same operator over other inputs, as many as before.
	With(inputs []Node) Node
	// reads are the scalars of the node, over columns of its inputs.
	reads() []Scalar
}

// SourceCol is a column of a table under its number.
type SourceCol struct {
	ID   ColID
	Attr int // index into the table's columns
}

// Source is one occurrence of a table in a query, after the changes.
type Source struct {
	Table *catalog.Relation
	Cols  []SourceCol // those that the query reads
}

// Changes are the signed rows by which the table of an occurrence changed.
// They bear the occurrence's columns.
type Changes struct{ Of *Source }

// Values are constant rows.
type Values struct {
	Cols []ColID
	Rows [][]Scalar
}

// Filter keeps rows for which all conditions are true.
type Filter struct {
	Input Node
	Conds []Scalar
}

// Project computes columns.
type Project struct {
	Input Node
	Items []Item
}

// Union adds bags: UNION ALL.
type Union struct {
	Cols []ColID
	From []Branch
	// Mixed has the union stay one relation: branches may have other types than it gives its columns, so that what stands above must not be computed from
	// a branch alone, or there are too many of them.
	Mixed bool
}

// Branch is an input of a union and the columns of it that become the union's.
type Branch struct {
	Input Node
	Cols  []ColID
}

// Negate turns the sign of each multiplicity.
type Negate struct{ Input Node }

// Consolidate adds up the multiplicities of equal rows and drops zeros.
type Consolidate struct {
	Input Node
	Only  Sign
}

// Sign has one kind of changes stay: rows that come, or rows that go, which then count as often as they went.
type Sign int

// The signs; 0 is either.
const (
	Gone Sign = iota - 1
	_
	Come
)

// Join pairs rows for which all conditions are true; without conditions, all
// with all. Multiplicities multiply.
type Join struct {
	Left, Right Node
	On          []Scalar
}

func (n *Source) Columns() []ColID      { return sourceIDs(n.Cols) }
func (n *Changes) Columns() []ColID     { return n.Of.Columns() }
func (n *Values) Columns() []ColID      { return slices.Clip(n.Cols) } // so that what is appended is another slice
func (n *Filter) Columns() []ColID      { return n.Input.Columns() }
func (n *Project) Columns() []ColID     { return itemIDs(n.Items) }
func (n *Union) Columns() []ColID       { return slices.Clip(n.Cols) }
func (n *Negate) Columns() []ColID      { return n.Input.Columns() }
func (n *Consolidate) Columns() []ColID { return n.Input.Columns() }
func (n *Join) Columns() []ColID        { return both(n.Left, n.Right) }

func (n *Source) Inputs() []Node      { return nil }
func (n *Changes) Inputs() []Node     { return nil }
func (n *Values) Inputs() []Node      { return nil }
func (n *Filter) Inputs() []Node      { return []Node{n.Input} }
func (n *Project) Inputs() []Node     { return []Node{n.Input} }
func (n *Negate) Inputs() []Node      { return []Node{n.Input} }
func (n *Consolidate) Inputs() []Node { return []Node{n.Input} }
func (n *Join) Inputs() []Node        { return []Node{n.Left, n.Right} }

// Inputs are the branches' nodes.
func (n *Union) Inputs() []Node {
	var inputs []Node
	for _, b := range n.From {
		inputs = append(inputs, b.Input)
	}
	return inputs
}

func (n *Source) With([]Node) Node         { return n }
func (n *Changes) With([]Node) Node        { return n }
func (n *Values) With([]Node) Node         { return n }
func (n *Filter) With(in []Node) Node      { return &Filter{in[0], n.Conds} }
func (n *Project) With(in []Node) Node     { return &Project{in[0], n.Items} }
func (n *Negate) With(in []Node) Node      { return &Negate{in[0]} }
func (n *Consolidate) With(in []Node) Node { return &Consolidate{in[0], n.Only} }
func (n *Join) With(in []Node) Node        { return &Join{in[0], in[1], n.On} }

// With is the union of other inputs, with the columns under the same numbers.
func (n *Union) With(in []Node) Node {
	u := &Union{Cols: n.Cols, Mixed: n.Mixed}
	for i, b := range n.From {
		u.From = append(u.From, Branch{in[i], b.Cols})
	}
	return u
}

func (n *Source) reads() []Scalar      { return nil }
func (n *Changes) reads() []Scalar     { return nil }
func (n *Filter) reads() []Scalar      { return n.Conds }
func (n *Project) reads() []Scalar     { return itemExprs(n.Items) }
func (n *Negate) reads() []Scalar      { return nil }
func (n *Consolidate) reads() []Scalar { return nil }
func (n *Join) reads() []Scalar        { return n.On }

func (n *Values) reads() []Scalar {
	var all []Scalar
	for _, row := range n.Rows {
		all = append(all, row...)
	}
	return all
}

func (n *Union) reads() []Scalar { return nil } // columns, by branch: see Verify

func sourceIDs(cols []SourceCol) []ColID {
	ids := make([]ColID, len(cols))
	for i, c := range cols {
		ids[i] = c.ID
	}
	return ids
}

func itemIDs(items []Item) []ColID {
	ids := make([]ColID, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	return ids
}

func itemExprs(items []Item) []Scalar {
	exprs := make([]Scalar, len(items))
	for i, item := range items {
		exprs[i] = item.Expr
	}
	return exprs
}

func both(left, right Node) []ColID {
	return append(append([]ColID{}, left.Columns()...), right.Columns()...)
}
