package cases

import "github.com/pgsluice/sluice/tests/views/oracle/tree"

// writableCTE changes two or three tables in one statement, or one of them twice.
func (ch *changes) writableCTE(t *table) *Item {
	r := ch.random
	list := tree.NewList(tree.List{Open: "with ", Sep: ",\n", Close: "\n", Min: 1})
	for n := range r.between(1, 2) {
		other := pick(r, ch.g.tables)
		part := format("", "w"+itoa(n+1)+" as (§ returning 1)", ch.oneOf(other)).Tagged(other.tag())
		list.Kids = append(list.Kids, part)
	}
	last := ch.oneOf(t)
	if r.chance(20) {
		last = leaf("", "select 1")
	}
	return statement(t, format("", "§§", list, last))
}

// oneOf is an insert, update or delete.
func (ch *changes) oneOf(t *table) *node {
	item := weighted(ch.random, []choice[func(*table) *Item]{
		{5, ch.insertSome}, {3, ch.update}, {3, ch.delete}, {1, ch.updateKey}, {1, ch.upsert}, {1, ch.insertSelect},
	})(t)
	if item == nil {
		item = ch.insertSome(t)
	}
	return item.SQL
}

// block runs statements in PL/pgSQL, some of which it takes back.
func (ch *changes) block(t *table) *Item {
	r := ch.random
	kept, undone := ch.oneOf(t), ch.oneOf(pick(r, ch.g.tables))
	text := "do $block$\n#variable_conflict use_column\nbegin\n§;\nbegin\n§;\nraise exception 'no';\nexception when raise_exception then null;\nend;\nend $block$"
	return statement(t, format("", text, kept, undone))
}
