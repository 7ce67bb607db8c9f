package cases

import "slices"

// grouped is a query with group by.
func (q *queries) grouped(depth int) result {
	s, terms := q.source(depth, 3)
	usable := terms.usable()
	if len(usable) == 0 {
		return q.total(depth)
	}
	q.use("group by")
	groups := q.keys(s, usable)
	sets := !q.options.Simple && q.chance(20) && q.groupingSets(s)
	if !sets {
		groups = append(groups, q.dependent(s, terms, groups)...)
	}
	keys := len(groups)
	if sets && q.chance(45) {
		q.use("grouping sets without aggregates")
	} else {
		for range q.between(1, 3) {
			groups = append(groups, q.aggregate(terms))
		}
	}
	q.noteNesting(s)
	if q.chance(30) && s.rows > few {
		q.having(s, groups)
	}
	if sets {
		groups = q.grouping(s, groups, keys)
	}
	q.shown(s, groups, keys)
	s.rows, s.most = min(s.rows, 9), min(s.most, 400)
	if !q.options.Simple && q.chance(6) && !hasOpaque(s.columns) && !hasRows(s.columns) {
		return q.firstGroups(s, usable)
	}
	return s.result()
}

// grouping has groups of several sets tell by which they are grouped.
func (q *queries) grouping(s *selection, groups scope, keys int) scope {
	if q.chance(20) {
		q.use("having grouping")
		s.having.Kids = append(s.having.Kids, leaf("bool", "grouping("+groups[q.IntN(keys)].node.String()+q.one(") = 0", ") > 0", ") <= 1")))
	}
	if !q.chance(40) {
		return groups
	}
	q.use("grouping")
	of := groups[q.IntN(keys)].node.String()
	if plain := plainKeys(groups[:keys]); len(plain) > 0 && q.chance(60) {
		n := q.groupingInSubquery(pick(q.random, plain).node.String())
		return append(groups, term{sort: n.Sort, node: n})
	}
	return append(groups, term{sort: "int", node: leaf("int", "grouping("+of+q.one("", ", "+groups[0].node.String())+")")})
}

// keys groups by columns and expressions.
func (q *queries) keys(s *selection, terms scope) scope {
	var keys scope
	for range weighted(q.random, []choice[int]{{60, 1}, {32, 2}, {8, 3}}) {
		t := pick(q.random, terms)
		if q.chance(25) {
			n, sort := q.over(terms, t, 1)
			if !sortOf(sort).opaque && sort != rowSort {
				q.use("group by expression")
				t = term{sort: sort, node: n} // not small
			}
		}
		t.node, t.sort = t.node.Clone(), q.settled(t.sort)
		s.group.Kids = append(s.group.Kids, q.twin(t.node))
		keys = append(keys, t)
	}
	return keys
}

// dependent are further columns of a table by whose primary key the query groups.
func (q *queries) dependent(s *selection, terms scope, keys scope) scope {
	if len(s.where.Kids) > 1 || !q.chance(50) {
		return nil
	}
	for _, t := range terms {
		table := q.keyedBy(t)
		if table == nil || !slices.ContainsFunc(keys, func(k term) bool { return k.from == t.from && k.name == t.name }) {
			continue
		}
		q.use("group by key")
		others := terms.which(func(o term) bool { return o.from == t.from && o.name != t.name })
		return some(q.random, others, 1, 2)
	}
	return nil
}

// keyedBy is the table whose primary key is this column alone.
func (q *queries) keyedBy(t term) *table {
	for _, table := range q.g.tables {
		if len(table.key) == 1 && table.kind() != "parent table" && t.node.Tag == table.columnTag(table.key[0]) {
			return table
		}
	}
	return nil
}

// having keeps some groups.
func (q *queries) having(s *selection, groups scope) {
	q.use("having")
	condition := format("bool", "§ "+q.one("> 1", ">= 2", "< 6", "< 3", "<> 3"), leaf("bigint", "count(*)"))
	if usable := groups.usable(); len(usable) > 0 && q.chance(40) {
		condition = q.filter(usable, 1)
	}
	s.having.Kids = append(s.having.Kids, condition)
	s.rows /= 3
}

// shown decides which keys and aggregates are columns, as they are or within expressions.
func (q *queries) shown(s *selection, groups scope, keys int) {
	taken := map[string]bool{}
	for i, t := range groups {
		switch {
		case i < keys && q.chance(10) && len(groups) > 1:
			q.use("key not shown")
			continue
		case i < len(s.group.Kids) && s.group.Kids[i].Twin > 0 && q.chance(25):
			q.byPosition(s, i)
		case i >= keys && q.chance(22):
			n, sort := q.over(groups, t, 1)
			q.use("expression over aggregates")
			q.output(s, n, sort, "", taken)
			continue
		}
		q.output(s, t.node.Clone(), t.sort, t.name, taken)
		s.columns[len(s.columns)-1].small = t.small
	}
	if !q.options.Simple && q.chance(10) {
		q.overGroup(s, groups, keys, taken)
	}
	if !q.options.Simple && q.chance(8) && q.scalarOutput(s, plainKeys(groups[:keys]), taken) {
		q.use("subquery beside groups")
	}
	if len(s.columns) == 0 {
		last := groups[len(groups)-1]
		q.output(s, last.node.Clone(), last.sort, "", taken)
	}
}

// byPosition groups by the number of the column that is shown next.
func (q *queries) byPosition(s *selection, i int) {
	q.use("group by position")
	s.group.Kids[i] = leaf("", itoa(len(s.columns)+1))
}

// total is a query with aggregates and without group by: one row, whatever it reads.
func (q *queries) total(depth int) result {
	s, terms := q.source(depth, 3)
	q.use("group by nothing")
	var groups scope
	for range q.between(1, 3) {
		groups = append(groups, q.aggregate(terms))
	}
	q.noteNesting(s)
	if q.chance(8) {
		q.having(s, groups)
	}
	q.shown(s, groups, 0)
	s.rows, s.most = 1, 1
	return s.result()
}

func (q *queries) noteNesting(s *selection) {
	for n := range s.from.All() {
		if n.Sort == "query" && len(n.Kids) > GroupPart && len(n.Kids[GroupPart].Kids) > 0 {
			q.use("aggregate over aggregate")
		}
	}
}
