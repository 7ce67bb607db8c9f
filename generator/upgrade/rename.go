package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// brieflyAll is what renames keep waiting.
const brieflyAll = "ACCESS EXCLUSIVE on its tables, for a moment"

// rename gives everything that stays its new name. What is dropped is gone by then, and what is new is made afterwards.
func (d *differ) rename() {
	var steps []Step
	for _, n := range d.to.Named {
		before, stays := identifiedAs(d.from.Named, n.identity())
		if stays && before.Name != n.Name {
			step := Step{Action: "rename", Object: fmt.Sprintf("%s %s to %s", n.Kind, before.Name, n.Name), Of: n.Kind + " " + n.Name, Lock: brieflyAll}
			if n.Kind == "consumer group" {
				step.Lock = "" // it is a row
			}
			steps = append(steps, step)
		}
	}
	for _, o := range d.to.Objects {
		if before, stays := d.old[o.identity()]; o.Kind == "table" && o.Of == "" && stays && before.Signature != o.Signature {
			steps = append(steps, Step{Action: "rename", Object: fmt.Sprintf("table %s to %s", before.Signature, o.Signature), Lock: brieflyAll})
		}
	}
	if len(steps) == 0 {
		return
	}
	steps[len(steps)-1].SQL = d.renameObjects() + d.renameValues()
	d.plan.Steps = append(d.plan.Steps, steps...)
}

func identifiedAs[T interface{ identity() string }](list []T, identity string) (found T, ok bool) {
	at := slices.IndexFunc(list, func(x T) bool { return x.identity() == identity })
	if at < 0 {
		return found, false
	}
	return list[at], true
}

// renamer collects what renaming objects takes.
type renamer struct {
	first string // moves to other schemas
	moves []move
	last  string // constraints and comments, once tables have their new names
	aside int
	keys  []keyed
}

// keyed is a table with a primary key, whose index is named after it.
type keyed struct{ from, to sqltext.Statement }

// renameObjects moves relations and functions to their new names.
func (d *differ) renameObjects() string {
	var r renamer
	for _, o := range d.from.Objects {
		now, stays := d.new[o.identity()]
		if !stays || d.dropped[o.identity()] || o.ID() == now.ID() {
			continue
		}
		switch o.Kind {
		case "function", "procedure":
			r.routine(described(o), described(now))
		case "table":
			r.relation("table", described(o), described(now), false)
			r.constraints(described(o), described(now), implicit(o), implicit(now))
			r.sequences(o, now)
		case "view", "sequence", "index":
			r.relation(o.Kind, described(o), described(now), false)
		}
	}
	for _, m := range d.from.Made {
		if now, stays := identifiedAs(d.to.Made, m.identity()); stays {
			r.made(m, now)
		}
	}
	aside, back := r.renameKeys()
	return aside + r.first + inOrder(r.moves) + back + r.last
}

func described(o Object) sqltext.Statement {
	created, err := sqltext.Describe(o.SQL)
	if err != nil {
		panic(fmt.Sprintf("upgrade: %v\n%s", err, o.SQL)) // was checked when it was generated
	}
	return created.Statement
}

func (r *renamer) routine(from, to sqltext.Statement) {
	args := "(" + strings.Join(from.Args, ", ") + ")"
	r.moves = append(r.moves, move{"routine " + from.Schema + args, from.Name, to.Name, func(old, new string) string {
		return fmt.Sprintf("alter %s %s%s rename to %s;\n", from.Kind, sqltext.Qualified(from.Schema, old), args, sqltext.Ident(new))
	}})
}

// relation moves a table, view, sequence or index; maybe says that it need not be there.
func (r *renamer) relation(kind string, from, to sqltext.Statement, maybe bool) {
	alter := func(schema, old, then string) string {
		name := sqltext.Qualified(schema, old)
		sql := fmt.Sprintf("alter %s %s %s;\n", kind, name, then)
		if maybe {
			sql = fmt.Sprintf("do $do$\nbegin\n    if to_regclass(%s) is not null then\n        %s    end if;\nend;\n$do$;\n", sqltext.Literal(name), sql)
		}
		return sql
	}
	name := from.Name
	if from.Schema != to.Schema && kind != "index" { // indexes go with their tables
		r.aside++
		name = fmt.Sprintf("pgt_moved_%d", r.aside)
		r.first += alter(from.Schema, from.Name, "rename to "+name) + alter(from.Schema, name, "set schema "+sqltext.Ident(to.Schema))
	}
	r.moves = append(r.moves, move{"relation " + to.Schema, name, to.Name, func(old, new string) string {
		return alter(to.Schema, old, "rename to "+sqltext.Ident(new))
	}})
}

// sequences follow the name of their table, as far as PostgreSQL named them.
func (r *renamer) sequences(from, to Object) {
	old, new := described(from), described(to)
	for _, column := range defined(from).Columns {
		if column.Identity {
			of := func(table sqltext.Statement) sqltext.Statement {
				return sqltext.Statement{Schema: table.Schema, Name: ConstraintName(table.Name, column.Name, "seq")}
			}
			r.relation("sequence", of(old), of(new), false)
		}
	}
}

func defined(table Object) sqltext.TableDefinition {
	definition, err := sqltext.DefineTable(table.SQL)
	if err != nil {
		panic(fmt.Sprintf("upgrade: %v\n%s", err, table.SQL)) // was checked when it was generated
	}
	return definition
}

// implicit are the names that PostgreSQL gave to constraints of a table, but for its key.
func implicit(table Object) []string {
	var names []string
	for _, column := range defined(table).Columns {
		names = append(names, ConstraintName(described(table).Name, column.Name, "not_null"))
	}
	return names
}

// constraints follow the name of their table, as far as they are there: not all servers name all of them.
func (r *renamer) constraints(from, to sqltext.Statement, old, new []string) {
	r.keys = append(r.keys, keyed{from, to})
	table := sqltext.Qualified(to.Schema, to.Name)
	for n := range min(len(old), len(new)) {
		if old[n] == new[n] {
			continue
		}
		r.last += fmt.Sprintf("do $do$\nbegin\n    if exists (select from pg_catalog.pg_constraint k where k.conrelid = to_regclass(%s) and k.conname = %s) then\n"+
			"        alter table %s rename constraint %s to %s;\n    end if;\nend;\n$do$;\n",
			sqltext.Literal(table), sqltext.Literal(old[n]), table, sqltext.Ident(old[n]), sqltext.Ident(new[n]))
	}
}

// renameKeys sets the names of primary keys aside and gives the new ones when tables have theirs. Names that are too long may come out alike;
// then PostgreSQL numbers them, in the order in which the tables are made.
func (r *renamer) renameKeys() (aside, back string) {
	if len(r.keys) == 0 {
		return "", ""
	}
	var old, new []string
	for n, k := range r.keys {
		old = append(old, fmt.Sprintf("(%s, 'pgt_key_%d')", sqltext.Literal(sqltext.Qualified(k.from.Schema, k.from.Name)), n+1))
		var names []string
		for _, label := range []string{"pkey", "pkey1", "pkey2", "pkey3", "pkey4"} {
			names = append(names, sqltext.Literal(ConstraintName(k.to.Name, "", label)))
		}
		new = append(new, fmt.Sprintf("(%d, %s, %s, array[%s])", n+1, sqltext.Literal(k.to.Schema), sqltext.Literal(sqltext.Qualified(k.to.Schema, k.to.Name)), strings.Join(names, ", ")))
	}
	const rows = ",\n            "
	return fmt.Sprintf(keysAside, strings.Join(old, rows)), fmt.Sprintf(keysBack, strings.Join(new, rows))
}

const keysAside = `do $do$
declare
    v_key record;
begin
    for v_key in
        select k.conrelid::regclass as on_table, k.conname, t.aside
        from (values
            %s
        ) t (table_name, aside)
        join pg_catalog.pg_constraint k on k.conrelid = to_regclass(t.table_name) and k.contype = 'p'
    loop
        execute format('alter table %%s rename constraint %%I to %%I', v_key.on_table, v_key.conname, v_key.aside);
    end loop;
end;
$do$;
`

const keysBack = `do $do$
declare
    v_key record;
begin
    for v_key in
        select t.*
        from (values
            %s
        ) t (no, schema_name, table_name, names)
        join pg_catalog.pg_constraint k on k.conrelid = to_regclass(t.table_name) and k.conname = 'pgt_key_' || t.no
        order by t.no
    loop
        execute format('alter table %%s rename constraint pgt_key_%%s to %%I', v_key.table_name, v_key.no, (
            select n.name
            from unnest(v_key.names) with ordinality n (name, no)
            where to_regclass(format('%%I.%%I', v_key.schema_name, n.name)) is null
            order by n.no
            limit 1
        ));
    end loop;
end;
$do$;
`

// made moves what functions made at run time.
func (r *renamer) made(from, to Made) {
	if from.Kind == "publication" && from.Name != to.Name {
		r.moves = append(r.moves, move{"publication", from.Name, to.Name, func(old, new string) string {
			return fmt.Sprintf("do $do$\nbegin\n    if exists (select from pg_catalog.pg_publication p where p.pubname = %s) then\n"+
				"        alter publication %s rename to %s;\n    end if;\nend;\n$do$;\n", sqltext.Literal(old), sqltext.Ident(old), sqltext.Ident(new))
		}})
	}
	for n := range min(len(from.Relations), len(to.Relations)) {
		old, new := from.Relations[n], to.Relations[n]
		if old.Kind != new.Kind {
			continue // another definition, which is recreated
		}
		a, b := sqltext.Statement{Schema: old.Schema, Name: old.Name}, sqltext.Statement{Schema: new.Schema, Name: new.Name}
		r.relation(old.Kind, a, b, true)
		if old.Kind == "table" && (old.Schema != new.Schema || old.Name != new.Name) {
			r.constraints(a, b, old.Constraints, new.Constraints)
		}
		if new.Comment != "" && new.Comment != old.Comment {
			name := sqltext.Qualified(new.Schema, new.Name)
			r.last += fmt.Sprintf("do $do$\nbegin\n    if to_regclass(%s) is not null then\n        comment on %s %s is %s;\n    end if;\nend;\n$do$;\n",
				sqltext.Literal(name), new.Kind, name, sqltext.Literal(new.Comment))
		}
	}
}
