package page

import "slices"

// mostArranged is how many boxes are arranged so that arrows cross little: for hundreds that takes many seconds, and above 64 layers the library fails.
const mostArranged = 60

// simple places many boxes, without a look at what crosses.
func (p *Picture) simple() {
	if p.Sideways {
		p.columns()
	} else {
		p.trees()
	}
}

// columns puts boxes below each other, in the column to the right of all that lead to them.
func (p *Picture) columns() {
	column := make([]int, len(p.Boxes))
	for changed, rounds := true, 0; changed && rounds < len(p.Boxes); rounds++ {
		changed = false
		for _, a := range p.Arrows {
			if column[a.To] <= column[a.From] {
				column[a.To], changed = column[a.From]+1, true
			}
		}
	}
	for x, n := 0, 0; n <= slices.Max(column); n++ {
		width, y := 0, 0
		for i, b := range p.Boxes {
			if column[i] == n {
				b.at = point{x, y}
				width, y = max(width, b.width), y+b.height+betweenBoxes
			}
		}
		x += width + 2*betweenLayers
	}
}

// trees puts each box above those that lead to it, which stand beside each other. What leads to several stands below the first of them.
func (p *Picture) trees() {
	below, leads := make([][]int, len(p.Boxes)), make([]bool, len(p.Boxes))
	for _, a := range p.Arrows {
		if !leads[a.From] {
			below[a.To], leads[a.From] = append(below[a.To], a.From), true
		}
	}
	var place func(n int, at point) (right int)
	place = func(n int, at point) int {
		b := p.Boxes[n]
		right := at.x
		for i, child := range below[n] {
			if i > 0 {
				right += betweenBoxes
			}
			right = place(child, point{right, at.y + b.height + betweenLayers})
		}
		b.at = point{at.x + max(0, right-at.x-b.width)/2, at.y}
		return max(right, at.x+b.width)
	}
	x := 0
	for n := range p.Boxes {
		if !leads[n] {
			x = place(n, point{x, 0}) + betweenBoxes
		}
	}
}
