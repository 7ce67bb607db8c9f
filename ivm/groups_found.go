package ivm

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/emit"
)

// mergedGroups pairs changes with what is stored, each group once: met has them as deltas make them, and lost the keys of those that deltas do
// not say all of.
func (g *grouped) mergedGroups(name, stored string, s Storage) emit.CTE {
	list := append([]string{"r.ctid as __at"}, prefixed("d", keyNames(g.keys))...)
	list = append(list, "coalesce(r."+Members+", 0) + d."+Members+" as "+Members)
	for _, a := range g.accs {
		list = append(list, a.merged()+" as "+a.name)
	}
	if s.Hashed() {
		list = append(list, "d."+Hash)
	}
	if conds := g.lostIf("r", "d"); len(conds) > 0 {
		lost := "(" + strings.Join(conds, " or ") + ") is true"
		if len(g.keys) > 0 { // the one group without keys stays when its last row goes
			lost = "r." + Members + " + d." + Members + " > 0 and " + lost
		}
		list = append(list, lost+" as __lost")
	}
	lines := append(emit.Clause("select", list), "from "+DeltaName+" d", "left join "+stored+" r on "+s.Same("r", "d"))
	if conds := g.changedIf("d"); len(conds) > 0 {
		lines = append(lines, "where "+strings.Join(conds, " or "))
	}
	return emit.CTE{Name: name, Comment: "each changed group, as it becomes and where it is", Keep: true, Lines: lines}
}

// lost are the keys of the groups of met that deltas do not say all of.
func (g *grouped) lost() emit.CTE {
	list := prefixed("m", keyNames(g.keys))
	if len(list) == 0 {
		list = []string{"1 as one"}
	}
	return emit.CTE{
		Name: "lost", Comment: "groups whose least or greatest value went", Keep: true,
		Lines: append(emit.Clause("select", list), "from met m", "where m.__lost"),
	}
}

// lostIf are conditions, of which one holds if stored group r may have lost an extreme by change d.
func (g *grouped) lostIf(r, d string) []string {
	var conds []string
	for _, a := range g.accs {
		gone, now := d+"."+a.name+"_gone", d+"."+a.name
		switch a.kind {
		case leastOf:
			conds = append(conds, gone+" <= "+r+"."+a.name+" and ("+now+" < "+gone+") is not true")
		case mostOf:
			conds = append(conds, gone+" >= "+r+"."+a.name+" and ("+now+" > "+gone+") is not true")
		}
	}
	return conds
}

// fresh computes the extremes of the lost groups anew.
func (v *View) fresh(g *grouped, w *emit.Writer) {
	lost := &algebra.Values{}
	leaf := emit.Leaf{SQL: "lost", Alias: "l", Columns: map[algebra.ColID]string{}}
	for i, k := range g.node.Keys {
		id := v.Columns.New(v.Columns.Info(k.ID))
		lost.Cols = append(lost.Cols, id)
		leaf.Columns[id] = g.keys[i].Name
	}
	w.Bind(lost, leaf)
	g.extremes(w, simplified(v.calculus().restricted(g.node.Input, g.node.Keys, lost)))
	w.NameLast("fresh")
}

// regained are the groups of met, where extremes were lost with those of fresh.
func (g *grouped) regained(s Storage) emit.CTE {
	list := append([]string{"m.__at"}, prefixed("m", keyNames(g.keys))...)
	list = append(list, "m."+Members)
	for _, a := range g.accs {
		column := "m." + a.name
		if a.extreme() {
			column = "case when m.__lost then f." + a.name + " else " + column + " end as " + a.name
		}
		list = append(list, column)
	}
	if s.Hashed() {
		list = append(list, "m."+Hash)
	}
	lines := append(emit.Clause("select", list), "from met m", "left join fresh f on m.__lost and "+s.PlainSame("f", "m"))
	return emit.CTE{Name: "found", Comment: "the same, with what was lost", Keep: true, Lines: lines}
}

// merged is the accumulator with its change.
func (a accumulator) merged() string {
	r, d := "r."+a.name, "d."+a.name
	switch a.kind {
	case leastOf:
		return "least(" + r + ", " + d + ")"
	case mostOf:
		return "greatest(" + r + ", " + d + ")"
	}
	return "coalesce(" + r + ", 0) + " + d
}
