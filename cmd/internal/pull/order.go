package pull

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// order sorts the objects so that each comes after all that it needs, and among those that may come next the one of the lowest rank and
// name does: the same for equal databases.
func (w *writer) order() ([]object, error) {
	waits := map[object]int{}
	unblocks := map[object][]object{}
	ready := &queue{items: w.items}
	for _, o := range w.graph.sorted() {
		waits[o] = len(w.graph[o].needs)
		for need := range w.graph[o].needs {
			unblocks[need] = append(unblocks[need], o)
		}
		if waits[o] == 0 {
			heap.Push(ready, o)
		}
	}
	var order []object
	for ready.Len() > 0 {
		o := heap.Pop(ready).(object)
		order = append(order, o)
		for _, next := range unblocks[o] {
			if waits[next]--; waits[next] == 0 {
				heap.Push(ready, next)
			}
		}
	}
	if len(order) < len(w.graph) {
		return nil, w.cycle(waits)
	}
	return order, nil
}

// cycle reports objects that need each other.
func (w *writer) cycle(waits map[object]int) error {
	var stuck []string
	for _, o := range w.graph.sorted() {
		if waits[o] > 0 && w.items[o].text != "" && w.graph.needs(o, o, map[object]bool{}) {
			stuck = append(stuck, w.items[o].what)
		}
	}
	slices.Sort(stuck)
	return Unsupported{
		fmt.Sprintf("cannot write %s: they need each other", strings.Join(stuck, " and ")),
		"write the DDL by hand, or leave the table out",
	}
}

// queue is a heap of objects that may be written next.
type queue struct {
	objects []object
	items   map[object]item
}

func (q *queue) Len() int { return len(q.objects) }

func (q *queue) Less(i, j int) bool {
	a, b := q.items[q.objects[i]], q.items[q.objects[j]]
	return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.name, b.name)) < 0
}

func (q *queue) Swap(i, j int) { q.objects[i], q.objects[j] = q.objects[j], q.objects[i] }

func (q *queue) Push(o any) { q.objects = append(q.objects, o.(object)) }

func (q *queue) Pop() any {
	last := q.objects[len(q.objects)-1]
	q.objects = q.objects[:len(q.objects)-1]
	return last
}
