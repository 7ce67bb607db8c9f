package page

// Flow is a picture of what leads where, from the left to the right. Each box is drawn once.
type Flow struct {
	*Picture
	places map[string]int
}

// NewFlow is an empty flow.
func NewFlow() *Flow { return &Flow{&Picture{Sideways: true}, map[string]int{}} }

// Box returns the number of the box of an id, which it adds if there is none.
func (f *Flow) Box(id string, b Box) int {
	n, there := f.Find(id)
	if !there {
		n = len(f.Boxes)
		f.places[id], f.Boxes = n, append(f.Boxes, &b)
	}
	return n
}

// Find returns the number of the box of an id.
func (f *Flow) Find(id string) (n int, there bool) {
	n, there = f.places[id]
	return n, there
}

// Arrow leads from a box to another.
func (f *Flow) Arrow(from, to int) { f.Arrows = append(f.Arrows, Arrow{From: from, To: to}) }
