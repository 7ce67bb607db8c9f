package page

import (
	"math"
	"strconv"

	"github.com/nulab/autog"
	"github.com/nulab/autog/graph"
)

// Distances between boxes.
const (
	betweenLayers = 34
	betweenBoxes  = 22
)

type point struct{ x, y int }

// Picture is boxes with arrows between them.
type Picture struct {
	Boxes    []*Box
	Arrows   []Arrow
	Sideways bool // arrows lead to the right rather than up
}

// Arrow leads from a box to another, both by their numbers.
type Arrow struct {
	From, To int
	points   []point // the corners between its ends, from the first to the last
}

// positions are the library's ways to place boxes within their layers, the most readable first. The first keeps chains
// straight, but boxes may overlap in rare graphs; the last never lets them.
var positions = []autog.Option{
	autog.WithPositioning(autog.PositioningSinkColoring),
	autog.WithPositioning(autog.PositioningVAlign),
}

// Layout places the boxes in layers, each of which leads to the next, and routes the arrows between them. Parts that nothing connects are
// beside each other.
func (p *Picture) Layout() {
	for _, b := range p.Boxes {
		b.measure()
	}
	offset := 0
	for _, part := range p.parts() {
		part.layout()
		width, height := part.size()
		shift := point{offset, 0}
		offset += width + betweenBoxes
		if p.Sideways {
			shift, offset = point{0, shift.x}, shift.x+height+betweenBoxes
		}
		part.move(shift)
		for n, a := range part.Arrows {
			p.Arrows[part.numbers[n]].points = a.points
		}
	}
}

// connected is a part of a picture; numbers are those of its arrows in the whole.
type connected struct {
	Picture
	numbers []int
}

// parts splits the picture into what arrows connect, in the order of first boxes. The library does so by going through maps, and so in another
// order each time.
func (p *Picture) parts() []*connected {
	partOf := make([]int, len(p.Boxes))
	for n := range partOf {
		partOf[n] = n
	}
	for changed := true; changed; {
		changed = false
		for _, a := range p.Arrows {
			least := min(partOf[a.From], partOf[a.To])
			changed = changed || partOf[a.From] != partOf[a.To]
			partOf[a.From], partOf[a.To] = least, least
		}
	}
	var parts []*connected
	index, place := map[int]*connected{}, make([]int, len(p.Boxes))
	for n, b := range p.Boxes {
		part := index[partOf[n]]
		if part == nil {
			part = &connected{Picture: Picture{Sideways: p.Sideways}}
			index[partOf[n]] = part
			parts = append(parts, part)
		}
		place[n] = len(part.Boxes)
		part.Boxes = append(part.Boxes, b)
	}
	for n, a := range p.Arrows {
		part := index[partOf[a.From]]
		part.Arrows = append(part.Arrows, Arrow{From: place[a.From], To: place[a.To]})
		part.numbers = append(part.numbers, n)
	}
	return parts
}

func (p *Picture) layout() {
	switch {
	case len(p.Boxes) == 1:
		return
	case !p.Sideways:
		p.trees()
		return
	case len(p.Boxes) > mostArranged:
		p.columns()
		return
	}
	for _, position := range positions {
		p.place(position)
		if !p.Overlap() {
			return
		}
	}
}

func (p *Picture) move(by point) {
	for _, b := range p.Boxes {
		b.at = point{b.at.x + by.x, b.at.y + by.y}
	}
	for _, a := range p.Arrows {
		for n, corner := range a.points {
			a.points[n] = point{corner.x + by.x, corner.y + by.y}
		}
	}
}

// place calls the library for a picture whose layers lead to the right; the library knows layers from the top down only. What it computes is the same on every run: network simplex, which it
// would take for layers by itself, is left out because it goes through maps.
func (p *Picture) place(position autog.Option) {
	sizes := map[string]graph.Size{}
	for i, b := range p.Boxes {
		sizes[strconv.Itoa(i)] = graph.Size{W: float64(b.height), H: float64(b.width)}
	}
	var edges graph.EdgeSlice
	for _, a := range p.Arrows {
		edges = append(edges, []string{strconv.Itoa(a.From), strconv.Itoa(a.To)})
	}
	placed := autog.Layout(edges, position,
		autog.WithCycleBreaking(autog.CycleBreakingDepthFirst),
		autog.WithLayering(autog.LayeringLongestPath),
		autog.WithOrdering(autog.OrderingWMedian),
		autog.WithEdgeRouting(autog.EdgeRoutingPolyline),
		autog.WithNodeSize(sizes), autog.WithNodeSpacing(betweenBoxes), autog.WithLayerSpacing(2*betweenLayers))
	for _, n := range placed.Nodes {
		p.Boxes[number(n.ID)].at = sideways(n.X, n.Y)
	}
	for _, e := range placed.Edges {
		p.route(e)
	}
}

// route gives an arrow its corners.
func (p *Picture) route(e graph.Edge) {
	for i := range p.Arrows {
		a := &p.Arrows[i]
		if a.From != number(e.FromID) || a.To != number(e.ToID) || len(e.Points) < 2 {
			continue
		}
		a.points = nil
		for _, corner := range e.Points[1 : len(e.Points)-1] {
			a.points = append(a.points, sideways(corner[0], corner[1]))
		}
	}
}

// Overlap reports whether two boxes cover each other.
func (p *Picture) Overlap() bool {
	for i, a := range p.Boxes {
		for _, b := range p.Boxes[:i] {
			if a.at.x < b.at.x+b.width && b.at.x < a.at.x+a.width && a.at.y < b.at.y+b.height && b.at.y < a.at.y+a.height {
				return true
			}
		}
	}
	return false
}

// size is the room that the boxes need.
func (p *Picture) size() (width, height int) {
	for _, b := range p.Boxes {
		width, height = max(width, b.at.x+b.width), max(height, b.at.y+b.height)
	}
	return width, height
}

// sideways is a point of the library, whose layers lead down.
func sideways(x, y float64) point { return point{int(math.Round(y)), int(math.Round(x))} }

// number reads the id that place gave a box.
func number(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil {
		panic("layout: " + id + " is no box")
	}
	return n
}
