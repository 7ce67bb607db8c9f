package upgrade

import (
	"cmp"
	"slices"
	"strings"
)

// Group is the steps that concern one thing that the spec names; Of is empty for what all share.
type Group struct {
	Of    string
	Steps []Step
}

// Groups sorts the steps by what they are of, in the order in which that comes first; what all share comes last.
func (p Plan) Groups() []Group {
	var groups []Group
	for _, step := range p.Steps {
		at := slices.IndexFunc(groups, func(g Group) bool { return g.Of == step.Of })
		if at < 0 {
			at = len(groups)
			groups = append(groups, Group{Of: step.Of})
		}
		groups[at].Steps = append(groups[at].Steps, step)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		if (a.Of == "") != (b.Of == "") {
			return cmp.Compare(b.Of, a.Of)
		}
		return 0
	})
	return groups
}

// grouped notes what each step is of, by its new name: objects know it, and what is made at run time is called after it.
func (p Plan) grouped(from, to Manifest) Plan {
	of, renamed := map[string]string{}, map[string]string{}
	called := map[string]string{} // by the end of an id
	for _, m := range []Manifest{from, to} {
		for _, o := range m.Objects {
			of[o.ID()] = o.Of
			if table, is := strings.CutPrefix(o.Of, "table "); is {
				called[table] = o.Of
			}
		}
		for _, n := range m.Named {
			is := n.Kind + " " + n.Name
			called[n.Name], called[is] = is, is
			if now, ok := identifiedAs(to.Named, n.identity()); ok {
				renamed[is] = now.Kind + " " + now.Name
			}
		}
	}
	for n := range p.Steps {
		step := &p.Steps[n]
		part, known := of[step.Object]
		end := ""
		for name, is := range called {
			if !known && strings.HasSuffix(step.Object, " "+name) && len(name) > len(end) {
				part, end = is, name
			}
		}
		step.Of = cmp.Or(step.Of, renamed[part], part)
	}
	return p
}
