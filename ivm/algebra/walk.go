package algebra

// Walk visits the nodes of a tree, inputs first, each once.
func Walk(n Node, visit func(Node)) {
	seen := map[Node]bool{}
	var walk func(Node)
	walk = func(n Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, in := range n.Inputs() {
			walk(in)
		}
		visit(n)
	}
	walk(n)
}

// Rewrite replaces nodes from the leaves up. A node whose inputs stay as they are is handed over itself, not a copy, and one that stands in several
// places is replaced once: it stays one node.
func Rewrite(n Node, replace func(Node) Node) Node {
	done := map[Node]Node{}
	var rewrite func(Node) Node
	rewrite = func(n Node) Node {
		if replaced, ok := done[n]; ok {
			return replaced
		}
		inputs, changed := n.Inputs(), false
		for i, in := range inputs {
			inputs[i] = rewrite(in)
			changed = changed || inputs[i] != in
		}
		replaced := n
		if changed {
			replaced = n.With(inputs)
		}
		replaced = replace(replaced)
		done[n] = replaced
		return replaced
	}
	return rewrite(n)
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
	case *Recursion:
		ids = append(append(ids, n.Seed.Cols...), n.Step.Cols...)
	case *Distinct:
		ids = append(ids, n.Columns()...)
	}
	return ids
}
