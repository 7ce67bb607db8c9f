package cases

import "slices"

// changes makes transactions on the tables of a case.
type changes struct {
	builder
	g    *generator
	read map[string]bool // tags of the columns that views read
}

// changes are the steps of a case.
func (g *generator) changes(c *Case) []*Step {
	g.random = newRandom(g.seed, changesPart)
	ch := &changes{
		g: g, read: map[string]bool{},
		builder: builder{random: g.random, options: g.options, features: map[string]bool{}, values: g.values},
	}
	for _, v := range c.Views {
		for n := range v.Query.All() {
			ch.read[n.Tag] = true
		}
	}
	var steps []*Step
	for range g.options.Steps {
		steps = append(steps, ch.step())
	}
	return steps
}

// step is a transaction or a statement on its own; most are followed by a comparison.
func (ch *changes) step() *Step {
	s := &Step{}
	if ch.chance(8) {
		s.Items = ch.beside()
		return s
	}
	if ch.chance(35) {
		s.Items = []*Item{ch.statement()}
	} else {
		s.Items = ch.transaction()
	}
	if ch.chance(85) {
		s.Items = append(s.Items, check())
	}
	return s
}

// beside is a transaction of another session, which is open while stream tables are refreshed and compared.
func (ch *changes) beside() []*Item {
	before := ch.estimates()
	text, kids := "begin", []*node(nil)
	for range ch.between(1, 2) {
		t := pick(ch.random, ch.g.tables)
		text, kids = text+";\n§", append(kids, ch.oneOf(t))
	}
	items := []*Item{{Kind: Beside, SQL: format("", text, kids...)}, check()}
	end := "commit"
	if ch.chance(30) {
		end = "rollback"
		ch.restore(before)
	}
	return append(items, &Item{Kind: Beside, SQL: leaf("", end)}, check())
}

func control(sql string) *Item { return &Item{Kind: Control, SQL: leaf("", sql)} }
func check() *Item             { return &Item{Kind: Check, SQL: leaf("", "")} }

// transaction is of 1 to 6 statements, some with savepoints, some with comparisons within, some rolled back.
func (ch *changes) transaction() []*Item {
	r := ch.random
	before := ch.estimates()
	items := []*Item{control(r.one("begin", "begin", "begin", "begin", "begin isolation level repeatable read"))}
	var points []point
	for range r.between(1, 6) {
		switch n := r.IntN(100); {
		case n < 16:
			name := "s" + itoa(len(points)+1)
			points = append(points, point{name, ch.estimates()})
			items = append(items, control("savepoint "+name))
		case n < 34 && len(points) > 0:
			p := pick(r, points)
			points = points[:slices.IndexFunc(points, func(other point) bool { return other.name == p.name })+1]
			ch.restore(p.rows)
			items = append(items, control("rollback to "+p.name))
		case n < 38 && len(points) > 0:
			last := len(points) - 1
			items = append(items, control("release "+points[last].name))
			points = points[:last]
		}
		items = append(items, ch.statement())
		if r.chance(15) {
			items = append(items, check())
		}
	}
	if len(points) > 0 && r.chance(35) {
		p := pick(r, points)
		ch.restore(p.rows)
		items = append(items, control("rollback to "+p.name))
	}
	if r.chance(16) {
		ch.restore(before)
		return append(items, control("rollback"))
	}
	return append(items, control("commit"))
}

// point is a savepoint, with about how many rows the tables had.
type point struct {
	name string
	rows []int
}

func (ch *changes) estimates() []int {
	var rows []int
	for _, t := range ch.g.tables {
		rows = append(rows, t.rows)
	}
	return rows
}

func (ch *changes) restore(rows []int) {
	for i, t := range ch.g.tables {
		t.rows = rows[i]
	}
}

// statement changes rows. Small tables rather grow and large ones shrink.
func (ch *changes) statement() *Item {
	r := ch.random
	t := pick(r, ch.g.tables)
	if !ch.read[t.tag()] { // then rather another one
		t = pick(r, ch.g.tables)
	}
	for _, small := range ch.g.tables {
		if small.rows < 9 && r.chance(60) {
			return ch.insertRows(small, r.between(8, 16))
		}
	}
	kinds := []choice[func(*table) *Item]{
		{16, ch.insertSome}, {8, ch.upsert}, {5, ch.insertSelect}, {5, ch.copyRows}, {4, ch.insertDefaults},
		{16, ch.update}, {8, ch.updateKey}, {5, ch.updateUnread}, {3, ch.updateNothing}, {5, ch.updateFrom}, {3, ch.swap},
		{14, ch.delete}, {5, ch.deleteOne}, {4, ch.deleteUsing}, {2, ch.deleteAll}, {3, ch.truncate},
		{7, ch.merge}, {9, ch.writableCTE}, {3, ch.block},
	}
	if t.rows > 44 {
		kinds = []choice[func(*table) *Item]{{1, ch.shrink}, {1, ch.update}}
	}
	if item := weighted(r, kinds)(t); item != nil {
		return item
	}
	return ch.insertSome(t)
}

func statement(t *table, n *node) *Item {
	return &Item{Kind: Statement, SQL: n.Tagged(t.tag())}
}

// where finds some rows of a table, whose columns have the prefix.
func (ch *changes) where(t *table, prefix string) *node {
	terms := scope{}
	for _, c := range t.columns {
		terms = append(terms, term{sort: c.sort, node: leaf(c.sort, prefix+c.name).Tagged(t.columnTag(c.name)), name: c.name})
	}
	list := newWhere()
	for range ch.between(1, 2) {
		list.Kids = append(list.Kids, ch.filterOf(t, terms))
	}
	return list
}

func (ch *changes) filterOf(t *table, terms scope) *node {
	usable := terms.usable()
	if len(usable) == 0 || ch.chance(22) {
		return ch.filter(terms, 1)
	}
	c := pick(ch.random, usable)
	value := ch.g.value(t, t.column(c.name))
	if value == null {
		return format("bool", "§ is null", c.node.Clone())
	}
	return format("bool", "§ "+ch.one("=", "=", "=", "=", "<", ">")+" "+literalOf(c.sort, value), c.node.Clone())
}
