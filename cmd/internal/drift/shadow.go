package drift

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// shadows makes everything that a version consists of once more, empty, in schemas of its own that nobody else sees.
type shadows struct {
	m            upgrade.Manifest
	pid          uint32
	in           map[string]string // scratch schemas, by those that they stand for
	own          map[sqltext.Relation]string
	made         map[sqltext.Relation]string // what functions make, and the tables on which those put triggers
	calls        map[string]string           // shadows of functions, by signature
	makers       []upgrade.Object
	shadowMakers []upgrade.Object   // makers that stand for functions that take the name
	sources      []sqltext.Relation // tables of others that have triggers of the extension
	failed       map[string]error   // why an object has no shadow, by id
}

// newShadows plans them; enabled are the outboxes of stream tables that are there.
func newShadows(m upgrade.Manifest, pid uint32, enabled []string) *shadows {
	t := &shadows{m: m, pid: pid, in: map[string]string{}, own: map[sqltext.Relation]string{}, made: map[sqltext.Relation]string{}, calls: map[string]string{}, failed: map[string]error{}}
	t.scratch(m.Schema)
	for _, o := range m.Objects {
		if r, ok := relationOf(o); ok {
			t.own[r] = t.scratch(r.Schema)
		} else if o.Kind == "function" || o.Kind == "procedure" {
			name, args, _ := strings.Cut(o.Signature, "(")
			r, ok := sqltext.ParseRelation(name)
			if !ok {
				panic("drift: no schema in " + o.Signature)
			}
			t.calls[o.Signature] = sqltext.Qualified(t.scratch(r.Schema), r.Name) + "(" + args
		}
	}
	makes := madeRelations(m, enabled)
	for _, o := range m.Objects {
		if o.Kind != "function" || !strings.Contains(o.SQL, "    create table ") {
			continue
		}
		made := sqltext.Makes(o.SQL)
		if !slices.ContainsFunc(made, func(r sqltext.Relation) bool { return makes[r] }) {
			continue
		}
		t.addMaker(o)
	}
	for _, made := range m.Made {
		if made.Shadow != "" {
			t.shadowMakers = append(t.shadowMakers, shadowOf(made))
		}
	}
	for _, o := range t.shadowMakers {
		t.addMaker(o)
	}
	for _, o := range t.makers {
		for _, r := range sqltext.Triggered(o.SQL) {
			t.made[r] = t.scratch(r.Schema)
		}
	}
	t.sources = slices.DeleteFunc(t.sources, func(r sqltext.Relation) bool { return t.own[r] != "" })
	return t
}

// shadowOf is the function that creates what functions create that take the name.
func shadowOf(made upgrade.Made) upgrade.Object {
	_, definition, _ := strings.Cut(made.Shadow, "create function ")
	name, _, _ := strings.Cut(definition, "(")
	return upgrade.Object{Kind: "function", Signature: name + "()", SQL: made.Shadow}
}

// addMaker notes a function that makes relations, or triggers on tables of others.
func (t *shadows) addMaker(o upgrade.Object) {
	t.makers = append(t.makers, o)
	for _, r := range sqltext.Makes(o.SQL) {
		t.made[r] = t.scratch(r.Schema)
	}
	for _, r := range sqltext.Triggered(o.SQL) {
		if t.own[r] == "" && t.made[r] == "" && !slices.Contains(t.sources, r) {
			t.sources = append(t.sources, r)
		}
	}
}

// scratch is the schema that stands for another.
func (t *shadows) scratch(schema string) string {
	if t.in[schema] == "" {
		t.in[schema] = fmt.Sprintf("sluice_%d_%d_shadow", t.pid, len(t.in))
	}
	return t.in[schema]
}

// relationOf is the table, view or sequence that an object is.
func relationOf(o upgrade.Object) (sqltext.Relation, bool) {
	switch o.Kind {
	case "table", "view", "sequence":
		made := sqltext.Makes(o.SQL)
		if len(made) == 0 {
			panic("drift: no relation in " + o.SQL) // was described when it was generated
		}
		return made[0], true
	}
	return sqltext.Relation{}, false
}

// madeRelations are those that functions of a version make, but for outboxes that nobody enabled.
func madeRelations(m upgrade.Manifest, enabled []string) map[sqltext.Relation]bool {
	all := map[sqltext.Relation]bool{}
	for _, made := range m.Made {
		if made.Kind == "outbox" && !made.Holds && !slices.Contains(enabled, made.Name) {
			continue
		}
		for _, r := range made.Relations {
			if r.Kind != "index" {
				all[sqltext.Relation{Schema: r.Schema, Name: r.Name}] = true
			}
		}
	}
	return all
}

// make creates them. What cannot be made is noted in failed: what it needs is missing, or was altered.
func (t *shadows) make(ctx context.Context, tx pgx.Tx) error {
	var phases [4][]statement // what others need comes first; rights come last
	for _, r := range t.sources {
		phases[1] = append(phases[1], statement{r.String(), t.shadowOfSource(r)})
	}
	for _, o := range t.m.Objects {
		n := 1
		switch o.Kind {
		case "schema", "role", "row":
			continue
		case "view":
			n = 2
		case "grant", upgrade.Policy:
			n = 3
		}
		phases[n] = append(phases[n], statement{o.ID(), t.shadowOf(o)})
	}
	for _, schema := range slices.Sorted(maps.Values(t.in)) {
		phases[0] = append(phases[0], statement{"", "create schema " + schema + ";\n"})
	}
	for n, phase := range phases {
		if err := t.run(ctx, tx, phase); err != nil {
			return err
		}
		if n == 2 {
			if err := t.run(ctx, tx, t.viewsAgain()); err != nil {
				return err
			}
		}
	}
	// One maker may need what another makes.
	for last, left := -1, t.makings(); len(left) > 0 && len(left) != last; {
		last = len(left)
		if err := t.run(ctx, tx, left); err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(s statement) bool { return t.failed[s.object] == nil })
	}
	return nil
}

// shadowOfSource makes an empty copy of a table of others. Which triggers it gets hangs on whether its rows are written through others, too.
func (t *shadows) shadowOfSource(r sqltext.Relation) string {
	shadow := sqltext.Qualified(t.scratch(r.Schema), r.Name)
	return fmt.Sprintf(`create table %[1]s (like %[2]s);
do $shadow$
begin
    if exists (
        with recursive below (oid) as (
            select %[3]s::regclass::oid
            union
            select i.inhrelid from below b join pg_inherits i on i.inhparent = b.oid
        )
        select from below b join pg_inherits i on i.inhrelid = b.oid where i.inhparent not in (select oid from below)
    ) then
        create table if not exists %[4]s.sluice_above ();
        alter table %[1]s inherit %[4]s.sluice_above;
    end if;
end $shadow$;
`, shadow, r, sqltext.Literal(r.String()), t.scratch(r.Schema))
}

// statement is what makes an object.
type statement struct{ object, sql string }

// shadowOf is the statement that makes the shadow of an object.
func (t *shadows) shadowOf(o upgrade.Object) string {
	switch o.Kind {
	case "function", "procedure":
		name, _, _ := strings.Cut(t.calls[o.Signature], "(")
		return t.renamed(o, name)
	case "grant":
		return sqltext.MoveSchemas(t.movedCalls(sqltext.Move(o.SQL, t.own)), t.in)
	default:
		return sqltext.Move(o.SQL, t.own)
	}
}

// viewsAgain makes views over the real relations that cannot be made over their shadows: functions take rows of the real ones.
func (t *shadows) viewsAgain() (again []statement) {
	for _, o := range t.m.Objects {
		if o.Kind == "view" && t.failed[o.ID()] != nil {
			r, _ := relationOf(o)
			again = append(again, statement{o.ID(), sqltext.Move(o.SQL, map[sqltext.Relation]string{r: t.own[r]})})
		}
	}
	return again
}

// renamed is the definition of a function under another name.
func (t *shadows) renamed(o upgrade.Object, name string) string {
	before, _, _ := strings.Cut(o.Signature, "(")
	return strings.Replace(o.SQL, "create "+o.Kind+" "+before+"(", "create "+o.Kind+" "+name+"(", 1)
}

// movedCalls lets a grant name the shadows of functions. Their arguments distinguish them from others whose names begin alike.
func (t *shadows) movedCalls(grant string) string {
	if !strings.Contains(grant, " function ") {
		return grant
	}
	for signature, shadow := range t.calls {
		grant = strings.ReplaceAll(grant, " "+signature, " "+shadow)
	}
	return grant
}

// makings make each maker under another name, with what it makes moved, and run it.
func (t *shadows) makings() []statement {
	var all []statement
	for n, o := range t.makers {
		name := fmt.Sprintf("%s.sluice_maker_%d", t.in[t.m.Schema], n)
		all = append(all, statement{"made by " + o.ID(), sqltext.Move(t.renamed(o, name), t.made) + fmt.Sprintf("select %s();\n", name)})
	}
	return all
}

// run makes all statements at once; where that fails, one by one, and notes what failed.
func (t *shadows) run(ctx context.Context, tx pgx.Tx, statements []statement) error {
	var all strings.Builder
	for _, s := range statements {
		delete(t.failed, s.object)
		all.WriteString(s.sql)
	}
	if err := attempt(ctx, tx, all.String()); err == nil {
		return nil
	}
	for _, s := range statements {
		err := attempt(ctx, tx, s.sql)
		if err != nil && s.object == "" {
			return fmt.Errorf("%w\nhint: drift is found with a scratch schema in a transaction that is rolled back; that needs the right to create one", err)
		}
		if err != nil {
			t.failed[s.object] = err
		}
	}
	return nil
}

// attempt runs statements that may fail without ending the transaction.
func attempt(ctx context.Context, tx pgx.Tx, sql string) error {
	return pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		_, err := tx.Conn().PgConn().Exec(ctx, sql).ReadAll()
		return err
	})
}
