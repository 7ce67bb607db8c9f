package algebra

// Walk visits a tree, inputs first.
func Walk(n Node, visit func(Node)) {
	for _, in := range n.Inputs() {
		Walk(in, visit)
	}
	visit(n)
}

// Rewrite replaces nodes from the leaves up. A node whose inputs stay as they
// are is handed over itself, not a copy.
func Rewrite(n Node, replace func(Node) Node) Node {
	inputs, changed := n.Inputs(), false
	for i, in := range inputs {
		inputs[i] = Rewrite(in, replace)
		changed = changed || inputs[i] != in
	}
	if changed {
		n = n.With(inputs)
	}
	return replace(n)
}

// Exprs lists the expressions of a node.
func Exprs(n Node) []Scalar { return n.reads() }

// Reads lists the columns of its inputs that a node reads.
func Reads(n Node) []ColID {
	var ids []ColID
	for _, s := range n.reads() {
		ids = append(ids, s.Columns()...)
	}
	switch n := n.(type) {
	case *Union:
		for _, b := range n.From {
			ids = append(ids, b.Cols...)
		}
	case *Distinct:
		ids = append(ids, n.Columns()...)
	}
	return ids
}
