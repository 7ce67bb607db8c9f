package algebra

// Renamed is a source with columns under other numbers, those that have one.
func (n *Source) Renamed(as map[ColID]ColID) *Source {
	renamed := &Source{Table: n.Table}
	for _, c := range n.Cols {
		if id := as[c.ID]; id != 0 {
			renamed.Cols = append(renamed.Cols, SourceCol{ID: id, Attr: c.Attr})
		}
	}
	return renamed
}

// IsClock reports whether a node is the clock.
func IsClock(n Node) bool {
	s, ok := n.(*Source)
	return ok && s.Table.Clock
}
