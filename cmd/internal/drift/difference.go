// Package drift finds what somebody changed by hand in an installed extension, and puts right what can be put right without losing data.
//
// The server is asked what it has, and what it would have: everything that the installed version consists of is made once more, empty, in
// scratch schemas of a transaction that is rolled back, and both are compared as the server prints them.
package drift

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Difference is one thing that is not as the version installs it.
type Difference struct {
	Object string `json:"object"`               // its id: function s.f(text), trigger t on public.orders
	Aspect string `json:"aspect,omitempty"`     // what of it: definition, column x, comment; empty for the whole
	What   string `json:"what"`                 // missing, differs, added, taken or unknown
	Want   string `json:"want,omitempty"`       // as the server prints it
	Have   string `json:"have,omitempty"`       // the same
	Left   string `json:"left_alone,omitempty"` // why apply leaves it; empty if it repairs it
	Lock   string `json:"lock,omitempty"`       // what the repair keeps waiting

	repair []string // statements
	again  []string // statements for where those fail: it is dropped and made again
	attach bool     // attach() has to be called
}

// What a difference can be.
const (
	Missing = "missing"
	Differs = "differs"
	Added   = "added"
	Taken   = "taken"   // others made something under its name
	Unknown = "unknown" // it cannot be compared
)

func (d Difference) String() string {
	if d.Aspect == "" {
		return d.Object
	}
	return d.Object + ", " + d.Aspect
}

// compareFacts compares what is wanted with what there is.
func (c *comparison) compareFacts() error {
	var err error
	if c.others, err = c.taken(); err != nil {
		return err
	}
	whole := maps.Clone(c.others) // objects that are missing, or in whose place is something else
	maps.Copy(whole, c.unknown())
	for _, want := range c.wanted {
		have, there := c.have[want.key()]
		switch {
		case whole[want.Object] || ofTaken(want.Object, c.others):
		case !there && (want.Aspect == existence || want.Aspect == "definition" && c.isAlone(want)):
			whole[want.Object] = true
			c.missing(want)
		case !there:
			c.differ(want, fact{}, Missing)
		case c.isAttached(want.Object) && want.Aspect == "definition": // which attach() sees to
		case c.aside[want.Object] && (want.Aspect == "definition" || want.Aspect == "comment"): // until the new rows are filled
		case want.Value != have.Value:
			c.differ(want, have, Differs)
		}
	}
	for _, have := range sorted(c.have) {
		if _, known := c.want[have.key()]; !known && !whole[have.Object] && !ofTaken(have.Object, c.others) {
			c.added(have)
		}
	}
	return nil
}

// isAlone reports whether the definition is the first fact of an object.
func (c *comparison) isAlone(f fact) bool {
	_, relation := c.want[key{f.Object, existence}]
	return !relation
}

// missing notes an object that is not there.
func (c *comparison) missing(want fact) {
	d := Difference{Object: want.Object, What: Missing, Lock: lockOf(want)}
	kind, name, _ := strings.Cut(want.Object, " ")
	n, regular := c.order[want.Object]
	switch {
	case kind == "sequence" && regular && !c.resumes(n):
		d.Left = "others hold numbers that it gave, and it would begin again"
	case c.inTheWay(kind, name) != "":
		d.What, d.Left = Differs, "a "+c.inTheWay(kind, name)+" has its name"
	case !regular && c.isMade(want.Object):
		d.attach = true
	case kind == "sequence" && regular:
		o := c.m.Objects[n]
		d.repair = append(append([]string{o.SQL}, c.doing(want.Object, func(f fact) bool { return f.Rank >= 10 })...), o.Resume)
	case kind == "table":
		d.repair = append([]string{c.m.Objects[n].SQL}, c.doing(want.Object, func(f fact) bool { return f.Rank >= 10 })...)
	default:
		d.repair = c.doing(want.Object, func(fact) bool { return true })
	}
	c.found = append(c.found, d)
}

// resumes reports whether a sequence that is made again can go on after all numbers that it gave: the script says how.
func (c *comparison) resumes(n int) bool { return c.m.Objects[n].Resume != "" }

// isAttached reports whether attach() replaces the definition of a view by one over a table of users.
func (c *comparison) isAttached(object string) bool {
	n, regular := c.order[object]
	return regular && c.m.Objects[n].Attached
}

// inTheWay is what has the name of a relation that is missing.
func (c *comparison) inTheWay(kind, name string) string {
	for _, other := range []string{"table", "view", "sequence"} {
		if _, there := c.have[key{other + " " + name, existence}]; there && other != kind {
			return other
		}
	}
	return ""
}

// isMade reports whether functions make a table or view.
func (c *comparison) isMade(object string) bool {
	_, name, _ := strings.Cut(object, " ")
	r, ok := sqltext.ParseRelation(name)
	if !ok || strings.HasPrefix(object, "trigger ") || strings.HasPrefix(object, "index ") {
		return false
	}
	_, made := c.shadows.made[r]
	return made
}

// doing lists the statements of wanted facts of an object, in order.
func (c *comparison) doing(object string, which func(fact) bool) []string {
	var all []string
	for _, f := range c.wanted {
		if f.Object == object && f.Does != "" && which(f) {
			all = append(all, f.Does)
		}
	}
	return all
}

// unknown notes what has no shadow: what it needs is missing itself, or was altered. It returns their ids.
func (c *comparison) unknown() map[string]bool {
	whole := map[string]bool{}
	for _, o := range slices.Concat(c.m.Objects, c.shadows.shadowMakers) {
		err := c.shadows.failed[o.ID()]
		if err == nil {
			err = c.shadows.failed["made by "+o.ID()]
		}
		if err == nil {
			continue
		}
		d := Difference{Object: o.ID(), What: Unknown, Left: "could not be checked for changes made by hand: " + message(err)}
		if made := sqltext.Makes(o.SQL); c.shadows.failed[o.ID()] == nil && len(made) > 0 {
			d.Object = "table " + made[0].String()
		} else if _, there := c.have[key{o.ID(), c.firstAspect(o)}]; !there && o.Kind != "grant" && o.Kind != upgrade.Policy {
			d.What, d.Left, d.Lock, d.repair = Missing, "", lockOf(fact{Object: o.ID()}), []string{o.Create(false)}
		}
		whole[d.Object] = true
		c.found = append(c.found, d)
	}
	return whole
}

func (c *comparison) firstAspect(o upgrade.Object) string {
	if _, ok := relationOf(o); ok {
		return existence
	}
	return "definition"
}

// lockOf is what making a fact so keeps waiting.
func lockOf(f fact) string {
	kind, _, _ := strings.Cut(f.Object, " ")
	if f.Aspect == "comment" {
		return ""
	}
	switch kind {
	case "index":
		return "SHARE on its table, as long as it takes to read it all"
	case "trigger":
		return "SHARE ROW EXCLUSIVE on its table, for a moment"
	}
	return ""
}

// Text is a difference for people, with what apply would do.
func (d Difference) Text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-8s %s\n", d.What, d)
	if d.What == Differs && (d.Want != "" || d.Have != "") {
		out.WriteString(changed(d.Want, d.Have))
	}
	if d.What == Added && d.Have != "" && d.Have != "yes" {
		fmt.Fprintf(&out, "         is: %s\n", d.Have)
	}
	if d.What == Missing && d.Want != "" && !strings.Contains(d.Want, "\n") && d.Want != "yes" {
		fmt.Fprintf(&out, "         should be: %s\n", d.Want)
	}
	switch {
	case d.Left != "":
		fmt.Fprintf(&out, "         left alone: %s\n", d.Left)
	case d.Lock != "":
		fmt.Fprintf(&out, "         apply repairs it; locks: %s\n", d.Lock)
	default:
		out.WriteString("         apply repairs it\n")
	}
	return out.String()
}

// changed shows two values; of long ones, the lines that differ.
func changed(want, have string) string {
	if !strings.Contains(want+have, "\n") {
		return fmt.Sprintf("         is: %s, not: %s\n", have, want)
	}
	a, b := strings.Split(want, "\n"), strings.Split(have, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return listed("-", a) + listed("+", b)
}

// mostLines of a difference are shown.
const mostLines = 6

func listed(sign string, lines []string) string {
	var out strings.Builder
	for n, line := range lines {
		if n == mostLines {
			fmt.Fprintf(&out, "         %s … %s\n", sign, diag.Count(len(lines)-n, "more line"))
			break
		}
		fmt.Fprintf(&out, "         %s %s\n", sign, line)
	}
	return out.String()
}
