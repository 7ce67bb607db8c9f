package drift

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// taken finds what others made under a name of the extension: it has no mark, is no member, and differs from what would have been made. If a user
// drops an object and creates another one of that name, that is neither compared nor repaired nor dropped. Where the catalog itself has no mark, comments were
// not restored, and names are what there is to go by.
func (c *comparison) taken() (map[string]bool, error) {
	others := map[string]bool{}
	if !c.marked("table " + sqltext.Qualified(c.m.Schema, "pgt_extension")) {
		return others, nil
	}
	over, err := c.overRows()
	if err != nil {
		return nil, err
	}
	for _, want := range c.wanted {
		if want.Aspect != existence && want.Aspect != "definition" || others[want.Object] {
			continue
		}
		kind, _, _ := strings.Cut(want.Object, " ")
		_, regular := c.order[want.Object]
		_, there := c.have[want.key()]
		switch {
		case !there || kind == "index" || kind == "trigger" || kind == upgrade.Policy || kind == "sequence" && !regular: // those go by their tables
		case c.marked(want.Object) || over[want.Object] || c.alike(want.Object):
		default:
			others[want.Object] = true
			c.found = append(c.found, Difference{
				Object: want.Object, What: Taken, Left: fmt.Sprintf("extension %s did not make it; if it did, end its comment with %s", c.m.Extension, c.m.Mark()),
			})
		}
	}
	return others, nil
}

// marked reports whether an object is known to be ours, as all in the internal schema is.
func (c *comparison) marked(object string) bool {
	_, name, _ := strings.Cut(object, " ")
	if r, ok := sqltext.ParseRelation(name); ok && r.Schema == c.m.Internal {
		return true
	}
	return strings.Contains(c.have[key{object, "comment"}].Value, c.m.Mark()) ||
		c.have[key{object, "member of extension"}].Value == sqltext.Ident(c.m.Extension)
}

// alike reports whether an object is what we would have made, whatever was said of it or granted on it.
func (c *comparison) alike(object string) bool {
	for _, want := range c.wanted {
		subject, _, _ := strings.Cut(want.Aspect, " ")
		if want.Object == object && (subject == "column" || subject == "definition") && c.have[want.key()].Value != want.Value {
			return false
		}
	}
	return true
}

// overRows finds the views that read what stores their stream tables: users may comment on those.
func (c *comparison) overRows() (map[string]bool, error) {
	var views, tables []string
	for _, m := range c.m.Made {
		if m.Kind != "stream table" {
			continue
		}
		var view string
		for _, r := range m.Relations {
			switch r.Kind {
			case "view":
				view = sqltext.Qualified(r.Schema, r.Name)
			case "table":
				views, tables = append(views, view), append(tables, sqltext.Qualified(r.Schema, r.Name))
			}
		}
	}
	rows, err := c.tx.Query(c.ctx, `
		select distinct 'view ' || p.view
		from unnest($1::text[], $2::text[]) p (view, rows_table)
		join pg_rewrite r on r.ev_class = to_regclass(p.view)
		join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass and d.refobjid = to_regclass(p.rows_table)`, views, tables)
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	over := map[string]bool{}
	for _, name := range names {
		over[name] = true
	}
	return over, err
}

// ofTaken reports whether an object is on a table of others.
func ofTaken(object string, taken map[string]bool) bool {
	_, on, ok := strings.Cut(object, " on ")
	return ok && (taken["table "+on] || taken["view "+on])
}
