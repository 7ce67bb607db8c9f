package upgrade

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Modes of locks that are taken at the beginning.
const (
	againstWriters = "share row exclusive"
	againstAll     = "access exclusive" // where that is needed later: who asks for more of what others have, too, meets deadlocks
)

// lockedFirst is the plan with a first step that locks all that it locks later: the tables that sessions write and whose triggers, or what these write to, it
// changes, and what it drops, alters or renames. A session's write is then over, or has not begun, when that changes: it would otherwise run triggers of the old
// version against tables of the new one, and fail. Before them it keeps out refreshes, which look at their state before they lock anything.
func (p Plan) lockedFirst(from, to Manifest) Plan {
	touched := p.touched(from, to)
	modes := p.written(from, to, touched)
	var rows, texts []string
	listed := map[string]bool{}
	add := func(relation, mode string) {
		if id := relation + " " + mode; !listed[id] {
			listed[id] = true
			rows = append(rows, fmt.Sprintf("(%d, %s, '%s')", len(rows)+1, sqltext.Literal(relation), mode))
		}
	}
	if state := StateTable(from); state != "" && !p.Empty() {
		add(state, againstAll)
		texts = append(texts, "refreshes of stream tables")
	}
	inOrder := asUsed(from, slices.Sorted(maps.Keys(modes)))
	for _, table := range inOrder {
		if readByTriggers(from, table) {
			add(table, againstWriters)
		}
	}
	for _, table := range inOrder {
		add(table, modes[table])
		texts = append(texts, strings.ToUpper(modes[table])+" on "+table)
	}
	for _, relation := range altered(from, to, touched) {
		add(relation, againstAll)
	}
	if len(rows) == 0 {
		return p
	}
	lock := Step{
		Action: "lock", Object: "tables that are written", SQL: fmt.Sprintf(lockRelations, firstLocks(from, to), strings.Join(rows, ",\n                    ")), Lock: strings.Join(texts, ", ") + ", to the end",
	}
	p.Steps = append([]Step{lock}, p.Steps...)
	return p
}

// firstLocks is plpgsql that takes the advisory locks which sessions take before any table. If a table's lock times out, the rollback to the
// savepoint releases both.
func firstLocks(from, to Manifest) (locks string) {
	for _, m := range from.Made {
		if _, stays := identifiedAs(to.Made, m.identity()); !stays && m.First != "" {
			locks += "            " + m.First + "\n"
		}
	}
	if locks != "" {
		locks += "            v_has := true;\n            perform set_config('lock_timeout', least(nullif(v_patience, 0), 200)::text, true);\n"
	}
	return locks
}

// altered are the relations that the plan drops, alters or renames, views before what they read.
func altered(from, to Manifest, touched map[string]bool) []string {
	var views, others []string
	add := func(kind, name string) {
		switch kind {
		case "view":
			views = append([]string{name}, views...)
		case "table", "sequence":
			others = append(others, name)
		}
	}
	for _, o := range from.Objects {
		if touched[o.identity()] {
			add(o.Kind, o.Signature)
		}
	}
	for _, m := range from.Made {
		if now, stays := identifiedAs(to.Made, m.identity()); !stays || relationNames(m) != relationNames(now) {
			for _, r := range m.Relations {
				add(r.Kind, sqltext.Qualified(r.Schema, r.Name))
			}
		}
	}
	return append(views, others...)
}

// asUsed orders tables as sessions come to them, since another order meets deadlocks: first those of users, whose triggers write the rest, then those of the
// extension in its own order, in which its functions read them.
func asUsed(from Manifest, tables []string) []string {
	place := map[string]int{}
	for n, o := range from.Objects {
		if o.Kind == "table" {
			place[o.Signature] = n + 1
		}
	}
	slices.SortStableFunc(tables, func(a, b string) int { return cmp.Compare(place[a], place[b]) })
	return tables
}

// StateTable is where each refresh looks first, as SQL; empty where there are no stream tables.
func StateTable(m Manifest) string {
	name := sqltext.Qualified(m.Internal, "pgt_stream_table_state")
	if !slices.ContainsFunc(m.Objects, func(o Object) bool { return o.Kind == "table" && o.Signature == name }) {
		return ""
	}
	return name
}

// readByTriggers reports whether triggers of other tables may read a table: those of stream tables in immediate mode. A writer of one of them
// has it, and asks for the others.
func readByTriggers(from Manifest, table string) bool {
	return slices.ContainsFunc(from.Made, func(m Made) bool { return m.Kind == "pending changes" && slices.Contains(m.On, table) })
}

// lockRelations passes over what is gone, and tables on which only triggers may be made. It never waits for one lock while it has another for as long as
// the server takes to look for deadlocks: sessions that come to the same relations in another order would be ended by one.
const lockRelations = `do $do$
declare
    v_patience int := (select s.setting from pg_catalog.pg_settings s where s.name = 'lock_timeout'); -- ms; 0: no end
    v_in_vain text[] := '{}'; -- what was not to be had: it is waited for first, before anything else is locked
    v_has bool;
    v_relation record;
begin
    for v_attempt in 1 .. 100 loop
        begin
            v_has := false;
%s            for v_relation in
                select t.name, t.mode, c.relkind, c.relowner::regrole as owner
                from (values
                    %s
                ) t (no, name, mode)
                join pg_catalog.pg_class c on c.oid = to_regclass(t.name)
                where case when c.relkind in ('r', 'p') then has_table_privilege(c.oid, 'update, delete, truncate') else pg_has_role(c.relowner, 'usage') end
                order by array_position(v_in_vain, t.name), t.no
            loop
                if v_relation.relkind in ('r', 'p') then
                    execute format('lock table %%s in %%s mode', v_relation.name, v_relation.mode);
                else -- changes nothing, but locks it; lock table takes no sequence, and with a view all that it reads
                    execute format('alter table %%s owner to %%s', v_relation.name, v_relation.owner);
                end if;
                if not v_has then
                    v_has := true;
                    perform set_config('lock_timeout', least(nullif(v_patience, 0), 200)::text, true);
                end if;
            end loop;
            perform set_config('lock_timeout', v_patience::text, true);
            return;
        exception when lock_not_available then -- what it has is given back, so who has the other goes on
            if not v_has then
                raise;
            end if;
            v_in_vain := v_relation.name || array_remove(v_in_vain, v_relation.name);
        end;
    end loop;
    raise lock_not_available using message = format('%%s was never free together with all else that is upgraded', v_relation.name);
end;
$do$;
`

// written lists them, and how each is locked, by the names that they have before the upgrade.
func (p Plan) written(from, to Manifest, touched map[string]bool) map[string]string {
	modes := ownWritten(from, touched)
	before, stays := namesBefore(from, to), map[string]bool{}
	for _, m := range to.Made {
		stays[m.identity()] = true
	}
	for n, m := range slices.Concat(from.Made, to.Made) {
		for _, table := range m.On {
			if n >= len(from.Made) {
				table = cmp.Or(before[table], table)
			}
			if touched[m.identity()] && !stays[m.identity()] {
				modes[table] = againstAll // its triggers go
			} else if touched[m.identity()] && modes[table] == "" {
				modes[table] = againstWriters
			}
		}
	}
	return modes
}

// ownWritten are the tables of the extension among them.
func ownWritten(from Manifest, touched map[string]bool) map[string]string {
	modes, holds := map[string]string{}, map[string]string{}
	identities := map[string]string{}
	for _, o := range from.Objects {
		identities[o.ID()] = o.identity()
		if o.Kind == "table" && o.Holds {
			holds[o.ID()] = o.Signature
			if touched[o.identity()] {
				modes[o.Signature] = againstAll
			}
		}
	}
	for _, o := range from.Objects {
		if o.Kind != "trigger" || !touched[o.identity()] && !slices.ContainsFunc(o.Needs, func(id string) bool { return touched[identities[id]] }) {
			continue
		}
		for _, need := range o.Needs {
			if table := holds[need]; table != "" && touched[o.identity()] {
				modes[table] = againstAll
			} else if table != "" && modes[table] == "" {
				modes[table] = againstWriters
			}
		}
	}
	return modes
}

// touched are the identities of what the plan changes or renames. Where names went round, a step may stand for either of two.
func (p Plan) touched(from, to Manifest) map[string]bool {
	steps, touched := map[string]bool{}, map[string]bool{}
	for _, step := range p.Steps {
		steps[step.Object] = true
	}
	ids := map[string]string{}
	for _, m := range []Manifest{from, to} {
		note := func(id, identity, name string) {
			if steps[id] || ids[identity] != "" && ids[identity] != name {
				touched[identity] = true
			}
			ids[identity] = name
		}
		for _, o := range m.Objects {
			note(o.ID(), o.identity(), o.ID())
		}
		for _, made := range m.Made {
			note(made.ID(), made.identity(), made.ID()+relationNames(made))
		}
	}
	return touched
}

// Replaced lists what of the first version the plan replaces, alters, renames or drops, that others could have put something else in the place of.
func (p Plan) Replaced(from, to Manifest) []Object {
	touched := p.touched(from, to)
	var objects []Object
	for _, o := range from.Objects {
		if touched[o.identity()] {
			objects = append(objects, o)
		}
	}
	for _, m := range from.Made {
		if now, stays := identifiedAs(to.Made, m.identity()); stays && relationNames(m) != relationNames(now) {
			for _, r := range m.Relations {
				objects = append(objects, Object{Kind: r.Kind, Signature: sqltext.Qualified(r.Schema, r.Name)})
			}
		}
	}
	return objects
}

// relationNames are what the relations of what functions make are called.
func relationNames(m Made) string {
	var names strings.Builder
	for _, r := range m.Relations {
		names.WriteString(" " + sqltext.Qualified(r.Schema, r.Name))
	}
	return names.String()
}

// HeldBefore lists the tables of a version that may have data of users, by the ids of what they are in the next.
func HeldBefore(from, to Manifest) map[string]string {
	old, held := byIdentity(from.Objects), map[string]string{}
	for _, o := range to.Objects {
		if before := old[o.identity()]; before.Holds {
			held[o.ID()] = before.Signature
		}
	}
	for _, m := range to.Made {
		if before, was := identifiedAs(from.Made, m.identity()); was && before.Table != "" {
			held[m.ID()] = before.Table
		}
	}
	return held
}

// namesBefore are the names of tables that get others, by these.
func namesBefore(from, to Manifest) map[string]string {
	old, names := byIdentity(from.Objects), map[string]string{}
	for _, o := range to.Objects {
		if before := old[o.identity()]; o.Kind == "table" && before.Signature != o.Signature {
			names[o.Signature] = before.Signature
		}
	}
	return names
}
