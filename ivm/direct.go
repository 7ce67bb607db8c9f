package ivm

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/delta"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// A view of one table, read once, whose stored rows a unique index finds, can follow each statement by itself, in any order and with other
// writers at work: what is added to a group waits for the group's row, and rows are computed anew by their key. Nothing needs to lock it.

// Direct reports whether the view is like that. Groups over groups are not: another writer's rows may be of the same group below, which neither
// of both sees as it will be.
func (v *View) Direct() bool {
	if v.Root == nil {
		return false
	}
	reads := v.props.Of(v.Root).Sources
	if len(reads) != 1 || v.Effect(Insert) == delta.Both || v.Storage().Hashed() {
		return false
	}
	if kind := reads[0].Table.Kind; kind != catalog.Table && kind != catalog.Partitioned {
		return false
	}
	switch v.Strategy() {
	case MergeGroups:
		return true
	case MergeRows:
		return !v.Storage().Repeats
	}
	return false
}

// Event is what a statement did to its table.
type Event string

// The events.
const (
	Insert Event = "insert"
	Update Event = "update"
	Delete Event = "delete"
)

// GroupsDelta are the lines of common table expressions of which the last, DeltaName, says by how much each group changes in a statement; none
// if nothing can.
func (v *View) GroupsDelta(t Tables, e Event) []string {
	w := emit.NewWriter(v.Columns, leaves(t))
	effect := v.Effect(e)
	if !v.groupsDelta(v.grouped(), w, effect == delta.Both) {
		return nil
	}
	w.CTEs[len(w.CTEs)-1].Keep = len(v.Extremes()) > 0 && effect.Takes // then it is read twice
	return emit.List(w.CTEs)
}

// groupsDelta writes delta; false if nothing can change. mixed: rows may come and go.
func (v *View) groupsDelta(g *grouped, w *emit.Writer, mixed bool) bool {
	changes := v.calculus().changes(g.node.Input)
	if changes == nil {
		return false
	}
	from := w.Add(g.inputs(v, changes, mixed), g.inputNames(), false)
	w.CTEs = append(w.CTEs, g.delta(from, v.Storage()))
	return true
}

// LostIf is the condition that group merged, as it is stored after change d, may have lost an extreme; empty if the view has none.
func (v *View) LostIf(merged, d string) string {
	conds := v.grouped().lostIf(merged, d)
	return strings.Join(conds, " or ")
}

// ChangedIf is the condition that delta d changes its group; empty if each does.
func (v *View) ChangedIf(d string) string {
	return strings.Join(v.grouped().changedIf(d), " or ")
}

// Regained are the lines of common table expressions lost, the stored groups at the places in array variable places, and fresh, those
// groups computed anew.
func (v *View) Regained(t Tables, places string) []string {
	g, w := v.grouped(), emit.NewWriter(v.Columns, leaves(t))
	list := append([]string{"r.ctid as __at"}, prefixed("r", keyNames(g.keys))...)
	w.CTEs = append(w.CTEs, emit.CTE{
		Name: "lost", Comment: "groups whose least or greatest value may have gone", Keep: true,
		Lines: append(emit.Clause("select", list), "from "+t.Stored+" r", "where r.ctid = any ("+places+")"),
	})
	v.fresh(g, w)
	return emit.List(w.CTEs)
}

// Extremes are the stored columns that Regained computes anew.
func (v *View) Extremes() []string {
	var names []string
	if g := v.grouped(); g != nil {
		for _, a := range g.accs {
			if a.extreme() {
				names = append(names, a.name)
			}
		}
	}
	return names
}

// Emptied is the condition that nothing is left of group m. Where inner statements come first, there may be no rows of it and still sums
// of what an outer statement has yet to add.
func (v *View) Emptied(m string) string {
	conds := []string{m + "." + Members + " = 0"}
	for _, a := range v.grouped().accs {
		if !a.extreme() {
			conds = append(conds, m+"."+a.name+" = 0")
		}
	}
	return strings.Join(conds, " and ")
}

// Accumulate sets the stored columns of group row to what they are with those of row added.
func (v *View) Accumulate(row, added string) []string {
	g := v.grouped()
	sets := []string{Members + " = " + row + "." + Members + " + " + added + "." + Members}
	for _, a := range g.accs {
		r, d := row+"."+a.name, added+"."+a.name
		switch a.kind {
		case leastOf:
			sets = append(sets, a.name+" = least("+r+", "+d+")")
		case mostOf:
			sets = append(sets, a.name+" = greatest("+r+", "+d+")")
		default:
			sets = append(sets, a.name+" = "+r+" + "+d)
		}
	}
	return sets
}

// RowsAnew are the lines of common table expressions of which the last two are touched, the identities that changes touch, and fresh, the
// rows of a Direct view that have them now.
func (v *View) RowsAnew(t Tables, e Event) []string {
	w := emit.NewWriter(v.Columns, leaves(t))
	s := v.Storage()
	source := v.source()
	var keys []algebra.Item
	p := &algebra.Project{Input: &algebra.Changes{Of: source}}
	for _, k := range s.Identity {
		keys = append(keys, algebra.Item{ID: k.id, Expr: algebra.Ref(k.id)})
		p.Items = append(p.Items, algebra.Item{ID: v.Columns.New(v.Columns.Info(k.id)), Expr: algebra.Ref(k.id)})
	}
	if seen, ok := filtered(v, source, p.Input); ok {
		p.Input = seen
	}
	touched := &algebra.Distinct{Input: p}
	w.Keep(touched, keyNames(s.Identity))
	restricted := v.calculus().restricted(source, keys, touched)
	w.NameLast("touched")
	w.Rebind(touched, "touched")
	now := algebra.Rewrite(v.Root, func(n algebra.Node) algebra.Node {
		if n == source {
			return restricted
		}
		return n
	})
	w.Add(simplified(now), s.Stored, true)
	w.NameLast("fresh")
	for i := range w.CTEs {
		w.CTEs[i].Keep = w.CTEs[i].Keep && e != Insert // then each is read once
	}
	return emit.List(w.CTEs)
}

// source is the table of a Direct view.
func (v *View) source() *algebra.Source { return v.props.Of(v.Root).Sources[0] }

// KeyColumns are the columns of a Direct view's table that its identity consists of.
func (v *View) KeyColumns() []string {
	var names []string
	source := v.source()
	for _, k := range v.Storage().Identity {
		for _, c := range source.Cols {
			if c.ID == k.id {
				names = append(names, source.Table.Columns[c.Attr].Name)
			}
		}
	}
	return names
}

// filtered are the changes of a Direct view's rows that the view shows. What it shows of an identity neither before nor after a statement, that
// statement does not change: it waited for whoever changed the identity before, and sees what those did. That is so as long as nothing but the
// row decides on it, not the time nor a setting, and in read committed: a snapshot that is older than the wait does not see it.
func filtered(v *View, source *algebra.Source, changes algebra.Node) (algebra.Node, bool) {
	conds := []algebra.Scalar{}
	for n := v.Root; n != algebra.Node(source); {
		switch at := n.(type) {
		case *algebra.Project:
			n = at.Input
		case *algebra.Filter:
			conds, n = append(conds, at.Conds...), at.Input
		default:
			return nil, false
		}
	}
	for _, c := range conds {
		if !v.plain(c) {
			return nil, false
		}
	}
	if len(conds) == 0 {
		return nil, false
	}
	old, err := sqltext.ParseExpr("current_setting('transaction_isolation') <> 'read committed'", nil)
	if err != nil {
		panic(err)
	}
	return &algebra.Filter{Input: changes, Conds: []algebra.Scalar{{Expr: sqltext.Or(all(conds).Expr, old)}}}, true
}

// plainTypes are those whose comparisons depend on nothing but their values.
var plainTypes = []string{"smallint", "integer", "bigint", "numeric", "text", "character varying", "boolean", "uuid"}

// plain reports whether a condition compares columns of the table, of plain types, with each other and with constants.
func (v *View) plain(cond algebra.Scalar) bool {
	computed := map[int]bool{}
	algebra.Walk(v.Root, func(n algebra.Node) {
		if p, ok := n.(*algebra.Project); ok {
			for _, item := range p.Items {
				computed[int(item.ID)] = true
			}
		}
	})
	return v.comparesPlain(cond) && !slices.ContainsFunc(cond.Expr.Columns(), func(id int) bool { return computed[id] })
}

// comparesPlain reports whether a condition compares columns of plain types with each other and with constants.
func (v *View) comparesPlain(cond algebra.Scalar) bool {
	for _, use := range cond.Expr.Uses() {
		if use.Kind != sqltext.UsesOperator || use.Schema != "" && use.Schema != "pg_catalog" || !slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, use.Name) {
			return false
		}
	}
	for _, id := range cond.Expr.Columns() {
		typ, _, _ := strings.Cut(v.Columns.Info(algebra.ColID(id)).Type, "(")
		if !slices.Contains(plainTypes, typ) {
			return false
		}
	}
	return true
}
