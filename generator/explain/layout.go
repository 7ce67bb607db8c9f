package explain

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

// arrow leads from a box to the one above it.
type arrow struct {
	from, to int
	points   []point // the corners between its ends, from the top down
}

// positions are the library's ways to place boxes within their layers, the most readable first. The first keeps chains
// straight, but boxes may overlap in rare graphs; the last never lets them.
var positions = []autog.Option{
	autog.WithPositioning(autog.PositioningSinkColoring),
	autog.WithPositioning(autog.PositioningVAlign),
}

// layout places boxes in layers, the first on top, and routes the arrows between them.
func layout(boxes []*box, arrows []arrow) {
	if len(boxes) == 1 {
		return
	}
	for _, position := range positions {
		place(boxes, arrows, position)
		if !overlap(boxes) {
			return
		}
	}
}

// place calls the library. What it computes is the same on every run: network simplex, which it would take for layers by itself, is
// left out because it goes through maps.
func place(boxes []*box, arrows []arrow, position autog.Option) {
	sizes := map[string]graph.Size{}
	for i, b := range boxes {
		sizes[strconv.Itoa(i)] = graph.Size{W: float64(b.width), H: float64(b.height)}
	}
	var edges graph.EdgeSlice
	for _, a := range arrows {
		edges = append(edges, []string{strconv.Itoa(a.to), strconv.Itoa(a.from)})
	}
	placed := autog.Layout(edges, position,
		autog.WithCycleBreaking(autog.CycleBreakingDepthFirst),
		autog.WithLayering(autog.LayeringLongestPath),
		autog.WithOrdering(autog.OrderingWMedian),
		autog.WithEdgeRouting(autog.EdgeRoutingPolyline),
		autog.WithNodeSize(sizes), autog.WithNodeSpacing(betweenBoxes), autog.WithLayerSpacing(betweenLayers))
	for _, n := range placed.Nodes {
		boxes[number(n.ID)].at = whole(n.X, n.Y)
	}
	for _, e := range placed.Edges {
		route(arrows, e)
	}
}

// route gives an arrow its corners.
func route(arrows []arrow, e graph.Edge) {
	for i := range arrows {
		a := &arrows[i]
		if a.to != number(e.FromID) || a.from != number(e.ToID) || len(e.Points) < 2 {
			continue
		}
		a.points = nil
		for _, p := range e.Points[1 : len(e.Points)-1] {
			a.points = append(a.points, whole(p[0], p[1]))
		}
	}
}

func overlap(boxes []*box) bool {
	for i, a := range boxes {
		for _, b := range boxes[:i] {
			if a.at.x < b.at.x+b.width && b.at.x < a.at.x+a.width && a.at.y < b.at.y+b.height && b.at.y < a.at.y+a.height {
				return true
			}
		}
	}
	return false
}

func whole(x, y float64) point { return point{int(math.Round(x)), int(math.Round(y))} }

// number reads the id that place gave a box.
func number(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil {
		panic("layout: " + id + " is no box")
	}
	return n
}
