package upgrade

import (
	"cmp"
	"slices"
	"strings"
)

// Group is the changes and the steps that concern one thing that the spec names; Of is empty for what all share.
type Group struct {
	Of      string
	Changes []Change
	Steps   []Step
}

// Groups sorts the steps and changes by what they are of, in the order in which that comes first; what all share comes last.
func (p Plan) Groups() []Group {
	var groups []Group
	of := func(name string) *Group {
		at := slices.IndexFunc(groups, func(g Group) bool { return g.Of == name })
		if at < 0 {
			at = len(groups)
			groups = append(groups, Group{Of: name})
		}
		return &groups[at]
	}
	for _, step := range p.Steps {
		g := of(step.Of)
		g.Steps = append(g.Steps, step)
	}
	for _, change := range p.Changes {
		g := of(change.Of)
		g.Changes = append(g.Changes, change)
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
		if group, _, is := strings.Cut(step.Object, " of "); is && !known && strings.HasPrefix(group, "consumer group ") {
			part, known = group, true
		}
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
