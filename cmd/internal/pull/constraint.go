package pull

import (
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// constraint is a row of constraints.sql.
type constraint struct {
	OID              int64
	Relation, Domain int64 // one of them is 0
	Owner            string
	Name             string
	Kind             string
	Definition       string
	Valid            bool // rows that were there before it satisfy it, or nobody asks
}

// constraints keeps keys and checks for their tables and domains, and writes those that have to come later.
func (w *writer) constraints(_ string, oids []int64) error {
	all, err := rows[constraint](w.database, "constraints", oids)
	for _, c := range all {
		self, owner, alter := object{"pg_constraint", c.OID}, object{"pg_class", c.Relation}, "alter table only "
		if c.Domain != 0 {
			owner, alter = object{"pg_type", c.Domain}, "alter domain "
		}
		text := "constraint " + sqltext.Ident(c.Name) + " " + definition(c.Definition)
		if c.Valid && !w.graph[owner].follows[self] {
			w.items[self] = item{}
			w.inline[owner] = append(w.inline[owner], text)
			continue
		}
		w.graph.follow(owner, self)
		w.items[self] = item{
			rank: rankAfterTable, name: sortKey(c.Owner, c.Name), what: "constraint " + sqltext.Ident(c.Name) + " of " + c.Owner,
			text: alter + c.Owner + " add " + text,
		}
	}
	return err
}

// foreignKey is a row of foreign_keys.sql.
type foreignKey struct {
	Schema, Table string
	Name          string
	Definition    string
}

// foreignKeys writes those between the tables of the script, which come last. Others would bring tables that nobody reads.
func (w *writer) foreignKeys() ([]string, error) {
	var tables []int64
	for _, o := range w.graph.sorted() {
		if o.class == "pg_class" && w.items[o].rank == rankTable && !w.graph[o].member {
			tables = append(tables, o.oid)
		}
	}
	all, err := rows[foreignKey](w.database, "foreign_keys", tables)
	keys := make([]string, len(all))
	for i, k := range all {
		keys[i] = "alter table " + sqltext.Qualified(k.Schema, k.Table) + " add constraint " + sqltext.Ident(k.Name) + " " + definition(k.Definition)
	}
	return keys, err
}
