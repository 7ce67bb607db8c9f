package drift

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// differ notes a fact that is missing or another, and how it is repaired.
func (c *comparison) differ(want, have fact, what string) {
	d := Difference{Object: want.Object, Aspect: want.Aspect, What: what, Want: want.Value, Have: have.Value, Lock: lockOf(want)}
	if want.Does != "" {
		d.repair = []string{want.Does}
	}
	kind, _, _ := strings.Cut(want.Object, " ")
	switch subject, _, _ := strings.Cut(want.Aspect, " "); {
	case subject == "column":
		c.column(&d, what)
	case subject == "rights":
		if have.Undoes != "" {
			d.repair = append([]string{have.Undoes}, d.repair...)
		}
		// Those of columns go with those of the table.
		role, _, _ := strings.Cut(want.Aspect, " on column ")
		d.repair = append(d.repair, c.doing(want.Object, func(f fact) bool { return strings.HasPrefix(f.Aspect, role) })...)
	case subject == "constraint" && what == Differs:
		d.Left = "its rows may not fit: drop it, and apply makes it again"
	case want.Aspect == "persistence":
		d.Left = "it would be rewritten as a whole: alter table … set " + want.Value
	case want.Aspect == "kept by dumps":
		if _, member := c.have[key{want.Object, "member of extension"}]; !member {
			return // which is reported
		}
		d.Left = "only a script of the extension can mark it; pg_dump leaves out its rows"
	case want.Aspect == "member of extension" && what == Missing && c.dumped(want.Object):
		d.Left = "as a member, which only a script of the extension can mark, its rows would be left out by pg_dump"
	case want.Aspect == "member of extension" && what == Differs:
		d.Left = "extension " + have.Value + " has it"
	case want.Aspect != "definition":
	case kind == "index" || kind == upgrade.Policy:
		d.repair = append([]string{have.Undoes}, d.repair...)
	case kind == "function" || kind == "procedure" || kind == "view":
		d.again = c.dropped(want.Object, have)
	}
	c.found = append(c.found, d)
}

// dumped reports whether dumps of the extension have to keep the rows of a table.
func (c *comparison) dumped(object string) bool {
	n, regular := c.order[object]
	return regular && c.m.Objects[n].Dump
}

// dropped makes an object again that cannot be replaced.
func (c *comparison) dropped(object string, have fact) []string {
	var all []string
	if member, is := c.have[key{object, "member of extension"}]; is {
		all = append(all, member.Undoes)
	}
	all = append(all, "drop "+have.Object)
	return append(all, c.doing(object, func(fact) bool { return true })...)
}

// column decides over a column that is missing or has another type.
func (c *comparison) column(d *Difference, what string) {
	if statement := c.recreation(d.Object); statement != "" {
		d.repair, d.attach = []string{statement}, true
		d.Lock = "ACCESS EXCLUSIVE on it, as long as it takes to fill it again"
		return
	}
	if what == Differs {
		d.Left = "its values would have to be converted: alter it by hand"
	}
}

// recreation is the statement by which functions create a table again that holds no data of its own.
func (c *comparison) recreation(object string) string {
	_, name, _ := strings.Cut(object, " ")
	r, ok := sqltext.ParseRelation(name)
	for _, m := range c.m.Made {
		if ok && m.Recreate != "" && slices.ContainsFunc(m.Relations, func(of upgrade.Relation) bool {
			return of.Kind == "table" && of.Schema == r.Schema && of.Name == r.Name
		}) {
			return m.Recreate
		}
	}
	return ""
}

// added notes what the version does not have. What users add of their own is none of our business, unless it keeps rows out, shows or
// hides them.
func (c *comparison) added(have fact) {
	d := Difference{Object: have.Object, Aspect: have.Aspect, What: Added, Have: have.Value}
	_, ours := c.want[key{have.Object, existence}]
	column, ofColumn := strings.CutPrefix(have.Aspect, "default of ")
	if !ofColumn {
		column, ofColumn = strings.CutPrefix(have.Aspect, "not null of ")
	}
	_, known := c.want[key{have.Object, column}]
	subject, _, _ := strings.Cut(have.Aspect, " ")
	switch {
	case c.isSource(have.Object):
		return
	case subject == "rights" && c.mayRevoke(have):
		d.repair = []string{have.Undoes}
	case ofColumn && known, ours && subject == "storage" && strings.HasPrefix(have.Object, "table "):
		d.repair = []string{have.Undoes}
	case ours && subject == "column":
		d.Left = "Sluice did not make it, and drops no column"
	case ours && (subject == "constraint" || have.Aspect == "row-level security"):
		d.Left = "Sluice did not make it; it may keep rows out"
	case have.Aspect == "definition" && c.keepsOut(have):
		d.Left = "Sluice did not make it; it may keep rows out"
	default:
		return
	}
	c.found = append(c.found, d)
}

// mayRevoke reports whether a right that no script gives is one that they decide over.
func (c *comparison) mayRevoke(have fact) bool {
	_, relation := c.want[key{have.Object, existence}]
	_, function := c.want[key{have.Object, "definition"}]
	role, _, _ := strings.Cut(strings.TrimPrefix(have.Aspect, "rights of "), " on column ")
	if c.shadows.failed["grant "+role] != nil {
		return false
	}
	if strings.HasPrefix(have.Aspect, "rights of public") {
		return c.openRights()[have.Object]
	}
	return relation || function
}

// keepsOut reports whether an index on a table of the extension is unique.
func (c *comparison) keepsOut(have fact) bool {
	if !strings.HasPrefix(have.Value, "CREATE UNIQUE INDEX ") {
		return false
	}
	_, on, _ := strings.Cut(have.Value, " ON ")
	r, ok := sqltext.ParseRelation(on)
	_, ours := c.want[key{"table " + r.String(), existence}]
	return ok && ours
}

func sorted(facts map[key]fact) []fact {
	return slices.SortedFunc(maps.Values(facts), func(a, b fact) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Aspect, b.Aspect))
	})
}

// missingRoles notes group roles that the server does not have.
func (c *comparison) missingRoles() error {
	for _, o := range c.m.Objects {
		if o.Kind != "role" {
			continue
		}
		var there bool
		if err := c.tx.QueryRow(c.ctx, "select exists (select from pg_roles where rolname = $1)", sqltext.Unquoted(o.Signature)).Scan(&there); err != nil {
			return err
		}
		if !there {
			c.found = append(c.found, Difference{Object: o.ID(), What: Missing, repair: []string{o.SQL}})
		}
	}
	return nil
}

// compareMade looks for what functions make that is no relation.
func (c *comparison) compareMade() error {
	if err := c.comparePublications(); err != nil {
		return err
	}
	return c.compareInboxTables()
}

// comparePublications looks for publications that functions make.
func (c *comparison) comparePublications() error {
	for _, made := range c.m.Made {
		if made.Kind != "publication" {
			continue
		}
		var there, may bool
		err := c.tx.QueryRow(c.ctx, "select exists (select from pg_publication p join pg_publication_rel r on r.prpubid = p.oid where p.pubname = $1),"+
			" has_database_privilege(current_database(), 'create')", made.Name).Scan(&there, &may)
		if err != nil {
			return err
		}
		if !there && may {
			c.found = append(c.found, Difference{Object: "publication " + sqltext.Ident(made.Name), What: Missing, attach: true})
		}
	}
	return nil
}

// compareInboxTables looks for triggers and indexes that attach() creates on tables of users.
func (c *comparison) compareInboxTables() error {
	for _, made := range c.m.Made {
		if made.Kind != "inbox table" {
			continue
		}
		var indexes []string
		for _, r := range made.Relations {
			indexes = append(indexes, sqltext.Qualified(r.Schema, r.Name))
		}
		rows, err := c.tx.Query(c.ctx, missingOnTable, made.On[0], made.Triggers, indexes)
		if err != nil {
			return err
		}
		missing, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, object := range missing {
			c.found = append(c.found, Difference{Object: object, What: Missing, Lock: lockOf(fact{Object: object}), attach: true})
		}
	}
	return nil
}

// missingOnTable lists the triggers and indexes that a table lacks, if it is there.
const missingOnTable = `
select format('trigger %I on %s', n.name, $1::text)
from unnest($2::name[]) n (name)
where to_regclass($1::text) is not null and not exists (select from pg_trigger t where t.tgrelid = to_regclass($1::text) and t.tgname = n.name and t.tgenabled <> 'D')
union all
select 'index ' || n.name
from unnest($3::text[]) n (name)
where to_regclass($1::text) is not null and not exists (select from pg_index x where x.indrelid = to_regclass($1::text) and x.indexrelid = to_regclass(n.name))
order by 1`

// message is what a server says, without the dress.
func message(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Message
	}
	return err.Error()
}
