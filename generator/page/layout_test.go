package page

import (
	"fmt"
	"testing"
	"time"
)

// TestLayout lays out flows of few and of many boxes, in several parts: nothing overlaps, arrows lead to the right, and it does not take long.
func TestLayout(t *testing.T) {
	for _, count := range []int{1, 5, 40, 300} {
		p := &Picture{Sideways: true}
		for n := range count {
			p.Boxes = append(p.Boxes, &Box{Kind: "table", Of: fmt.Sprint(n)})
			if n > 0 && n%17 != 0 {
				p.Arrows = append(p.Arrows, Arrow{From: n / 2, To: n})
			}
		}
		begun := time.Now()
		p.Layout()
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%d boxes took %v", count, took)
		}
		if p.Overlap() {
			t.Errorf("%d boxes overlap", count)
		}
		for _, a := range p.Arrows {
			if p.Boxes[a.From].at.x+p.Boxes[a.From].width >= p.Boxes[a.To].at.x {
				t.Errorf("an arrow of %d leads from box %d to %d, which is not to its right", count, a.From, a.To)
			}
		}
	}
}

// TestLayoutTrees lays out trees of few and of many boxes, wide and deep: nothing overlaps, results are above what they are made of, and it does not
// take long.
func TestLayoutTrees(t *testing.T) {
	for _, shape := range []struct{ boxes, each int }{{5, 1}, {40, 3}, {70, 1}, {300, 2}, {5000, 2}} {
		p := &Picture{}
		for n := range shape.boxes {
			p.Boxes = append(p.Boxes, &Box{Kind: "table", Of: fmt.Sprint(n)})
			if n > 0 {
				p.Arrows = append(p.Arrows, Arrow{From: n, To: (n - 1) / shape.each})
			}
		}
		p.Arrows = append(p.Arrows, Arrow{From: shape.boxes - 1, To: 0}) // what is computed once and read twice
		begun := time.Now()
		p.Layout()
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%v took %v", shape, took)
		}
		if p.Overlap() {
			t.Errorf("boxes of %v overlap", shape)
		}
		for n, b := range p.Boxes {
			first, last := n*shape.each+1, min((n+1)*shape.each, shape.boxes-1)
			if first > last || first == shape.boxes-1 {
				continue
			}
			if left, right := p.Boxes[first], p.Boxes[last]; abs(2*b.at.x+b.width-left.at.x-right.at.x-right.width) > 2 {
				t.Errorf("box %d of %v is not above the middle of what leads to it", n, shape)
			}
		}
		for _, a := range p.Arrows {
			if p.Boxes[a.To].at.y >= p.Boxes[a.From].at.y {
				t.Errorf("an arrow of %v leads from box %d to %d, which is not above it", shape, a.From, a.To)
			}
		}
	}
}

func abs(n int) int { return max(n, -n) }
