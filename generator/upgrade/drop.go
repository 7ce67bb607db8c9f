package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// chooseDrops finds what must be dropped: what is gone, what cannot be replaced, and what depends on either.
func (d *differ) chooseDrops(changes map[string]tableChange) {
	for _, o := range d.from.Objects {
		now, stays := d.new[o.identity()]
		switch {
		case !stays:
			d.drop(o)
		case d.alike(now):
		case o.Kind == "view" || o.Kind == "trigger" || o.Kind == "index":
			d.drop(o)
		case o.Kind == "function" || o.Kind == "procedure":
			if interfaceOf(o.SQL) != interfaceOf(now.SQL) {
				d.drop(o)
			}
		case o.Kind == "table" && changes[o.identity()].narrows:
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
	if d.dropped[o.identity()] || o.Kind == "schema" && d.new[o.identity()].Kind != "" {
		return
	}
	d.dropped[o.identity()] = true
	d.dropDependents(o)
}

func (d *differ) dropDependents(o Object) {
	for _, dependent := range d.from.Objects {
		switch dependent.Kind {
		case "view", "trigger", "index", Policy:
			if slices.Contains(dependent.Needs, o.identity()) {
				d.drop(dependent)
			}
		}
	}
}

// dropObjects removes what is marked, last made first.
func (d *differ) dropObjects() {
	for n := len(d.from.Objects) - 1; n >= 0; n-- {
		o := d.from.Objects[n]
		_, stays := d.new[o.identity()]
		if !d.dropped[o.identity()] || o.Kind == "schema" {
			continue
		}
		step := Step{Action: "drop", Object: o.ID(), SQL: d.dropSQL(o)}
		if stays {
			step.Action = "change" // and created again
		}
		if o.Holds && !stays {
			step.Loses = "all rows of " + o.Signature
		}
		if o.Kind == "table" || o.Kind == "trigger" || o.Kind == "index" || o.Kind == Policy {
			step.Lock = "ACCESS EXCLUSIVE on its table, for a moment"
		}
		if step.SQL != "" {
			d.add(step)
		}
	}
}

// addSchemas makes new schemas, to which something may move.
func (d *differ) addSchemas() {
	for _, o := range d.to.Objects {
		if _, was := d.old[o.identity()]; !was && o.Kind == "schema" {
			d.add(Step{Action: "add", Object: o.ID(), SQL: o.Create(d.member)})
		}
	}
}

// dropSchemas removes schemas that nothing is left in.
func (d *differ) dropSchemas() {
	for _, o := range d.from.Objects {
		if _, stays := d.new[o.identity()]; !stays && o.Kind == "schema" {
			d.add(Step{Action: "drop", Object: o.ID(), SQL: o.Drop})
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
		return d.revoked(o, d.old) // made last, so all that it names is still there
	}
	if d.member && o.Dump {
		return fmt.Sprintf("alter extension %s drop %s %s;\n", sqltext.Ident(d.from.Extension), o.Kind, o.Signature) + o.Drop
	}
	return o.Drop
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
