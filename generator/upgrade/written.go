package upgrade

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// lockedFirst is the plan with a first step that locks all that it locks later: the tables that sessions write and whose triggers, or what these write to, it
// changes, and what it drops, alters or renames. A session's write is then over, or has not begun, when that changes: it would otherwise run triggers of the old
// version against tables of the new one, and fail.
func (p Plan) lockedFirst(from, to Manifest) Plan {
	if p.Empty() {
		return p
	}
	touched := p.touched(from, to)
	modes := p.written(from, to, touched)
	inOrder := asUsed(from, slices.Sorted(maps.Keys(modes)))
	var locks []lock
	locks = append(locks, firstLocks(from, to)...)
	refreshes := slices.ContainsFunc(from.Made, func(m Made) bool { return m.Kind == "stream table" })
	texts := []string{"ticks"}
	if refreshes {
		texts[0] += " and refreshes of stream tables"
	}
	for _, table := range inOrder {
		if readByTriggers(from, table) {
			locks = append(locks, lock{table, againstWriters})
		}
	}
	for _, table := range inOrder {
		mode := modes[table]
		if mode == againstAll {
			mode = againstClaims // until the catalog is locked: readers, who come from there to the table, end
		}
		locks = append(locks, lock{table, mode})
		texts = append(texts, strings.ToUpper(modes[table])+" on "+table)
	}
	for _, relation := range append(altered(from, to, touched), inOrder...) {
		if modes[relation] != againstWriters {
			locks = append(locks, lock{relation, againstAll})
		}
	}
	if len(locks) == 0 && !refreshes {
		return p // the next transaction of a tick has the new functions
	}
	step := Step{Action: "lock", Object: "tables that are written", Lock: strings.Join(texts, ", ") + ", to the end", SQL: lockSQL(from, locks)}
	p.Steps = append([]Step{step}, p.Steps...)
	return p
}

// firstLocks are those that sessions take before any table.
func firstLocks(from, to Manifest) (locks []lock) {
	for _, m := range from.Made {
		if _, stays := identifiedAs(to.Made, m.identity()); m.First != nil && (!stays || m.Kind == createdInboxes) {
			locks = append(locks, lock{m.First[0], m.First[1]})
		}
	}
	return locks
}

// altered are the relations that the plan drops, alters, makes anew or renames, views before what they read.
func altered(from, to Manifest, touched map[string]bool) []string {
	var views, others []string
	add := func(kind, name string) {
		switch kind {
		case "view":
			views = append([]string{name}, views...)
		case "table", "sequence", Policy: // which its table names
			others = append(others, name)
		}
	}
	stays := byIdentity(to.Objects)
	for _, o := range from.Objects {
		if _, is := stays[o.identity()]; touched[o.identity()] || !is { // or goes with its table
			add(o.Kind, o.Signature)
		}
	}
	for _, o := range to.Objects {
		if o.Kind == Policy && touched[o.identity()] { // tables get policies in place
			add(o.Kind, o.Signature)
		}
	}
	for _, r := range madeAnew(from, to, touched) {
		add(r.Kind, sqltext.Qualified(r.Schema, r.Name))
	}
	return append(views, others...)
}

// madeAnew are the relations of what functions make that are dropped, made anew or renamed.
func madeAnew(from, to Manifest, touched map[string]bool) (relations []Relation) {
	for _, m := range from.Made {
		now, stays := identifiedAs(to.Made, m.identity())
		switch changes := touched[m.identity()]; {
		case !stays || changes && !now.Beside || relationNames(m) != relationNames(now):
			relations = append(relations, m.Relations...)
		case changes: // attach() sets its rows aside; if there are older ones, which readers keep open, nobody reads these
			rows := slices.IndexFunc(m.Relations, func(r Relation) bool { return r.Kind == "table" })
			relations = append(relations, m.Relations[rows])
		}
	}
	return relations
}

// asUsed orders tables as sessions come to them, since another order meets deadlocks: first those of users, whose triggers write the rest, then stream tables,
// each after those that it reads, then those of inboxes and outboxes, then those that all share, which triggers of these write.
func asUsed(from Manifest, tables []string) []string {
	place := map[string]int{}
	for n, m := range from.Made {
		for _, r := range m.Relations {
			place[sqltext.Qualified(r.Schema, r.Name)] = n + 1
		}
	}
	for n, o := range from.Objects {
		if o.Kind == "table" {
			place[o.Signature] = len(from.Made) + n + 1
			if o.Of == "" {
				place[o.Signature] += len(from.Objects)
			}
		}
	}
	slices.SortStableFunc(tables, func(a, b string) int { return cmp.Compare(place[a], place[b]) })
	return tables
}

// indexes reports whether something made is indexes of a table that is not part of it. They are dropped before they are made anew.
func (m Made) indexes() bool {
	return len(m.Relations) > 0 && !slices.ContainsFunc(m.Relations, func(r Relation) bool { return r.Kind != "index" })
}

// readByTriggers reports whether triggers of other tables may read a table: those of stream tables in immediate mode. A writer of one of them
// has it, and asks for the others.
func readByTriggers(from Manifest, table string) bool {
	return slices.ContainsFunc(from.Made, func(m Made) bool { return m.Kind == "pending changes" && slices.Contains(m.On, table) })
}

// losesTriggers reports whether something made has triggers that it does not have any more.
func (m Made) losesTriggers(to Manifest) bool {
	now, _ := identifiedAs(to.Made, m.identity())
	return slices.ContainsFunc(m.Triggers, func(name string) bool { return !slices.Contains(now.Triggers, name) })
}

// written lists the tables that sessions write, and how each is locked, by the names that they have before the upgrade.
func (p Plan) written(from, to Manifest, touched map[string]bool) map[string]string {
	modes := ownWritten(from, to, touched)
	before, was, stays := namesBefore(from, to), map[string]bool{}, map[string]bool{}
	for _, m := range from.Made {
		was[m.identity()] = true
	}
	for _, m := range to.Made {
		stays[m.identity()] = true
	}
	for n, m := range slices.Concat(from.Made, to.Made) {
		for _, table := range m.On {
			if n >= len(from.Made) {
				table = cmp.Or(before[table], table)
			}
			if touched[m.identity()] && (!stays[m.identity()] || m.indexes() || n < len(from.Made) && m.losesTriggers(to)) {
				modes[table] = againstAll // its triggers or indexes go
			} else if (touched[m.identity()] || !was[m.identity()]) && modes[table] == "" { // attach() makes what is new
				modes[table] = againstWriters
			}
		}
	}
	for _, r := range madeAnew(from, to, touched) { // a new index of what is made anew has the old one dropped, too
		if name := sqltext.Qualified(r.Schema, r.Name); modes[name] != "" {
			modes[name] = againstAll
		}
	}
	return modes
}

// ownWritten are the tables of the extension among them: those with rows of users, and those whose triggers or indexes are made, changed or dropped.
func ownWritten(from, to Manifest, touched map[string]bool) map[string]string {
	modes, identities, tables := map[string]string{}, map[string]string{}, map[string]string{}
	for _, o := range from.Objects {
		identities[o.ID()] = o.identity()
		if o.Kind == "table" {
			tables[o.identity()] = o.Signature
		}
		if o.Kind == "table" && o.Holds && touched[o.identity()] {
			modes[o.Signature] = againstAll
		}
	}
	onTables := func(o Object, mode string) {
		if o.Kind != "trigger" && o.Kind != "index" {
			return
		}
		for _, need := range o.Needs {
			if table := tables[identities[need]]; table != "" && modes[table] != againstAll {
				modes[table] = mode
			}
		}
	}
	for _, o := range from.Objects {
		if touched[o.identity()] {
			onTables(o, againstAll)
		} else if o.Kind == "trigger" && slices.ContainsFunc(o.Needs, func(id string) bool { return touched[identities[id]] }) {
			onTables(o, againstWriters)
		}
	}
	clear(identities)
	for _, o := range to.Objects {
		identities[o.ID()] = o.identity()
		if touched[o.identity()] {
			onTables(o, againstWriters)
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
