package upgrade

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// dropMade removes what functions made that the new version has no more, and triggers whose functions go.
func (d *differ) dropMade() {
	if functions := d.triggerFunctions(); len(functions) > 0 {
		d.add(Step{
			Action: "drop", Object: "triggers on sources", SQL: dropTriggers(functions),
			Lock: "ACCESS EXCLUSIVE on the tables that they are on, for a moment",
		})
	}
	for n := len(d.from.Made) - 1; n >= 0; n-- {
		m := d.from.Made[n]
		if _, stays := identifiedAs(d.to.Made, m.identity()); stays || m.Drop == "" {
			continue
		}
		step := Step{Action: "drop", Object: m.ID(), SQL: m.Drop, Loses: m.loss()}
		if len(m.Relations) > 0 { // all else is rows, rights and the like
			step.Lock = brief
		}
		d.add(step)
	}
}

// triggerFunctions are the functions that are dropped and may have triggers on tables of users.
func (d *differ) triggerFunctions() []string {
	var functions []string
	for _, o := range d.from.Objects {
		if o.Kind == "function" && d.dropped[o.identity()] && strings.Contains(o.SQL, "\n    returns trigger\n") && !d.triggersAreObjects(o) {
			functions = append(functions, sqltext.Literal(o.Signature)+"::regprocedure")
		}
	}
	return functions
}

// triggersAreObjects reports whether the triggers of a function are objects of the extension.
func (d *differ) triggersAreObjects(function Object) bool {
	for _, o := range d.from.Objects {
		if o.Kind == "trigger" {
			for _, need := range o.Needs {
				if need == function.identity() {
					return true
				}
			}
		}
	}
	return false
}

func dropTriggers(functions []string) string {
	return fmt.Sprintf(`do $do$
declare
    v_trigger record;
begin
    for v_trigger in
        select t.tgname, t.tgrelid::regclass as on_table
        from pg_catalog.pg_trigger t
        where not t.tgisinternal
          and t.tgparentid = 0
          and t.tgfoid in (%s)
    loop
        execute format('drop trigger %%I on %%s', v_trigger.tgname, v_trigger.on_table);
    end loop;
end;
$do$;
`, strings.Join(functions, ",\n              "))
}

// remake has what changed recreated.
func (d *differ) remake() {
	recreated := map[string]bool{}
	for _, m := range d.to.Made {
		switch was, there := identifiedAs(d.from.Made, m.identity()); {
		case !there || m.PartOf != "" && recreated[m.PartOf]:
		case was.Definition != m.Definition && m.Recreate != "":
			recreated[m.ID()] = true
			step := Step{Action: "rebuild", Object: m.ID(), SQL: d.guard(was, m) + m.Recreate, Lock: m.Lock}
			if was.Holds && !m.Holds {
				step.Loses = was.loss()
			}
			d.add(step)
		}
	}
}

// forget deletes what the catalog knows of what is gone: something else may get its name.
func (d *differ) forget() {
	for _, n := range d.from.Named {
		if _, stays := identifiedAs(d.to.Named, n.identity()); stays || n.Kind == "consumer group" {
			continue // groups are dropped with all that is known of them
		}
		step := Step{Action: "drop", Object: "what is noted of " + n.Kind + " " + n.Name}
		for _, v := range n.Values {
			switch {
			case d.kept[v.Table] == "":
			case v.Key:
				step.SQL += fmt.Sprintf("update %[1]s set %[2]s = %[2]s - %[3]s where %[2]s ? %[3]s;\n", v.Table, v.Column, v.Value)
			default:
				step.SQL += fmt.Sprintf("delete from %s where %s = %s;\n", v.Table, v.Column, v.Value)
			}
		}
		if step.SQL != "" {
			d.add(step)
		}
	}
}
