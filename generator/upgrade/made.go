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
	stays := map[string]bool{}
	for _, m := range d.to.Made {
		stays[m.ID()] = true
	}
	for n := len(d.from.Made) - 1; n >= 0; n-- {
		m := d.from.Made[n]
		if stays[m.ID()] {
			continue
		}
		if m.Drop == "" {
			continue
		}
		d.add(Step{Action: "drop", Object: m.ID(), SQL: m.Drop, Lock: brief, Loses: m.loss()})
	}
}

// triggerFunctions are the functions that are dropped and may have triggers on tables of users.
func (d *differ) triggerFunctions() []string {
	var functions []string
	for _, o := range d.from.Objects {
		if o.Kind == "function" && d.dropped[o.ID()] && strings.Contains(o.SQL, "\n    returns trigger\n") && !d.triggersAreObjects(o) {
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
				if need == function.ID() {
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

// remake has what changed made anew.
func (d *differ) remake() {
	before := map[string]Made{}
	for _, m := range d.from.Made {
		before[m.ID()] = m
	}
	for _, m := range d.to.Made {
		was, there := before[m.ID()]
		if !there || was.Definition == m.Definition || m.Anew == "" {
			continue
		}
		step := Step{Action: "rebuild", Object: m.ID(), SQL: m.Anew, Lock: m.Lock}
		if was.Holds && !m.Holds {
			step.Loses = was.loss()
		}
		d.add(step)
	}
}
