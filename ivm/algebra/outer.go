package algebra

// Outer pairs rows as Join does, and keeps each row of Left that has no partner, with nulls in the columns of Right; with Full, those of Right, too.
type Outer struct {
	Left, Right Node
	On          []Scalar
	Full        bool
}

func (n *Outer) Columns() []ColID    { return both(n.Left, n.Right) }
func (n *Outer) Inputs() []Node      { return []Node{n.Left, n.Right} }
func (n *Outer) With(in []Node) Node { return &Outer{in[0], in[1], n.On, n.Full} }
func (n *Outer) reads() []Scalar     { return n.On }

// Padded are the columns in which there are nulls where a row has no partner.
func (n *Outer) Padded() []ColID {
	if n.Full {
		return n.Columns()
	}
	return n.Right.Columns()
}

func (n *Outer) kind() string {
	if n.Full {
		return "full join"
	}
	return "left join"
}
