package cases

import (
	"slices"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// recursive follows a table from row to row, in a part of a with clause that others may read too.
func (q *queries) recursive(depth int) (result, bool) {
	t := pick(q.random, q.g.tables)
	ints := intsOf(t)
	if len(ints) < 2 || len(q.ctes) > 0 {
		return result{}, false
	}
	outer := q.ctes
	defer func() { q.ctes = outer }()
	q.use("recursive")
	s := newSelection()
	part := &relation{name: "paths", columns: []column{{name: "f", sort: "int"}, {name: "g", sort: "int"}}, rows: 40, most: 400}
	steps, bag := q.steps(t, ints)
	s.with = tree.NewList(tree.List{Open: "with recursive ", Sep: ",\n", Close: "\n"}, steps)
	if bag && q.chance(50) {
		part = q.walks(s.with, part)
	}
	q.ctes = append(slices.Clone(q.ctes), part)
	m := q.reading(part)
	switch {
	case q.chance(15):
		m = q.join(s, m, q.reading(part))
	case q.chance(45):
		m = q.join(s, m, q.member(depth-1))
	}
	s.from.Kids, s.rows, s.most = []*node{m.node}, m.rows, m.most
	return q.finish(s, m.terms).result(), true
}

// walks lets the query that reads itself note where each row has been. Rows with such notes are other rows, so as a set on any graph there were too many.
func (q *queries) walks(list *node, part *relation) *relation {
	noted := column{name: "way", sort: "text"}
	walks := &relation{name: "walks", columns: append(slices.Clone(part.columns), noted), rows: part.rows, most: part.most}
	clause, shown, path := "", "", "way"
	if q.chance(65) {
		q.use("search")
		clause, path = q.one(" search depth first by g", " search breadth first by f, g", " search depth first by g, f")+" set way", "been"
	}
	if clause == "" || q.chance(50) {
		q.use("cycle")
		clause, shown = clause+q.one(" cycle g", " cycle f, g")+" set looped using "+path, ", p.looped"
		walks.columns = append(walks.columns, column{name: "looped", sort: "bool"})
	}
	list.Kids = []*node{
		format("", "§"+clause, list.Kids[0]),
		leaf("", "walks as (\nselect p.f, p.g, p.way::text"+shown+"\nfrom paths as p\n)"),
	}
	return walks
}

func intsOf(t *table) (ints []string) {
	for _, c := range t.columns {
		if c.sort == "int" {
			ints = append(ints, c.name)
		}
	}
	return ints
}

// steps are first rows of a table, and what follows from them: on any graph as a set, and as a bag where a path goes up, or is short.
func (q *queries) steps(t *table, ints []string) (steps *node, bag bool) {
	from, to := ints[0], ints[1]
	if q.chance(30) {
		from, to = to, from
	}
	read := func(t *table) *node { return leaf("relation", t.name).Tagged(t.tag()) }
	name := func(t *table, column string) *node { return leaf("", column).Tagged(t.columnTag(column)) }
	first, word, shown, on := name(t, to), "union", "p.f, b.§", "b.§ = p.g"
	kids := []*node{name(t, from), first, read(t)}
	text := "select b.§ as f, b.§ as g\nfrom § as b"
	if q.chance(35) {
		text, kids = text+"\nwhere b.§ "+q.one("is not null", "> 1", "< 3"), append(kids, name(t, to))
	}
	short := q.chance(40)
	if short { // g counts steps, f is where they are
		text, kids = "select b.§ as f, 0 as g\nfrom § as b", []*node{name(t, from), read(t)}
		shown, on = "b.§, p.g + 1", "b.§ = p.f"
	}
	where := ""
	if short {
		where = "p.g < 2"
	}
	if q.chance(50) {
		word = "union all"
	}
	kids = append(kids, name(t, to), read(t), name(t, from))
	text += "\n" + word + "\nselect " + shown + "\nfrom paths as p\n  join § as b on " + on
	if word == "union all" && !short {
		text, kids = text+" and b.§ > b.§", append(kids, name(t, to), name(t, from))
	}
	other := pick(q.random, q.g.tables)
	if columns := intsOf(other); len(columns) > 0 && q.chance(35) {
		column := pick(q.random, columns)
		switch {
		case q.chance(60):
			text += "\n  join § as c on c.§ = b.§"
			kids = append(kids, read(other), name(other, column), name(t, to))
		case q.chance(50):
			text += "\n  left join § as c on c.§ = b.§"
			kids = append(kids, read(other), name(other, column), name(t, to))
		default:
			if where != "" {
				where += " and "
			}
			where += q.one("", "not ") + "exists (select from § as c where c.§ = b.§)"
			kids = append(kids, read(other), name(other, column), name(t, to))
		}
	}
	if where != "" {
		text += "\nwhere " + where
	}
	return format("", "paths (f, g) as (\n"+text+"\n)", kids...), word == "union all"
}
