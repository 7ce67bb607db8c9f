package cases

import "strings"

// window is a query with window functions. Those that distinguish rows of one place in the order get an order by all columns
// there are, so that the result is the same whichever of equal rows comes first.
func (q *queries) window(depth int) result {
	s, terms := q.source(depth, 3)
	if len(terms.usable()) == 0 {
		return q.plain(depth)
	}
	taken := map[string]bool{}
	for range q.between(1, 3) {
		t := pick(q.random, terms)
		q.output(s, t.node.Clone(), t.sort, t.name, taken)
		s.columns[len(s.columns)-1].small = t.small
	}
	w := windows{queries: q, terms: terms, usable: terms.usable()}
	for range q.between(1, 3) {
		n, sort := w.call()
		if q.chance(15) {
			q.use("expression")
			n, sort = q.over(terms, term{sort: sort, node: n}, 1)
		}
		q.output(s, n, sort, "", taken)
	}
	if q.chance(20) {
		q.use("distinct")
		for i := range s.columns {
			if sortOf(s.columns[i].sort).opaque {
				return q.withClause(s, w)
			}
		}
		s.distinct.Kids = append(s.distinct.Kids, leaf("", " distinct"))
		q.settle(s)
	}
	return q.withClause(s, w)
}

func (q *queries) withClause(s *selection, w windows) result {
	if len(w.clause) > 0 {
		q.use("window clause")
		s.tail.Kids = append(s.tail.Kids, leaf("", "\nwindow "+strings.Join(w.clause, ", ")))
	}
	return s.result()
}

// ranked keeps some rows of each partition by their number.
func (q *queries) ranked(depth int) result {
	defer func(named bool) { q.named = named }(q.named)
	q.named = true
	s, terms := q.source(depth-1, 2)
	usable := terms.usable()
	if len(usable) == 0 || len(usable) < len(terms) {
		return q.plain(depth)
	}
	q.use("window", "filtered window")
	taken := map[string]bool{"rn": true}
	for range q.between(1, 3) {
		t := pick(q.random, terms)
		q.output(s, t.node.Clone(), t.sort, t.name, taken)
	}
	w := windows{queries: q, terms: terms, usable: usable}
	s.outputs.Kids = append(s.outputs.Kids, leaf("", q.one("row_number()", "row_number()", "rank()", "dense_rank()")+" over ("+w.partition()+"order by "+w.total("")+") as rn"))
	s.columns = append(s.columns, column{name: "rn", sort: "bigint"})
	m := q.subquery(s.result())
	outer := newSelection()
	if q.chance(30) {
		m = q.join(outer, m, q.member(0))
	}
	outer.from.Kids, outer.rows, outer.most = append(outer.from.Kids, m.node), max(few, m.rows), m.most
	number := m.terms[len(s.columns)-1].node.String()
	q.where(outer, leaf("bool", number+" "+q.one("= 1", "= 1", "<= 2", "<= 3", "> 1")))
	q.outputs(outer, m.terms, q.between(1, 4))
	return outer.result()
}

// overGroup adds window functions over groups.
func (q *queries) overGroup(s *selection, groups scope, keys int, taken map[string]bool) {
	var usable scope
	for _, t := range groups {
		if !sortOf(t.sort).opaque && t.sort != rowSort && !readsView(t.node) {
			usable = append(usable, t)
		}
	}
	if len(usable) < len(groups) || keys == 0 {
		return
	}
	q.use("window", "window over groups")
	w := windows{queries: q, terms: groups, usable: usable}
	for range q.between(1, 2) {
		t := pick(q.random, groups)
		call, sort := q.one("rank()", "row_number()", "count(*)"), "bigint"
		by, order := w.certain()
		over := " over (" + by + order + ")"
		if q.chance(30) && (t.sort == "bigint" || t.sort == "int") {
			call, sort = "sum("+t.node.String()+")", "numeric"
			if t.sort == "int" {
				sort = "bigint"
			}
		}
		q.output(s, leaf(sort, call+over), sort, "", taken)
	}
}

// readsView reports whether a stream table is read within: its text alone does not say where.
func readsView(n *node) bool {
	for n := range n.All() {
		if strings.HasPrefix(n.Tag, viewTag) {
			return true
		}
	}
	return false
}

// windows makes window function calls of one query.
type windows struct {
	*queries
	terms, usable scope
	clause        []string
	// Rows that are alike may change places: all calls that tell them apart do so in one order.
	by, order string
}

func (w *windows) partition() string {
	t := pick(w.random, w.usable).node.String()
	return w.one("partition by "+t+" ", "partition by "+t+" ", "partition by "+t+", "+pick(w.random, w.usable).node.String()+" ", "")
}

// certain is a partition and an order in which no two rows that differ have one place, always the same ones.
func (w *windows) certain() (partition, order string) {
	if w.order == "" {
		w.by = w.partition()
		w.order = "order by " + w.total(w.by)
	}
	return w.by, w.order
}

// total is an order by all columns, and by the scales that expressions may show of numbers that are equal. One of the partition is in its usual order: PostgreSQL sorts partitions by the order that the same
// OVER gives them, but not by that of a window made from a named one, and two sorts may leave equal rows in two orders.
func (w *windows) total(partition string) string {
	var names []string
	for _, i := range w.Perm(len(w.usable)) {
		name := w.usable[i].node.String()
		if !strings.Contains(partition, name) {
			name += w.one("", "", " desc", " nulls first")
		}
		names = append(names, name)
		if w.usable[i].sort == "scaled" {
			names = append(names, "scale("+w.usable[i].node.String()+")")
		}
	}
	return strings.Join(names, ", ")
}

// over is OVER with a window, now and then by way of the window clause.
func (w *windows) over(partition, order, frame string) string {
	if !w.chance(25) {
		return " over (" + strings.TrimSpace(partition+order+" "+frame) + ")"
	}
	name := "w" + itoa(len(w.clause)+1)
	switch {
	case w.chance(40):
		w.clause = append(w.clause, name+" as ("+strings.TrimSpace(partition+order+" "+frame)+")")
		return " over " + name
	case w.chance(50) || order == "":
		w.clause = append(w.clause, name+" as ("+strings.TrimSpace(partition+order)+")")
		return " over (" + strings.TrimSpace(name+" "+frame) + ")"
	}
	w.clause = append(w.clause, name+" as ("+strings.TrimSpace(partition)+")", name+"b as ("+name+" "+order+")")
	return " over (" + strings.TrimSpace(name+"b "+frame) + ")"
}

// call is a call with its sort.
func (w *windows) call() (*node, string) {
	w.use("window")
	t := pick(w.random, w.terms)
	loose := "order by " + pick(w.random, w.usable).node.String() + w.one("", "", " desc")
	kinds := []string{"rank", "aggregate", "running", "groups", "range"}
	if len(w.usable) == len(w.terms) {
		kinds = append(kinds, "number", "neighbour", "rows", "rows")
	}
	by, order := w.certain()
	switch kind := pick(w.random, kinds); kind {
	case "rank":
		call, sort := w.one("rank()", "dense_rank()"), "bigint"
		if w.chance(30) {
			call, sort = w.one("percent_rank()", "cume_dist()"), "approx"
		}
		return leaf(sort, call+w.over(w.partition(), loose, "")), sort
	case "running":
		return leaf("bigint", "count(*)"+w.over(w.partition(), loose, "")), "bigint"
	case "number":
		if w.chance(25) {
			return leaf("int", "ntile("+itoa(w.between(1, 4))+")"+w.over(by, order, "")), "int"
		}
		return leaf("bigint", "row_number()"+w.over(by, order, "")), "bigint"
	case "neighbour":
		call := w.one("lag(§)", "lead(§)", "lag(§, 2)", "first_value(§)", "last_value(§)", "nth_value(§, 2)")
		return format(t.sort, call+w.over(by, order, ""), t.node.Clone()), t.sort
	case "rows", "groups", "range":
		return w.framed(kind, loose)
	}
	a := w.plainAggregate()
	return format(a.sort, "§"+w.over(w.partition(), "", ""), a.node), a.sort
}

// framed sees a part of its partition.
func (w *windows) framed(kind, loose string) (*node, string) {
	w.use("window frame")
	bound := func() string { return itoa(w.between(0, 3)) }
	if kind == "range" {
		numbers := w.usable.which(func(t term) bool { return t.sort == "int" || t.sort == "bigint" || t.sort == "smallint" })
		if len(numbers) == 0 {
			kind = "groups"
		} else {
			loose = "order by " + pick(w.random, numbers).node.String() + w.one("", " desc")
		}
	}
	frame := kind + " " + w.one(
		"between unbounded preceding and current row", "between "+bound()+" preceding and "+bound()+" following", "between current row and unbounded following",
		bound()+" preceding", "between "+bound()+" following and unbounded following", "between unbounded preceding and "+bound()+" preceding",
	) + w.one("", "", " exclude current row", " exclude group", " exclude ties", " exclude no others")
	by := w.partition()
	if kind == "rows" {
		by, loose = w.certain()
		if t := pick(w.random, w.usable); w.chance(40) {
			call := w.one("first_value(§)", "last_value(§)", "nth_value(§, 2)")
			return format(t.sort, call+w.over(by, loose, frame), t.node.Clone()), t.sort
		}
	}
	a := w.plainAggregate()
	return format(a.sort, "§"+w.over(by, loose, frame), a.node), a.sort
}

// plainAggregate is one that may be called over a window.
func (w *windows) plainAggregate() term {
	for {
		a := w.builder.aggregate(w.terms)
		if text := a.node.String(); !strings.Contains(text, "distinct") && !strings.Contains(text, "order by") {
			return a
		}
	}
}
