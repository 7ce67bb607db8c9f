package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Step is one thing that an upgrade does to one object.
type Step struct {
	Action  string `json:"action"`            // lock, add, change, drop, rename or rebuild
	Object  string `json:"object"`            // its id
	Of      string `json:"of,omitempty"`      // what the spec names that it belongs to; empty if all share it
	SQL     string `json:"-"`                 // the statements
	Lock    string `json:"lock,omitempty"`    // what it keeps waiting, and for how long in kind
	Loses   string `json:"loses,omitempty"`   // whose data it deletes
	Follows bool   `json:"follows,omitempty"` // it changes names that a rename changed, and nothing else
}

// Long reports whether a step reads or fills a whole table.
func (s Step) Long() bool { return strings.Contains(s.Lock, "as long as") }

// Plan leads from one version to another.
type Plan struct {
	From      string   `json:"from"`
	To        string   `json:"to"`
	Downgrade bool     `json:"downgrade,omitempty"` // to an older version
	Changes   []Change `json:"changes,omitempty"`   // of the spec
	Steps     []Step   `json:"steps"`
}

// Losses lists what the plan deletes.
func (p Plan) Losses() []string {
	var losses []string
	for _, step := range p.Steps {
		if step.Loses != "" {
			losses = append(losses, step.Loses)
		}
	}
	return losses
}

// Empty reports whether the two versions install the same objects.
func (p Plan) Empty() bool { return len(p.Steps) == 0 }

// Remakes reports whether the plan recreates or drops what has made a relation, by its id, at run time.
func (p Plan) Remakes(from Manifest, relation string) bool {
	return slices.ContainsFunc(p.Steps, func(step Step) bool {
		if step.Action != "rebuild" && step.Action != "drop" {
			return false
		}
		return slices.ContainsFunc(from.Made, func(m Made) bool {
			return m.ID() == strings.TrimPrefix(step.Object, "contents of ") && slices.ContainsFunc(m.Relations, func(r Relation) bool {
				return r.Kind+" "+sqltext.Qualified(r.Schema, r.Name) == relation
			})
		})
	})
}

// Script is all statements of the plan, for one transaction.
func (p Plan) Script() string {
	var out strings.Builder
	for _, step := range p.Steps {
		if step.SQL != "" {
			fmt.Fprintf(&out, "-- %s: %s\n%s\n", step.Action, step.Object, step.SQL)
		}
	}
	return out.String()
}

// differ compares two manifests.
type differ struct {
	from, to Manifest
	member   bool // objects are members of an extension
	old, new map[string]Object
	dropped  map[string]bool   // objects of from that are dropped, to be created again if to has them; all by identity
	adopted  map[string]bool   // tables that a function may have created
	kept     map[string]string // of keptTables
	plan     Plan
}

// Derive compares two versions; member says whether their objects are members of an extension. It fails where no steps are known that
// keep the data.
func Derive(from, to Manifest, member bool) (Plan, error) {
	d := &differ{from: withIdentities(from), to: withIdentities(to), member: member, dropped: map[string]bool{}, adopted: map[string]bool{}, plan: Plan{From: from.Version, To: to.Version, Changes: changes(from, to)}}
	d.old, d.new = byIdentity(d.from.Objects), byIdentity(d.to.Objects)
	d.kept = d.keptTables()
	if from.Extension != to.Extension || from.Schema != to.Schema {
		return d.plan, fmt.Errorf("extension %s in schema %s cannot become extension %s in schema %s: install the new one beside it, and move the data",
			from.Extension, from.Schema, to.Extension, to.Schema)
	}
	if refused := OtherColumns(from, to); len(refused) > 0 {
		return d.plan, refused[0]
	}
	changes, err := d.tableChanges()
	if err == nil {
		err = d.unalterable()
	}
	if err != nil {
		return d.plan, err
	}
	d.chooseDrops(changes)
	d.adopt()
	d.adoptStreamTables()
	d.takeRows()
	d.dropMade()
	d.dropObjects()
	d.forget()
	d.addSchemas()
	d.rename()
	d.createObjects(changes)
	d.remake()
	d.recount()
	d.fillAdopted()
	d.dropSchemas()
	return d.plan.lockedFirst(from, to).grouped(from, to), nil
}

// withIdentities is a manifest whose objects need others by their identities.
func withIdentities(m Manifest) Manifest {
	identities := map[string]string{}
	for _, o := range m.Objects {
		identities[o.ID()] = o.identity()
	}
	m.Objects = slices.Clone(m.Objects)
	for n := range m.Objects {
		needs := slices.Clone(m.Objects[n].Needs)
		for i, id := range needs {
			needs[i] = identities[id]
		}
		m.Objects[n].Needs = needs
	}
	return m
}

func byIdentity(objects []Object) map[string]Object {
	all := map[string]Object{}
	for _, o := range objects {
		all[o.identity()] = o
	}
	return all
}

func (d *differ) add(step Step) { d.plan.Steps = append(d.plan.Steps, step) }

// changed reports whether an object is in both versions and differs.
func (d *differ) changed(o Object) bool {
	before, ok := d.old[o.identity()]
	return ok && before.Digest() != o.Digest()
}

// alike reports whether an object is in both versions and differs in names and comments at most.
func (d *differ) alike(o Object) bool {
	before, ok := d.old[o.identity()]
	return ok && before.essence() == o.essence()
}

// tableChanges compares the tables that are in both versions.
func (d *differ) tableChanges() (map[string]tableChange, error) {
	changes := map[string]tableChange{}
	for _, o := range d.to.Objects {
		if o.Kind != "table" || !d.changed(o) {
			continue
		}
		change, err := compareTables(d.old[o.identity()], o)
		if err != nil {
			return nil, err
		}
		changes[o.identity()] = change
	}
	return changes, nil
}

// unalterable reports objects that differ in more than their comments and that no step is known for.
func (d *differ) unalterable() error {
	for _, o := range d.to.Objects {
		if o.Kind == "sequence" && d.changed(o) && !d.alike(o) {
			return fmt.Errorf("sequence %s differs between the versions, and there are no steps for that", o.Signature)
		}
	}
	return nil
}

// createObjects adds what is new, changes what differs and makes again what was dropped for it, in order.
func (d *differ) createObjects(changes map[string]tableChange) {
	made := map[string]bool{}
	for _, o := range d.to.Objects {
		before, was := d.old[o.identity()]
		switch {
		case !was && o.Kind == "schema": // is there
		case d.takes(o): // is there, too
			made[o.identity()] = true
		case !was:
			made[o.identity()] = true
			d.add(Step{Action: "add", Object: o.ID(), SQL: d.orThere(o).Create(d.member), Lock: d.lockOfNew(o)})
		case d.dropped[o.identity()]:
			made[o.identity()] = true
			d.add(Step{Action: "change", Object: o.ID(), SQL: o.Create(d.member), Lock: d.lockOfNew(o)})
		case o.Kind == "grant" && (d.changed(o) || slices.ContainsFunc(o.Needs, func(id string) bool { return made[id] })):
			d.add(Step{Action: "change", Object: o.ID(), SQL: d.revoked(before, d.new) + o.SQL, Follows: d.alike(o) && before.SQL != o.SQL})
		case d.changed(o):
			d.change(before, o, changes[o.identity()])
		}
	}
}

// policyLock is what the policies of a table keep waiting.
const policyLock = "ACCESS EXCLUSIVE on its table, for a moment"

// lockOfNew is what making an object on a table keeps waiting that has been there before.
func (d *differ) lockOfNew(o Object) string {
	table := d.tableOf(o)
	if _, was := d.old[table]; !was || d.dropped[table] {
		return ""
	}
	switch o.Kind {
	case "index":
		return "SHARE on its table, as long as it takes to read it all"
	case "trigger":
		return "SHARE ROW EXCLUSIVE on its table, for a moment"
	case Policy:
		return policyLock
	}
	return ""
}

// change alters an object in place. One that differs in names is renamed by now.
func (d *differ) change(before, o Object, table tableChange) {
	step := Step{Action: "change", Object: o.ID(), Follows: d.alike(o) && before.SQL != o.SQL}
	switch o.Kind {
	case "function", "procedure":
		step.SQL = orReplace(o.SQL) + o.CommentSQL()
	case "view": // what is alike has the same columns
		step.SQL = orReplace(o.SQL) + commentIfNew(before, o)
	case "trigger": // its arguments may be names
		if before.SQL != o.SQL {
			step.SQL = orReplace(o.SQL)
		}
		step.SQL += commentIfNew(before, o)
	case "table":
		step.SQL = table.sql + commentIfNew(before, o)
		step.Lock = table.lock
		step.Loses = table.loses
		if d.member && o.Dump && (!before.Dump || before.DumpWhere != o.DumpWhere) {
			step.SQL += o.keptSQL()
		} else if d.member && before.Dump && !o.Dump { // what a dump keeps, perhaps by a column that goes, can only be forgotten with the membership
			extension := sqltext.Ident(d.to.Extension)
			step.SQL = fmt.Sprintf("alter extension %[1]s drop table %[2]s;\nalter extension %[1]s add table %[2]s;\n", extension, o.Signature) + step.SQL
		}
	case "row":
		step.SQL = d.changeRow(before, o)
	case "role":
		step.SQL = o.SQL
	case Policy:
		drop := before.Drop
		if before.Signature != o.Signature { // the table is renamed by now, and its policies are called the same in all versions
			drop = o.Drop
		}
		step.SQL, step.Lock = drop+o.SQL, policyLock
	default:
		step.SQL = commentIfNew(before, o)
	}
	d.add(step)
}

func commentIfNew(before, o Object) string {
	if before.Comment == o.Comment {
		return ""
	}
	return o.CommentSQL()
}

// orReplace lets a definition replace an older one with the same interface.
func orReplace(sql string) string {
	for _, kind := range []string{"function", "procedure", "view", "trigger"} {
		at := 0
		if !strings.HasPrefix(sql, "create "+kind) {
			at = strings.Index(sql, "\ncreate "+kind) + 1
		}
		if at > 0 || strings.HasPrefix(sql, "create "+kind) {
			return sql[:at] + "create or replace" + strings.TrimPrefix(sql[at:], "create")
		}
	}
	return sql
}
