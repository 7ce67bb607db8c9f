package explain

import (
	"github.com/pgsluice/sluice/generator/page"
	"github.com/pgsluice/sluice/ivm/algebra"
)

// draw lays a tree out. rule may describe how an operator is differentiated.
func draw(root algebra.Node, columns *algebra.Columns, rule func(algebra.Node) string) *page.Picture {
	d := drawing{columns: columns, rule: rule, Picture: &page.Picture{}, drawn: map[algebra.Node]int{}}
	d.add(root)
	d.Layout()
	return d.Picture
}

type drawing struct {
	*page.Picture
	columns *algebra.Columns
	rule    func(algebra.Node) string
	drawn   map[algebra.Node]int // what SQL computes once and reads several times
}

// add draws a node and what is below it, and returns the number of its box.
func (d *drawing) add(n algebra.Node) int {
	if i, ok := d.drawn[n]; ok {
		return i
	}
	rule := ""
	if d.rule != nil {
		rule = d.rule(n)
	}
	i := len(d.Boxes)
	d.Boxes = append(d.Boxes, newBox(algebra.Describe(n, d.columns), rule))
	switch n.(type) {
	case *algebra.Distinct, *algebra.Kept:
		d.drawn[n] = i
	}
	for _, in := range n.Inputs() {
		d.Arrows = append(d.Arrows, page.Arrow{From: d.add(in), To: i})
	}
	return i
}
