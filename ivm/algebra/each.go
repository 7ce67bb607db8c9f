package algebra

import "strings"

// Each joins to each row of Input the rows that functions return for it, side by side as ROWS FROM has them: where one returns fewer rows than another,
// there are nulls. The functions depend on nothing but the row.
type Each struct {
	Input      Node
	Calls      []RowCall
	Cols       []ColID // of the functions' rows, in order; with Ordinality the last one numbers them
	Ordinality bool
	// Keeps has a row for which On is true of no row of the functions stay, with nulls. Without it there is no On.
	Keeps bool
	On    []Scalar
}

// RowCall is the call of a function, and the columns of its rows where the query has to say which they are.
type RowCall struct {
	Call Scalar
	Defs []RowColumn
}

// RowColumn is a column that a query says a function returns.
type RowColumn struct {
	Name string
	Null Scalar // a null of its type
	Type string // as SQL
}

func (n *Each) Columns() []ColID { return append(append([]ColID{}, n.Input.Columns()...), n.Cols...) }
func (n *Each) Inputs() []Node   { return []Node{n.Input} }

// With calls the functions for the rows of another input.
func (n *Each) With(in []Node) Node {
	return &Each{in[0], n.Calls, n.Cols, n.Ordinality, n.Keeps, n.On}
}

func (n *Each) reads() []Scalar {
	var all []Scalar
	for _, c := range n.Calls {
		all = append(all, c.Call)
		for _, d := range c.Defs {
			all = append(all, d.Null)
		}
	}
	return append(all, n.On...)
}

// Mapped is the same operator with its expressions replaced.
func (n *Each) Mapped(input Node, replace func(Scalar) Scalar) *Each {
	m := &Each{Input: input, Cols: n.Cols, Ordinality: n.Ordinality, Keeps: n.Keeps}
	for _, c := range n.Calls {
		m.Calls = append(m.Calls, RowCall{replace(c.Call), c.Defs})
	}
	for _, c := range n.On {
		m.On = append(m.On, replace(c))
	}
	return m
}

// OneRow is one row without columns, of which functions alone are made.
func OneRow() Node { return &Values{Rows: [][]Scalar{{}}} }

// IsOneRow reports whether a node is OneRow.
func IsOneRow(n Node) bool {
	v, ok := n.(*Values)
	return ok && len(v.Cols) == 0 && len(v.Rows) == 1
}

func (p *printer) each(n *Each) string {
	var calls []string
	for _, c := range n.Calls {
		calls = append(calls, p.scalar(c.Call))
	}
	line := "each " + strings.Join(calls, ", ") + p.ids(" as ", n.Cols)
	if n.Ordinality {
		line += " with ordinality"
	}
	if n.Keeps {
		line += strings.TrimRight(" or nulls, on "+p.conditions(n.On), " ")
	}
	return line
}
