package algebra

// Before is a relation as it was before its changes: after ⊎ −Δ. changes may be nil.
func Before(n, changes Node) Node {
	if changes == nil {
		return n
	}
	cols := n.Columns()
	return &Union{Cols: cols, From: []Branch{{Input: n, Cols: cols}, {Input: &Negate{Input: changes}, Cols: cols}}}
}
