package tree

import (
	"cmp"
	"slices"
)

// Shorten removes items from the list, down to min, as long as still holds of what is left: large pieces first.
// It changes the list in place and reports whether it could.
func Shorten[T any](list *[]T, min int, still func() bool) bool {
	before := len(*list)
	for size := before - min; size > 0; size /= 2 {
		for to := len(*list); to > 0; {
			from := max(to-size, 0)
			if len(*list)-(to-from) >= min {
				try(list, slices.Delete(slices.Clone(*list), from, to), still)
			}
			to = from
		}
	}
	return len(*list) < before
}

// try puts a value in the place of another, for good if still holds.
func try[T any](place *T, value T, still func() bool) bool {
	old := *place
	*place = value
	if still() {
		return true
	}
	*place = old
	return false
}

// Reduce makes the tree smaller in place, as long as still holds: it shortens lists, puts parts of nodes in their place,
// and the leaves that plain has for their sort. It reports whether it could.
func Reduce(root *Node, plain func(sort string) *Node, still func() bool) bool {
	r := reducer{root: root, plain: plain, still: still}
	r.visit(root)
	return r.changed
}

type reducer struct {
	root    *Node
	plain   func(sort string) *Node
	still   func() bool
	changed bool
}

func (r *reducer) visit(n *Node) {
	switch {
	case n.List != nil && !n.List.Fixed:
		r.changed = Shorten(&n.Kids, n.List.Min, r.still) || r.changed
	case n.List == nil && n.Sort != "":
		for r.hoist(n) {
			r.changed = true
		}
	}
	for i := 0; i < len(n.Kids); i++ {
		r.visit(n.Kids[i])
	}
}

// hoist puts something smaller of its sort in the place of a node and of its twins.
func (r *reducer) hoist(n *Node) bool {
	twins := r.twins(n)
	if p := r.plain(n.Sort); p != nil && n.Size() > 1 && r.replace(twins, func(*Node) *Node { return p }) {
		return true
	}
	for _, path := range smaller(n) {
		if r.replace(twins, func(twin *Node) *Node { return twin.at(path) }) {
			return true
		}
	}
	return false
}

func (r *reducer) twins(n *Node) []*Node {
	if n.Twin == 0 {
		return []*Node{n}
	}
	var twins []*Node
	for node := range r.root.All() {
		if node.Twin == n.Twin {
			twins = append(twins, node)
		}
	}
	return twins
}

func (r *reducer) replace(nodes []*Node, by func(*Node) *Node) bool {
	old := make([]Node, len(nodes))
	for i, n := range nodes {
		old[i] = *n
		with := *by(n).Clone()
		with.Twin = n.Twin
		*n = with
	}
	if r.still() {
		return true
	}
	for i, n := range nodes {
		*n = old[i]
	}
	return false
}

// smaller are the ways to the parts of a node that are of its sort, small parts first.
func smaller(n *Node) [][]int {
	var paths [][]int
	var walk func(at *Node, path []int)
	walk = func(at *Node, path []int) {
		if len(path) > 0 && at.Sort == n.Sort && at.List == nil {
			paths = append(paths, slices.Clone(path))
		}
		for i, kid := range at.Kids {
			walk(kid, append(path, i))
		}
	}
	walk(n, nil)
	slices.SortStableFunc(paths, func(a, b []int) int { return cmp.Compare(n.at(a).Size(), n.at(b).Size()) })
	return paths[:min(len(paths), 12)]
}

func (n *Node) at(path []int) *Node {
	for _, i := range path {
		n = n.Kids[i]
	}
	return n
}

// Drop removes from all lists of the trees the items with a tag, and reports whether no node with it is left and no list is
// too short. If not, the trees stay as they were.
func Drop(roots []*Node, tag string, still func() bool) bool {
	kids := map[*Node][]*Node{}
	ok := true
	for _, root := range roots {
		for n := range root.All() {
			if n.List != nil && slices.ContainsFunc(n.Kids, func(kid *Node) bool { return kid.Tag == tag }) {
				kids[n] = n.Kids
				n.Kids = slices.DeleteFunc(slices.Clone(n.Kids), func(kid *Node) bool { return kid.Tag == tag })
				ok = ok && len(n.Kids) >= n.List.Min
			}
		}
		ok = ok && !root.Has(tag)
	}
	if ok && len(kids) > 0 && still() {
		return true
	}
	for n, old := range kids {
		n.Kids = old
	}
	return false
}
