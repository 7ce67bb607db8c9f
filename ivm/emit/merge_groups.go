package emit

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
)

// groupChanges adds up the changes of each group.
func (w *statement) groupChanges(keep bool) CTE {
	g := w.Groups
	keys := prefixed("d", apply.Names(g.Keys))
	list := append([]string{}, keys...)
	list = append(list, "sum(d."+Mult+") as "+apply.Members)
	for _, a := range g.Accumulators {
		list = append(list, changes(a)...)
	}
	if w.Storage.Hashed() {
		list = append(list, HashOf(w.Storage, "d")+" as "+apply.Hash)
	}
	lines := append(clause("select", list), "from "+w.last+" d")
	if len(keys) > 0 {
		lines = append(lines, clause("group by", keys)...)
	} else {
		lines = append(lines, "having count(*) > 0")
	}
	comment := "by how much each group changes"
	_, last := w.Steps[len(w.Steps)-1].(apply.GroupChanges) // no statement finds what is stored of them then
	if few := w.tables.Few; few != "" && len(keys) > 0 && !last {
		comment += "; between makes the planner expect few, and find stored groups by their index"
		lines = append(lines, "having "+expectFew(few, "count(*)", positive64))
	}
	return CTE{Name: DeltaName, Comment: comment, Keep: keep, Lines: lines}
}

// merged pairs changes with what is stored, each group once: met has them as deltas make them, and lost the keys of those that deltas do
// not say all of.
func (w *statement) merged(name string) CTE {
	g := w.Groups
	list := append([]string{"r.ctid as __at"}, prefixed("d", apply.Names(g.Keys))...)
	list = append(list, "coalesce(r."+apply.Members+", 0) + d."+apply.Members+" as "+apply.Members)
	for _, a := range g.Accumulators {
		list = append(list, mergedValue(a)+" as "+a.Name)
	}
	if w.Storage.Hashed() {
		list = append(list, "d."+apply.Hash)
	}
	if cond := LostIf(g, "r", "d"); cond != "" {
		lost := "(" + cond + ") is true"
		if len(g.Keys) > 0 { // the one group without keys stays when its last row goes
			lost = "r." + apply.Members + " + d." + apply.Members + " > 0 and " + lost
		}
		list = append(list, lost+" as __lost")
	}
	lines := append(clause("select", list), "from "+DeltaName+" d", "left join "+w.tables.Stored+" r on "+Same(w.Storage, "r", "d"))
	if cond := ChangedIf(g, "d"); cond != "" {
		lines = append(lines, "where "+cond)
	}
	return CTE{Name: name, Comment: "each changed group, as it becomes and where it is", Keep: true, Lines: lines}
}

// lost are the keys of the groups of met that deltas do not say all of.
func (w *statement) lost() CTE {
	lines := append(clause("select", some(prefixed("m", apply.Names(w.Groups.Keys)))), "from met m", "where m.__lost")
	return CTE{Name: "lost", Comment: "groups whose least or greatest value went", Keep: true, Lines: lines}
}

// lostAt are stored groups that are found by their places.
func (w *statement) lostAt() CTE {
	list := append([]string{"r.ctid as __at"}, prefixed("r", apply.Names(w.Groups.Keys))...)
	return CTE{
		Name: "lost", Comment: "groups whose least or greatest value may have gone", Keep: true,
		Lines: append(clause("select", list), "from "+w.tables.Stored+" r", "where r.ctid = any ("+w.tables.Places+")"),
	}
}

// recomputedExtremes are the extremes of the lost groups.
func (w *statement) recomputedExtremes(step apply.RecomputedExtremes) {
	leaf := Leaf{SQL: "lost", Alias: "l", Columns: map[algebra.ColID]string{}}
	for i, id := range step.Lost.Cols {
		leaf.Columns[id] = w.Groups.Keys[i].Name
	}
	w.Bind(step.Lost, leaf)
	w.extremes(w.Groups, step.Rows)
	w.NameLast("recomputed")
}

// regained are the groups of met, where extremes were lost with those of recomputed.
func (w *statement) regained() CTE {
	g := w.Groups
	list := append([]string{"m.__at"}, prefixed("m", apply.Names(g.Keys))...)
	list = append(list, "m."+apply.Members)
	for _, a := range g.Accumulators {
		column := "m." + a.Name
		if a.Extreme() {
			column = "case when m.__lost then f." + a.Name + " else " + column + " end as " + a.Name
		}
		list = append(list, column)
	}
	if w.Storage.Hashed() {
		list = append(list, "m."+apply.Hash)
	}
	lines := append(clause("select", list), "from met m", "left join recomputed f on m.__lost and "+PlainSame(w.Storage, "f", "m"))
	return CTE{Name: "found", Comment: "the same, with what was lost", Keep: true, Lines: lines}
}

// foundLessStored are the changed groups as they become, less what is stored of them.
func (w *statement) foundLessStored() []string {
	g := w.Groups
	lines := append(clause("select", append(prefixed("f", g.Columns()), "1 as "+Mult)), "from found f")
	if len(g.Keys) > 0 {
		lines = append(lines, "where f."+apply.Members+" > 0")
	}
	lines = append(lines, "union all")
	lines = append(lines, clause("select", append(prefixed("r", g.Columns()), "-1"))...)
	return append(lines, "from found f", "join "+w.tables.Stored+" r on r.ctid = f.__at")
}

// LostIf is the condition that stored group r may have lost an extreme by change d, or group r as it is stored after it; empty if there are no extremes.
func LostIf(g *apply.Groups, r, d string) string {
	var conds []string
	for _, a := range g.Accumulators {
		gone, is := d+"."+a.Name+"_gone", d+"."+a.Name
		switch a.Kind {
		case apply.Least:
			conds = append(conds, gone+" <= "+r+"."+a.Name+" and ("+is+" < "+gone+") is not true")
		case apply.Most:
			conds = append(conds, gone+" >= "+r+"."+a.Name+" and ("+is+" > "+gone+") is not true")
		}
	}
	return strings.Join(conds, " or ")
}

// ChangedIf is the condition that delta d changes its group, where rows that cancel each other may be in it; empty if each does.
func ChangedIf(g *apply.Groups, d string) string {
	if !g.Linear() {
		return ""
	}
	conds := []string{d + "." + apply.Members + " <> 0"}
	for _, a := range g.Accumulators {
		if a.Extreme() { // rows that cancel each other are not in it
			return ""
		}
		conds = append(conds, d+"."+a.Name+" <> 0")
	}
	return strings.Join(conds, " or ")
}

// Emptied is the condition that nothing is left of group m. Where inner statements come first, there may be no rows of it and still sums
// of what an outer statement has yet to add.
func Emptied(g *apply.Groups, m string) string {
	conds := []string{m + "." + apply.Members + " = 0"}
	for _, a := range g.Accumulators {
		if !a.Extreme() {
			conds = append(conds, m+"."+a.Name+" = 0")
		}
	}
	return strings.Join(conds, " and ")
}

// Accumulate sets the stored columns of group row to what they are with those of row added.
func Accumulate(g *apply.Groups, row, added string) []string {
	sets := []string{apply.Members + " = " + row + "." + apply.Members + " + " + added + "." + apply.Members}
	for _, a := range g.Accumulators {
		r, d := row+"."+a.Name, added+"."+a.Name
		switch a.Kind {
		case apply.Least:
			sets = append(sets, a.Name+" = least("+r+", "+d+")")
		case apply.Most:
			sets = append(sets, a.Name+" = greatest("+r+", "+d+")")
		default:
			sets = append(sets, a.Name+" = "+r+" + "+d)
		}
	}
	return sets
}
