package page

import "slices"

// mostArranged is how many boxes are arranged so that arrows cross little: for hundreds that takes many seconds, and above 64 layers the library fails.
const mostArranged = 60

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

// trees puts each box above the middle of those that lead to it, which stand beside each other. What leads to several stands below the first of them, and
// lower than all of them.
func (p *Picture) trees() {
	below, leads := make([][]int, len(p.Boxes)), make([]bool, len(p.Boxes))
	for _, a := range p.Arrows {
		if !leads[a.From] {
			below[a.To], leads[a.From] = append(below[a.To], a.From), true
		}
	}
	tops := p.tops()
	free := map[int]int{} // where the next box may begin, for each upper edge
	var shift func(n, by int)
	shift = func(n, by int) {
		p.Boxes[n].at.x += by
		free[tops[n]] = max(free[tops[n]], p.Boxes[n].at.x+p.Boxes[n].width+betweenBoxes)
		for _, child := range below[n] {
			shift(child, by)
		}
	}
	var place func(n int)
	place = func(n int) {
		b, children := p.Boxes[n], below[n]
		for _, child := range children {
			place(child)
		}
		b.at = point{free[tops[n]], tops[n]}
		if len(children) > 0 {
			first, last := p.Boxes[children[0]], p.Boxes[children[len(children)-1]]
			b.at.x = (first.at.x + last.at.x + last.width - b.width) / 2
		}
		shift(n, max(0, free[tops[n]]-b.at.x))
	}
	for n := range p.Boxes {
		if !leads[n] {
			place(n)
		}
	}
}

// tops are the upper edges of boxes in layers, each of which is below all that it leads to.
func (p *Picture) tops() []int {
	layer := make([]int, len(p.Boxes))
	for changed, rounds := true, 0; changed && rounds < len(p.Boxes); rounds++ {
		changed = false
		for _, a := range p.Arrows {
			if layer[a.From] <= layer[a.To] {
				layer[a.From], changed = layer[a.To]+1, true
			}
		}
	}
	edges := make([]int, slices.Max(layer)+2)
	for n, b := range p.Boxes {
		edges[layer[n]+1] = max(edges[layer[n]+1], b.height+betweenLayers)
	}
	for n := range edges[1:] {
		edges[n+1] += edges[n]
	}
	tops := make([]int, len(p.Boxes))
	for n := range tops {
		tops[n] = edges[layer[n]]
	}
	return tops
}
