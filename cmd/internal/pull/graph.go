package pull

import (
	"cmp"
	"maps"
	"slices"
)

// firstUser is the first oid of an object that is not the server's own.
const firstUser = 16384

// object is a row of one of the server's catalogs.
type object struct {
	class string // the catalog
	oid   int64
}

// node is an object and what must be there before it.
type node struct {
	object
	needs   map[object]bool
	parts   map[object]bool // of needs, those that are written together with it
	follows map[object]bool // what is written because of it, after it
	read    bool            // its rows are read, and not only its definition
	member  bool            // of an extension
}

// graph is what a script has to hold.
type graph map[object]*node

func (g graph) node(o object) *node {
	n := g[o]
	if n == nil {
		n = &node{object: o, needs: map[object]bool{}, parts: map[object]bool{}, follows: map[object]bool{}}
		g[o] = n
	}
	return n
}

// edge is a row of edges.sql.
type edge struct {
	Class     string
	OID       int64
	Kind      string // needs, part or follows
	ToClass   string
	ToObj     int64
	Extension int64 // that the target is a member of
	Relation  bool  // the target is a table or view
}

// collect finds everything that tables and views, whose rows are read, and other objects need.
func (db *database) collect(reads []int64, others []object, operators [2][]string) (graph, error) {
	g := graph{}
	front := others
	for _, o := range others {
		g.node(o)
	}
	for _, oid := range reads {
		front = g.reach(front, object{"pg_class", oid}, true)
	}
	for len(front) > 0 {
		if err := db.grow(g, front); err != nil {
			return nil, err
		}
		more, err := db.companions(g, operators)
		if err != nil {
			return nil, err
		}
		front = more
	}
	g.settle()
	return g, nil
}

// grow adds what objects need, to the end.
func (db *database) grow(g graph, front []object) error {
	for len(front) > 0 {
		edges, err := db.edges(front)
		if err != nil {
			return err
		}
		children, err := db.children(g, front)
		if err != nil {
			return err
		}
		front = nil
		for _, e := range edges {
			if !e.Relation || !db.made[e.ToObj] {
				front = g.add(front, e)
			}
		}
		for _, oid := range children {
			front = g.reach(front, object{"pg_class", oid}, true)
		}
	}
	return nil
}

func (db *database) edges(front []object) ([]edge, error) {
	classes, oids := make([]string, len(front)), make([]int64, len(front))
	for i, o := range front {
		classes[i], oids[i] = o.class, o.oid
	}
	return rows[edge](db, "edges", classes, oids)
}

// children returns the partitions and other children of the tables that are read.
func (db *database) children(g graph, front []object) ([]int64, error) {
	var read []int64
	for _, o := range front {
		if g[o].read {
			read = append(read, o.oid)
		}
	}
	found, err := rows[struct{ Parent, Child int64 }](db, "children", read)
	children := make([]int64, len(found))
	for i, f := range found {
		children[i] = f.Child
	}
	return children, err
}

// add records an edge and returns the front with its target, if that is to be looked at. A member of an extension is not: the extension
// stands for it, except for tables and views that views read.
func (g graph) add(front []object, e edge) []object {
	from, to := g.node(object{e.Class, e.OID}), object{e.ToClass, e.ToObj}
	read := e.Class == "pg_rewrite" && e.Relation
	if e.ToClass == "pg_extension" {
		from.member = e.Class != "pg_extension"
	}
	if e.Extension != 0 && !read {
		to, e.Kind = object{"pg_extension", e.Extension}, "needs"
	}
	if to == from.object {
		return front
	}
	switch e.Kind {
	case "follows":
		from.follows[to] = true
	case "part":
		from.parts[to] = true
		fallthrough
	default:
		from.needs[to] = true
	}
	return g.reach(front, to, read)
}

// reach adds an object to the front, if it is new there or now known to be read.
func (g graph) reach(front []object, o object, read bool) []object {
	known := g[o] != nil
	n := g.node(o)
	if known && (n.read || !read) {
		return front
	}
	n.read = n.read || read
	return append(front, o)
}

// settle makes every edge one from an object to what must be there before it.
func (g graph) settle() {
	for _, n := range g {
		for part := range n.parts {
			delete(g[part].needs, n.object)
		}
		for follower := range n.follows {
			g[follower].needs[n.object] = true
		}
	}
	for _, o := range g.sorted() {
		g.separate(g[o])
	}
}

// separate makes defaults and checks follow their table or domain if they need it themselves, as one that calls a function of the table's row
// does.
func (g graph) separate(n *node) {
	for _, part := range sorted(n.parts) {
		mayWait := part.class == "pg_attrdef" || part.class == "pg_constraint"
		if mayWait && g.needs(part, n.object, map[object]bool{}) {
			g.follow(n.object, part)
		}
	}
}

// follow makes a part of an object come after it.
func (g graph) follow(owner, part object) {
	n := g[owner]
	delete(n.parts, part)
	delete(n.needs, part)
	n.follows[part] = true
	g[part].needs[owner] = true
}

// needs reports whether an object needs another one, directly or not.
func (g graph) needs(o, other object, seen map[object]bool) bool {
	if seen[o] {
		return false
	}
	seen[o] = true
	for next := range g[o].needs {
		if next == other || g.needs(next, other, seen) {
			return true
		}
	}
	return false
}

// sorted lists the objects by catalog and oid.
func (g graph) sorted() []object {
	return slices.SortedFunc(maps.Keys(g), compareObjects)
}

func sorted(objects map[object]bool) []object {
	return slices.SortedFunc(maps.Keys(objects), compareObjects)
}

func compareObjects(a, b object) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.oid, b.oid))
}
