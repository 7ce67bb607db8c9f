package explain

import "github.com/pgsluice/sluice/ivm/algebra"

// picture is a tree, laid out.
type picture struct {
	boxes  []*box
	arrows []arrow
}

// draw lays a tree out. law may tell how an operator is differentiated.
func draw(root algebra.Node, columns *algebra.Columns, law func(algebra.Node) string) *picture {
	d := drawing{columns: columns, law: law, picture: &picture{}, drawn: map[algebra.Node]int{}}
	d.add(root)
	layout(d.boxes, d.arrows)
	return d.picture
}

type drawing struct {
	*picture
	columns *algebra.Columns
	law     func(algebra.Node) string
	drawn   map[algebra.Node]int // what SQL computes once and reads several times
}

// add draws a node and what is below it, and returns the number of its box.
func (d *drawing) add(n algebra.Node) int {
	if i, ok := d.drawn[n]; ok {
		return i
	}
	law := ""
	if d.law != nil {
		law = d.law(n)
	}
	i := len(d.boxes)
	d.boxes = append(d.boxes, newBox(algebra.Describe(n, d.columns), law))
	if _, once := n.(*algebra.Distinct); once {
		d.drawn[n] = i
	}
	if u, ok := n.(*algebra.Union); ok && algebra.IsBefore(u) {
		return i
	}
	for _, in := range n.Inputs() {
		d.arrows = append(d.arrows, arrow{from: d.add(in), to: i})
	}
	return i
}

// size is the room that the boxes need.
func (p *picture) size() (width, height int) {
	for _, b := range p.boxes {
		width, height = max(width, b.at.x+b.width), max(height, b.at.y+b.height)
	}
	return width, height
}
