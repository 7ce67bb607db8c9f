package explain

import (
	"strings"

	"github.com/pgsluice/sluice/generator/page"
	"github.com/pgsluice/sluice/ivm/resolve"
)

// rewrite shows by an example how to write a query so that it is followed.
type rewrite struct {
	of      string // how what it replaces is called, from the beginning
	Instead string // of this query
	Query   string // this one is followed
	View    string // and this one over it, which is called v, computes the rest where it is read; may be empty
}

// rewrites are over the tables orders (id, customer, amount, placed), items (orders_id, name, tags) and steps (id, parent).
var rewrites = []rewrite{
	{"the time of day", "select id, now() - placed as age from orders", "select id, placed from orders", "select id, now() - placed as age from v"},
	{"the state of the database or the session", "select id, amount from orders\nwhere customer = current_setting('app.customer')::integer",
		"select id, amount, customer from orders", "select id, amount from v\nwhere customer = current_setting('app.customer')::integer"},
	{"LIMIT that reads", "select o.id, (select i.name from items i where i.orders_id = o.id\n    order by i.name limit least(1, o.amount::integer))\nfrom orders o",
		"select o.id, i.name\nfrom orders o\nleft join (\n    select orders_id, name, row_number() over (partition by orders_id order by name) as nth from items\n) i on i.orders_id = o.id and i.nth <= least(1, o.amount::integer)", ""},
	{"SEARCH or CYCLE", "with recursive t (id) as (\n    select id from steps where parent is null\n    union all\n    select s.id from t join steps s on s.parent = t.id\n) search depth first by id set place\nselect id, row_number() over (order by place) as no from t",
		"with recursive t (id, place) as (\n    select id, array[id] from steps where parent is null\n    union all\n    select s.id, t.place || s.id from t join steps s on s.parent = t.id\n)\nselect id, row_number() over (order by place) as no from t", ""},
	{"whole row of what is not a plain table", "select q.id, q is null as none\nfrom (select id, customer from orders) q",
		"select q.id, q.id is null and q.customer is null as none\nfrom (select id, customer from orders) q", ""},
	{"subquery in an expression", "select o.id, (select i.name from items i where i.orders_id = o.id)\nfrom orders o",
		"select o.id, (select i.name from items i where i.orders_id = o.id\n    order by i.name limit 1)\nfrom orders o", ""},
	{"system column", "select id, ctid from orders", "select id from orders", ""},
}

// rewriteOf is the example for a reason, if there is one.
func rewriteOf(r resolve.Reason) *rewrite {
	for i := range rewrites {
		if strings.HasPrefix(r.What, rewrites[i].of) {
			return &rewrites[i]
		}
	}
	return nil
}

func (r *rewrite) snippets() []snippet {
	if r == nil {
		return nil
	}
	all := []snippet{{"For example, instead of", page.Code(r.Instead, 1)}, {"write", page.Code(r.Query, 1)}}
	if r.View != "" {
		all[1].Title = "have the stream table v show"
		all = append(all, snippet{"and read it by", page.Code(r.View, 1)})
	}
	return all
}
