package algebra

import "github.com/pgsluice/sluice/ivm/catalog"

// Before is a relation as it was before its changes: after ⊎ −Δ, or as it is remembered. changes may be nil.
func Before(n, changes Node) Node {
	if changes == nil {
		return n
	}
	if earlier := Earlier(n); earlier != nil {
		return earlier
	}
	return Less(n, changes)
}

// Less is a relation without the rows of another one, which has the same columns: n ⊎ −m.
func Less(n, m Node) Node {
	cols := n.Columns()
	return &Union{Cols: cols, From: []Branch{{Input: n, Cols: cols}, {Input: &Negate{Input: m}, Cols: cols}}}
}

// Earlier is a relation as it was in the refresh before, with each row once, where that can be read; otherwise nil.
func Earlier(n Node) Node {
	switch n := n.(type) {
	case *Source:
		if n.Table.Before != nil {
			return &Source{Table: n.Table.Before, Cols: n.Cols}
		}
	case *Filter, *Project:
		if below := Earlier(n.Inputs()[0]); below != nil {
			return n.With([]Node{below})
		}
	}
	return nil
}

// Reading is an occurrence of a relation with all of its columns, under ids in their order.
func Reading(r *catalog.Relation, cols []ColID) *Source {
	read := &Source{Table: r}
	for i, id := range cols {
		read.Cols = append(read.Cols, SourceCol{ID: id, Attr: i})
	}
	return read
}
