package algebra

// Semi keeps the rows of Left for which some row of Right makes all conditions true, or with Anti those for which none does. They count as often as they do
// in Left: how many rows of Right there are does not matter.
type Semi struct {
	Left, Right Node
	On          []Scalar
	Anti        bool
	// NeverNull are columns that the conditions take for granted to hold no null: NOT IN is then as if no row were equal.
	NeverNull []ColID
	// AnySign: Right holds changes, and a row matches whatever it counts.
	AnySign bool
	// Listed: On is one equality, of a column of each side, neither ever null. Rows of Left are looked up in a list of what Right has, whatever the planner
	// expects of either.
	Listed bool
}

func (n *Semi) Columns() []ColID { return n.Left.Columns() }
func (n *Semi) Inputs() []Node   { return []Node{n.Left, n.Right} }
func (n *Semi) reads() []Scalar  { return n.On }

// With is the same test over other inputs.
func (n *Semi) With(in []Node) Node {
	other := *n
	other.Left, other.Right = in[0], in[1]
	return &other
}

func (n *Semi) kind() string {
	if n.Anti {
		return "anti join"
	}
	return "semi join"
}
