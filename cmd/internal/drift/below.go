package drift

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// member is a table below one that is followed, or above it.
type member struct {
	Root, Name string // as SQL
	Parted     bool   // the root is partitioned: PostgreSQL itself gives its row triggers to partitions
	Above      bool   // only triggers are there that see statements which write the one below
}

const belowSQL = `
with recursive below (root, oid) as (
    select r.name, to_regclass(r.name)::oid
    from unnest($1::text[]) r (name)
    union
    select b.root, i.inhrelid
    from below b
    join pg_inherits i on i.inhparent = b.oid
),
above (root, oid) as (
    select r.name, i.inhparent
    from unnest($1::text[]) r (name)
    join pg_inherits i on i.inhrelid = to_regclass(r.name)
    union
    select a.root, i.inhparent
    from above a
    join pg_inherits i on i.inhrelid = a.oid
)
select b.root, format('%I.%I', n.nspname, c.relname), t.relkind = 'p', b.above
from (select b.*, false as above from below b union all select a.*, true from above a) b
join pg_class c on c.oid = b.oid
join pg_namespace n on n.oid = c.relnamespace
join pg_class t on t.oid = to_regclass(b.root)
where c.oid <> t.oid and c.relkind in ('r', 'p')
order by 1, 2`

// findBelow finds the tables on which triggers of what is above or below them have to be, too: a statement fires those of the table that it names.
func (c *comparison) findBelow() error {
	var roots []string
	for _, r := range c.shadows.sources {
		roots = append(roots, r.String())
	}
	rows, err := c.tx.Query(c.ctx, belowSQL, roots)
	if err == nil {
		c.below, err = pgx.CollectRows(rows, pgx.RowToStructByPos[member])
	}
	return err
}

// belowOf is what a fact of a trigger says of the tables below its own.
func (c *comparison) belowOf(f fact) (all []fact) {
	trigger, table, ok := strings.Cut(f.Object, " on ")
	if !ok || !strings.HasPrefix(trigger, "trigger ") || f.Aspect == "comment" {
		return nil
	}
	for _, b := range c.below {
		if b.Root != table || b.Parted && !b.Above && c.eachRow[f.Object] || b.Above && !c.above[f.Object] {
			continue
		}
		on := func(text string) string { return strings.Replace(text, " "+table+" ", " "+b.Name+" ", 1) }
		all = append(all, fact{Rank: f.Rank, Object: trigger + " on " + b.Name, Aspect: f.Aspect, Value: on(f.Value), Does: on(f.Does)})
	}
	return all
}
