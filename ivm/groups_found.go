package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/rewrite"
)

// lost are the groups that deltas do not say all of; nil if there are no such.
func (g *grouped) lost(stored string, s Storage) *emit.CTE {
	conds := g.lostIf("r", "d")
	if len(conds) == 0 {
		return nil
	}
	list := append([]string{"r.ctid as __at"}, prefixed("d", keyNames(g.keys))...)
	if s.Hashed() {
		list = append(list, "d."+Hash)
	}
	lines := append(emit.Clause("select", list), "from "+DeltaName+" d", "join "+stored+" r on "+s.Same("r", "d"),
		"where r."+Members+" + d."+Members+" > 0")
	if len(g.keys) == 0 { // the one group stays when its last row goes
		lines[len(lines)-1] = "where true"
	}
	for i, c := range conds {
		word, end := "       or ", ""
		if i == 0 {
			word = "  and ("
		}
		if i == len(conds)-1 {
			end = ")"
		}
		lines = append(lines, word+c+end)
	}
	return &emit.CTE{Name: "lost", Comment: "groups whose least or greatest value went", Keep: true, Lines: lines}
}

// lostIf are conditions, of which one holds if stored group r may have lost an extreme by change d.
func (g *grouped) lostIf(r, d string) []string {
	var conds []string
	for _, a := range g.accs {
		gone, now := d+"."+a.name+"_gone", d+"."+a.name
		switch a.kind {
		case leastOf:
			conds = append(conds, gone+" <= "+r+"."+a.name+" and ("+now+" <= "+gone+") is not true")
		case mostOf:
			conds = append(conds, gone+" >= "+r+"."+a.name+" and ("+now+" >= "+gone+") is not true")
		}
	}
	return conds
}

// fresh computes the lost groups anew.
func (v *View) fresh(g *grouped, w *emit.Writer) {
	lost := &algebra.Values{}
	leaf := emit.Leaf{SQL: "lost", Alias: "l", Columns: map[algebra.ColID]string{}}
	for i, k := range g.node.Keys {
		id := v.Columns.New(v.Columns.Info(k.ID))
		lost.Cols = append(lost.Cols, id)
		leaf.Columns[id] = g.keys[i].Name
	}
	w.Bind(lost, leaf)
	g.states(w, rewrite.Distribute(v.calculus().Restrict(g.node.Input, g.node.Keys, lost)), false)
	w.NameLast("fresh")
}

// found pairs changes with what is stored.
func (g *grouped) found(stored string, s Storage, lost bool) emit.CTE {
	list := append([]string{"r.ctid as __at"}, prefixed("d", keyNames(g.keys))...)
	list = append(list, "coalesce(r."+Members+", 0) + d."+Members+" as "+Members)
	for _, a := range g.accs {
		merged := a.merged()
		if lost && a.extreme() {
			merged = "case when l.__at is null then " + merged + " else f." + a.name + " end"
		}
		list = append(list, merged+" as "+a.name)
	}
	if s.Hashed() {
		list = append(list, "d."+Hash)
	}
	lines := append(emit.Clause("select", list), "from "+DeltaName+" d", "left join "+stored+" r on "+s.Same("r", "d"))
	if lost {
		lines = append(lines, "left join lost l on l.__at = r.ctid", "left join fresh f on l.__at is not null and "+s.PlainSame("f", "d"))
	}
	return emit.CTE{Name: "found", Comment: "each changed group, as it becomes and where it is", Keep: true, Lines: lines}
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
