package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Step is one thing that an upgrade does to one object.
type Step struct {
	Action string `json:"action"`          // lock, add, change, drop or rebuild
	Object string `json:"object"`          // its id
	SQL    string `json:"-"`               // the statements
	Lock   string `json:"lock,omitempty"`  // what it keeps waiting, and for how long in kind
	Loses  string `json:"loses,omitempty"` // whose data it deletes
}

// Long reports whether a step reads or fills a whole table.
func (s Step) Long() bool { return strings.Contains(s.Lock, "as long as") }

// Plan leads from one version to another.
type Plan struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Steps []Step `json:"steps"`
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

// Empty reports whether the two versions install the same.
func (p Plan) Empty() bool { return len(p.Steps) == 0 }

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
	dropped  map[string]bool // objects of from that are dropped, to be created again if to has them
	plan     Plan
}

// Derive compares two versions; member says whether their objects are members of an extension. It fails where no steps are known that
// keep the data.
func Derive(from, to Manifest, member bool) (Plan, error) {
	d := &differ{from: from, to: to, member: member, old: byID(from.Objects), new: byID(to.Objects), dropped: map[string]bool{},
		plan: Plan{From: from.Version, To: to.Version}}
	if from.Extension != to.Extension || from.Schema != to.Schema {
		return d.plan, fmt.Errorf("extension %s in schema %s cannot become extension %s in schema %s: install the new one beside it, and move the data",
			from.Extension, from.Schema, to.Extension, to.Schema)
	}
	changes, err := d.tableChanges()
	if err == nil {
		err = d.unalterable()
	}
	if err != nil {
		return d.plan, err
	}
	d.chooseDrops(changes)
	d.dropMade()
	d.dropObjects()
	d.createObjects(changes)
	d.remake()
	return d.plan.lockedFirst(from, to), nil
}

func byID(objects []Object) map[string]Object {
	ids := map[string]Object{}
	for _, o := range objects {
		ids[o.ID()] = o
	}
	return ids
}

func (d *differ) add(step Step) { d.plan.Steps = append(d.plan.Steps, step) }

// changed reports whether an object is in both versions and differs.
func (d *differ) changed(o Object) bool {
	before, ok := d.old[o.ID()]
	return ok && before.Digest() != o.Digest()
}

// tableChanges compares the tables that are in both versions.
func (d *differ) tableChanges() (map[string]tableChange, error) {
	changes := map[string]tableChange{}
	for _, o := range d.to.Objects {
		if o.Kind != "table" || !d.changed(o) {
			continue
		}
		change, err := compareTables(d.old[o.ID()], o)
		if err != nil {
			return nil, err
		}
		changes[o.ID()] = change
	}
	return changes, nil
}

// unalterable reports objects that differ in more than their comments and that no step is known for.
func (d *differ) unalterable() error {
	for _, o := range d.to.Objects {
		if o.Kind == "sequence" && d.changed(o) && statementOf(d.old[o.ID()].SQL) != statementOf(o.SQL) {
			return fmt.Errorf("sequence %s differs between the versions, and there are no steps for that", o.Signature)
		}
	}
	return nil
}

// statementOf is a definition without the comment above it.
func statementOf(sql string) string {
	for strings.HasPrefix(sql, "--") {
		_, sql, _ = strings.Cut(sql, "\n")
	}
	return sql
}

// chooseDrops finds what must be dropped: what is gone, what cannot be replaced, and what depends on either.
func (d *differ) chooseDrops(changes map[string]tableChange) {
	for _, o := range d.from.Objects {
		now, stays := d.new[o.ID()]
		switch {
		case !stays:
			d.drop(o)
		case !d.changed(now):
		case o.Kind == "view" || o.Kind == "trigger" || o.Kind == "index":
			d.drop(o)
		case o.Kind == "function" || o.Kind == "procedure":
			if interfaceOf(o.SQL) != interfaceOf(now.SQL) {
				d.drop(o)
			}
		case o.Kind == "table" && changes[o.ID()].narrows:
			d.dropDependents(o)
		}
	}
}

func interfaceOf(sql string) string {
	text, err := sqltext.Interface(sql)
	if err != nil {
		panic(fmt.Sprintf("upgrade: %v\n%s", err, sql)) // was checked when it was generated
	}
	return text
}

// drop marks an object and those that PostgreSQL keeps from staying without it.
func (d *differ) drop(o Object) {
	if d.dropped[o.ID()] || o.Kind == "schema" && d.new[o.ID()].Kind != "" {
		return
	}
	d.dropped[o.ID()] = true
	d.dropDependents(o)
}

func (d *differ) dropDependents(o Object) {
	for _, dependent := range d.from.Objects {
		switch dependent.Kind {
		case "view", "trigger", "index":
			if slices.Contains(dependent.Needs, o.ID()) {
				d.drop(dependent)
			}
		}
	}
}

// dropObjects removes what is marked, last made first.
func (d *differ) dropObjects() {
	for n := len(d.from.Objects) - 1; n >= 0; n-- {
		o := d.from.Objects[n]
		_, stays := d.new[o.ID()]
		if !d.dropped[o.ID()] {
			continue
		}
		step := Step{Action: "drop", Object: o.ID(), SQL: d.dropSQL(o)}
		if stays {
			step.Action = "change" // and created again
		}
		if o.Holds && !stays {
			step.Loses = "all rows of " + o.Signature
		}
		if o.Kind == "table" || o.Kind == "trigger" || o.Kind == "index" {
			step.Lock = "ACCESS EXCLUSIVE on its table, for a moment"
		}
		if step.SQL != "" {
			d.add(step)
		}
	}
}

// dropSQL removes an object as a member of an extension or not.
func (d *differ) dropSQL(o Object) string {
	switch o.Kind {
	case "index":
		if table := d.tableOf(o); table != "" && d.dropped[table] {
			return ""
		}
		return "drop index " + o.Signature + ";\n"
	case "row":
		return d.deleteRow(o)
	case "grant":
		return revoked(o, func(string) bool { return false }) // made last, so all that it names is still there
	}
	if d.member && o.Dump {
		return fmt.Sprintf("alter extension %s drop %s %s;\n", sqltext.Ident(d.from.Extension), o.Kind, o.Signature) + o.Drop
	}
	return o.Drop
}

// gone reports whether an object is dropped and not made again.
func (d *differ) gone(id string) bool {
	_, stays := d.new[id]
	return !stays && d.dropped[id]
}

// tableOf is the id of the table that an index or a trigger is on.
func (d *differ) tableOf(o Object) string {
	for _, need := range o.Needs {
		if strings.HasPrefix(need, "table ") {
			return need
		}
	}
	return ""
}

// createObjects adds what is new, changes what differs and makes again what was dropped for it, in order.
func (d *differ) createObjects(changes map[string]tableChange) {
	made := map[string]bool{}
	for _, o := range d.to.Objects {
		before, was := d.old[o.ID()]
		switch {
		case !was:
			made[o.ID()] = true
			d.add(Step{Action: "add", Object: o.ID(), SQL: o.Create(d.member), Lock: d.lockOfNew(o)})
		case d.dropped[o.ID()]:
			made[o.ID()] = true
			d.add(Step{Action: "change", Object: o.ID(), SQL: o.Create(d.member), Lock: d.lockOfNew(o)})
		case o.Kind == "grant" && (d.changed(o) || slices.ContainsFunc(o.Needs, func(id string) bool { return made[id] })):
			d.add(Step{Action: "change", Object: o.ID(), SQL: revoked(before, d.gone) + o.SQL})
		case d.changed(o):
			d.change(before, o, changes[o.ID()])
		}
	}
}

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
	}
	return ""
}

// change alters an object in place.
func (d *differ) change(before, o Object, table tableChange) {
	step := Step{Action: "change", Object: o.ID()}
	switch o.Kind {
	case "function", "procedure":
		step.SQL = orReplace(o.SQL) + o.CommentSQL()
	case "table":
		step.SQL = table.sql + commentIfNew(before, o)
		step.Lock = table.lock
		step.Loses = table.loses
		if d.member && o.Dump && !before.Dump {
			step.SQL += "select pg_catalog.pg_extension_config_dump(" + sqltext.Literal(o.Signature) + ", '');\n"
		}
	case "row":
		step.SQL = d.upsert(o)
	case "role":
		step.SQL = o.SQL
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
	for _, kind := range []string{"function", "procedure"} {
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
