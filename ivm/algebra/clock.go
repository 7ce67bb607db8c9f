package algebra

import "github.com/pgsluice/sluice/ivm/catalog"

// Earlier is the clock as it was in the refresh before, with its column under a number of its own or the same one.
func (n *Source) Earlier(as ColID) *Source {
	return &Source{Table: catalog.ClockBefore, Cols: []SourceCol{{ID: as, Attr: n.Cols[0].Attr}}}
}

// IsClock reports whether a node is the clock.
func IsClock(n Node) bool {
	s, ok := n.(*Source)
	return ok && s.Table.Clock
}
