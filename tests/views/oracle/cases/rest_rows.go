package cases

import "slices"

// wholeRow reads rows of a table as values, of one that is alone or the side of an outer join where rows may be missing.
func (q *queries) wholeRow(int) (result, bool) {
	r := q.table()
	if hasOpaque(r.columns) || r.table == nil {
		return result{}, false
	}
	s, m := newSelection(), q.reading(r)
	from := m
	if q.chance(50) {
		other := q.reading(q.table())
		if both, ok := q.outerJoin(s, other, m); ok {
			from = both
		}
	}
	keys := from.terms.usable().which(func(t term) bool { return t.sort != rowSort })
	if len(keys) == 0 || q.isColumn(m.alias) {
		return result{}, false
	}
	q.use("whole row")
	s.from.Kids, s.rows, s.most = []*node{from.node}, from.rows, from.most
	add := func(text, sort string) {
		name := "\"c " + itoa(len(s.columns)+1) + "\""
		s.outputs.Kids = append(s.outputs.Kids, leaf("", text+" as "+name))
		s.columns = append(s.columns, column{name: name, sort: sort})
	}
	key := pick(q.random, keys)
	if q.chance(20) {
		add(m.alias, rowSort)
		s.group.Kids = append(s.group.Kids, leaf("", m.alias))
	} else {
		q.output(s, key.node.Clone(), q.settled(key.sort), "", map[string]bool{})
		if q.chance(40) {
			s.group.Kids = append(s.group.Kids, key.node.Clone())
		}
	}
	if len(s.group.Kids) > 0 {
		add(q.one("count("+m.alias+".*)", "count("+m.alias+")", "count(distinct "+m.alias+")", "count(*) filter (where "+m.alias+" is not null)"), "bigint")
		return s.result(), true
	}
	for range q.between(1, 2) {
		switch q.IntN(4) {
		case 0, 1:
			add(q.one(m.alias, m.alias, "coalesce("+m.alias+", "+m.alias+")"), rowSort)
		case 2:
			add(m.alias+q.one(" is null", " is not null", " = "+m.alias, " is distinct from "+m.alias), "bool")
		case 3:
			add(q.one("to_jsonb(", "row_to_json(")+m.alias+q.one(")", ".*)")+"::jsonb", "jsonv")
		}
	}
	return s.result(), true
}

// isColumn reports whether a whole row under a name would be the column of that name, which a query around may have, too.
func (q *queries) isColumn(name string) bool {
	return slices.ContainsFunc(q.g.columns, func(c column) bool { return c.name == name })
}

// rowFields reads fields of rows that a subquery has as values.
func (q *queries) rowFields(int) (result, bool) {
	r := q.table()
	if hasOpaque(r.columns) || r.table == nil {
		return result{}, false
	}
	s, m, outer := newSelection(), q.reading(r), q.alias()
	if q.isColumn(m.alias) {
		return result{}, false
	}
	q.use("fields of a row")
	key, field := pick(q.random, m.terms), pick(q.random, r.columns)
	distinct := q.one("", "", "distinct ")
	s.from.Kids, s.rows, s.most = []*node{format("from", "(select "+distinct+m.alias+" as r, § as k\n  from §) as "+outer, key.node.Clone(), m.node)}, m.rows, m.most
	s.outputs.Kids = append(s.outputs.Kids, leaf("", outer+".k as \"c 1\""), leaf("", "("+outer+".r)."+field.name+" as \"c 2\"").Tagged(r.table.columnTag(field.name)))
	s.columns = append(s.columns, column{name: "\"c 1\"", sort: key.sort}, column{name: "\"c 2\"", sort: field.sort})
	if distinct != "" {
		q.settle(s)
	}
	return s.result(), true
}
