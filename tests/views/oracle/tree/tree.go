// Package tree holds SQL as trees that can be cut without knowing SQL.
//
// A node is text with holes for its kids, or a list of kids. What may be left out is an item of a list, and what may stand
// in for a node is another node of the same sort. That is enough to make a statement smaller: whether the rest is still SQL,
// and still shows what one is after, is for a server to say.
package tree

import (
	"iter"
	"slices"
	"strings"
)

// Node is a piece of SQL.
type Node struct {
	Sort string   // names what else may stand here: a type, query, from, relation; empty: nothing
	Tag  string   // names what the node speaks of, as in "column t.a": see Drop
	Twin int      // nodes of one number, if not 0, are equal and stay so
	Text []string // the pieces around the kids, one more than there are kids; nil for a list
	Kids []*Node
	List *List // how to write a list
}

// List says how a list is written. Without kids nothing of it is.
type List struct {
	Open, Sep, Close string
	Min              int  // with fewer kids it would not be SQL
	Fixed            bool // its kids go by their tags only, together with others
}

// Hole is where New puts the kids.
const Hole = "§"

// New makes a node from text with a Hole for each kid.
func New(sort, format string, kids ...*Node) *Node {
	pieces := strings.Split(format, Hole)
	if len(pieces) != len(kids)+1 {
		panic("tree: " + format + " has another number of holes than there are kids")
	}
	return &Node{Sort: sort, Text: pieces, Kids: kids}
}

// Leaf makes a node without kids; its text is taken as it is.
func Leaf(sort, text string) *Node { return &Node{Sort: sort, Text: []string{text}} }

// NewList makes a list.
func NewList(list List, kids ...*Node) *Node { return &Node{List: &list, Kids: kids} }

// Tagged sets the tag and returns the node.
func (n *Node) Tagged(tag string) *Node {
	n.Tag = tag
	return n
}

// String is the SQL.
func (n *Node) String() string { return n.Render(nil) }

// Render is the SQL, with other text for the nodes that instead has one for.
func (n *Node) Render(instead func(*Node) (string, bool)) string {
	var b strings.Builder
	n.write(&b, instead)
	return b.String()
}

func (n *Node) write(b *strings.Builder, instead func(*Node) (string, bool)) {
	if instead != nil {
		if text, ok := instead(n); ok {
			b.WriteString(text)
			return
		}
	}
	for i, kid := range n.Kids {
		b.WriteString(n.before(i))
		kid.write(b, instead)
	}
	switch {
	case n.List == nil:
		b.WriteString(n.Text[len(n.Kids)])
	case len(n.Kids) > 0:
		b.WriteString(n.List.Close)
	}
}

// before is the text in front of a kid.
func (n *Node) before(i int) string {
	switch {
	case n.List == nil:
		return n.Text[i]
	case i == 0:
		return n.List.Open
	}
	return n.List.Sep
}

// Clone copies the tree.
func (n *Node) Clone() *Node {
	c := *n
	c.Kids = make([]*Node, len(n.Kids))
	for i, kid := range n.Kids {
		c.Kids[i] = kid.Clone()
	}
	return &c
}

// All yields the nodes of the tree, each before its kids.
func (n *Node) All() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { n.all(yield) }
}

func (n *Node) all(yield func(*Node) bool) bool {
	return yield(n) && !slices.ContainsFunc(n.Kids, func(kid *Node) bool { return !kid.all(yield) })
}

// Has reports whether a node of the tree has the tag.
func (n *Node) Has(tag string) bool {
	for node := range n.All() {
		if node.Tag == tag {
			return true
		}
	}
	return false
}

// Size counts the nodes.
func (n *Node) Size() int {
	size := 0
	for range n.All() {
		size++
	}
	return size
}
