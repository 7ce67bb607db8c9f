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

// Sources lists the occurrences of tables in a tree, left to right, each once.
func Sources(n Node) []*Source {
	var found []*Source
	seen := map[*Source]bool{}
	Walk(n, func(n Node) {
		if s, ok := n.(*Source); ok && !seen[s] {
			seen[s] = true
			found = append(found, s)
		}
	})
	return found
}

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
