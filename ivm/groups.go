package ivm

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Rule R4: a group is stored as what its aggregates follow from (accumulators) and the number of its rows. Δ of the rows adds up to Δ of
// those. Where a least or greatest value may have gone, the group is computed anew.

// grouped is a view that is stored as its groups' accumulators.
type grouped struct {
	node  *algebra.Aggregate
	keys  []Key
	accs  []accumulator
	exprs map[algebra.ColID]string // of the aggregates, over the columns of accs
}

// grouped is nil if the view is not stored like that.
func (v *View) grouped() *grouped {
	node := v.aggregate()
	if node == nil || v.picks(node) {
		return nil
	}
	accs, exprs, ok := v.accumulators(node)
	if !ok {
		return nil
	}
	return &grouped{node, v.keysOf(node), accs, exprs}
}

// picks reports whether the rows of a group may bear keys that are equal and not the same. The one that is shown must be one that a row still bears, so
// these groups are computed anew.
func (v *View) picks(n *algebra.Aggregate) bool {
	return slices.ContainsFunc(n.Keys, func(k algebra.Item) bool { return v.Columns.Info(k.ID).Varied })
}

// PicksKeys reports whether that is so for any groups of the view. Its own query may pick other keys, then, than what is generated.
func (v *View) PicksKeys() bool {
	found := false
	if v.Root != nil {
		algebra.Walk(v.Root, func(n algebra.Node) {
			groups, ok := n.(*algebra.Aggregate)
			found = found || ok && v.picks(groups)
		})
	}
	return found
}

// columns are those that are stored.
func (g *grouped) columns() []string {
	names := append(keyNames(g.keys), Members)
	for _, a := range g.accs {
		names = append(names, a.name)
	}
	return names
}

// states computes the accumulators of a node's groups.
func (g *grouped) states(w *emit.Writer, n algebra.Node) string {
	folds := []emit.Fold{{Name: Members, SQL: "count(%s)"}}
	for _, a := range g.accs {
		folds = append(folds, a.fold())
	}
	return w.Groups(n, g.node.Keys, keyNames(g.keys), folds, false)
}

// extremes computes the least and greatest values of a node's groups.
func (g *grouped) extremes(w *emit.Writer, n algebra.Node) string {
	var folds []emit.Fold
	for _, a := range g.accs {
		if a.extreme() {
			folds = append(folds, a.fold())
		}
	}
	return w.Groups(n, g.node.Keys, keyNames(g.keys), folds, false)
}

// fold computes the accumulator from rows.
func (a accumulator) fold() emit.Fold {
	f := emit.Fold{Name: a.name, SQL: string(a.kind) + "(%s)", Arg: a.arg, Filter: a.filter}
	switch a.kind {
	case sumOf:
		f.Zero = true
		if a.special {
			f.And = "not " + isOdd("%s")
		}
	case oddOf:
		f.Zero, f.SQL = true, "sum("+oddity("%s")+")"
	case scalesOf:
		f.Zero, f.SQL, f.And = true, "sum("+scaleOf("%s")+")", hasScale("%s")
	}
	return f
}

// mergeGroups are the common table expressions of which the last, found, has a row for each group that changes: its columns as they are
// now, __at, where it is stored, and Hash where the storage has it.
func (v *View) mergeGroups(g *grouped, w *emit.Writer, stored string) bool {
	if !v.groupsDelta(g, w, true) {
		return false
	}
	identity := v.Storage()
	if len(g.lostIf("r", "d")) == 0 {
		w.CTEs = append(w.CTEs, g.mergedGroups("found", stored, identity))
		return true
	}
	w.CTEs = append(w.CTEs, g.mergedGroups("met", stored, identity), g.lost())
	v.fresh(g, w)
	w.CTEs = append(w.CTEs, g.regained(identity))
	return true
}

// inputs are the changes of the groups' rows: keys, values and whether they are counted. mixed: rows may come and go.
func (g *grouped) inputs(v *View, changes algebra.Node, mixed bool) algebra.Node {
	p, names := &algebra.Project{Input: changes}, g.inputNames()
	add := func(e algebra.Scalar, least catalog.Equality) {
		typ := v.exprType(e)
		info := algebra.Info{Name: names[len(p.Items)], Type: typ, Equality: max(catalog.EqualityOf(typ), least)}
		p.Items = append(p.Items, algebra.Item{ID: v.Columns.New(info), Expr: e})
	}
	for _, k := range g.node.Keys {
		add(k.Expr, catalog.OrderedEquality) // or the query could not group by it
	}
	for _, a := range g.inputsOf() {
		switch {
		case a.extreme():
			add(a.arg, catalog.OrderedEquality) // or there would be no least or greatest
		case !a.arg.Expr.IsZero():
			add(a.arg, catalog.NoEquality)
		}
		if len(a.filter) > 0 {
			add(all(a.filter), catalog.HashedEquality)
		}
	}
	node := simplified(p)
	for _, a := range g.accs {
		if mixed && a.extreme() { // what is added and taken away again must not be taken for an extreme
			return &algebra.Consolidate{Input: node}
		}
	}
	return node
}

func all(conds []algebra.Scalar) algebra.Scalar {
	exprs := make([]sqltext.Expr, len(conds))
	for i, c := range conds {
		exprs[i] = c.Expr
	}
	return algebra.Scalar{Expr: sqltext.And(exprs...)}
}

// inputsOf are the accumulators with a column of inputs of their own.
func (g *grouped) inputsOf() []accumulator {
	var own []accumulator
	for _, a := range g.accs {
		if a.input == a.name {
			own = append(own, a)
		}
	}
	return own
}

// inputNames are the names of the columns of inputs.
func (g *grouped) inputNames() []string {
	names := keyNames(g.keys)
	for _, a := range g.inputsOf() {
		if !a.arg.Expr.IsZero() {
			names = append(names, a.name)
		}
		if len(a.filter) > 0 {
			names = append(names, a.name+"_if")
		}
	}
	return names
}

// delta adds up the changes of each group.
func (g *grouped) delta(from string, s Storage) emit.CTE {
	keys := prefixed("d", keyNames(g.keys))
	list := append([]string{}, keys...)
	list = append(list, "sum(d."+Mult+") as "+Members)
	for _, a := range g.accs {
		list = append(list, a.changes()...)
	}
	if s.Hashed() {
		list = append(list, s.HashOf("d")+" as "+Hash)
	}
	lines := append(emit.Clause("select", list), "from "+from+" d")
	if len(keys) > 0 {
		lines = append(lines, emit.Clause("group by", keys)...)
	}
	if len(keys) == 0 {
		lines = append(lines, "having count(*) > 0")
	}
	return emit.CTE{Name: DeltaName, Comment: "by how much each group changes", Keep: true, Lines: lines}
}

// addsUp reports whether the groups add up the changes of a single source, which then need no adding up first.
func (g *grouped) addsUp() bool { return linear(g.node.Input) }

// linear reports whether nothing but filters and projections stands over a single source.
func linear(n algebra.Node) bool {
	for {
		switch at := n.(type) {
		case *algebra.Project:
			n = at.Input
		case *algebra.Filter:
			n = at.Input
		case *algebra.Source:
			return true
		default:
			return false
		}
	}
}

// Raw reports whether Delta may read log rows as they are, once, as it adds up its result. Where it computes anything of a row that was added and removed,
// that could fail.
func (v *View) Raw() bool {
	return v.AddsUp() || v.Strategy() == MergeRows && linear(v.Root) && v.safe()
}

// safe reports whether the view shows columns as they are, and its conditions cannot fail.
func (v *View) safe() bool {
	safe := true
	algebra.Walk(v.Root, func(n algebra.Node) {
		switch n := n.(type) {
		case *algebra.Project:
			for _, item := range n.Items {
				_, plain := item.Expr.Expr.Column()
				safe = safe && plain
			}
		case *algebra.Filter:
			for _, cond := range n.Conds {
				safe = safe && v.comparesPlain(cond)
			}
		}
	})
	return safe
}

// AddsUp tells that log rows may come as they are, several alike and some that cancel each other.
func (v *View) AddsUp() bool {
	g := v.grouped()
	return g != nil && g.addsUp()
}

// changedIf are conditions of which one holds if delta d changes its group, where rows that cancel each other are in it.
func (g *grouped) changedIf(d string) []string {
	if !g.addsUp() {
		return nil
	}
	conds := []string{d + "." + Members + " <> 0"}
	for _, a := range g.accs {
		if a.extreme() { // then they are not
			return nil
		}
		conds = append(conds, d+"."+a.name+" <> 0")
	}
	return conds
}

// changes are the accumulator's columns of delta.
func (a accumulator) changes() []string {
	value := "d." + a.input
	var conds []string
	if len(a.filter) > 0 {
		conds = append(conds, "d."+a.input+"_if")
	}
	switch a.kind {
	case oddOf:
		return []string{"coalesce(sum(" + oddity(value) + " * d." + Mult + ")" + filter(conds) + ", 0) as " + a.name}
	case scalesOf:
		return []string{"coalesce(sum(" + scaleOf(value) + " * d." + Mult + ")" + filter(append(conds, hasScale(value))) + ", 0) as " + a.name}
	case sumOf:
		if a.special {
			conds = append(conds, "not "+isOdd(value))
		}
		return []string{"coalesce(sum(" + value + " * d." + Mult + ")" + filter(conds) + ", 0) as " + a.name}
	case countOf:
		if !a.arg.Expr.IsZero() {
			conds = append(conds, value+" is not null")
		}
		return []string{"coalesce(sum(d." + Mult + ")" + filter(conds) + ", 0) as " + a.name}
	}
	fold := string(a.kind) + "(" + value + ")"
	return []string{
		fold + filter(append(conds, "d."+Mult+" > 0")) + " as " + a.name,
		fold + filter(append(conds, "d."+Mult+" < 0")) + " as " + a.name + "_gone",
	}
}

func filter(conds []string) string {
	if len(conds) == 0 {
		return ""
	}
	return " filter (where " + strings.Join(conds, " and ") + ")"
}

// shown are the view's columns over the stored ones of row r, and the conditions under which a group is in the view.
func (g *grouped) shown(v *View, alias string) (list, conds []string) {
	w := emit.NewWriter(v.Columns, leaves(Tables{}))
	state, ids := &algebra.Values{}, map[string]int{}
	leaf := emit.Leaf{SQL: "stored", Alias: alias, Columns: map[algebra.ColID]string{}}
	for _, name := range g.columns() {
		id := v.Columns.New(algebra.Info{Name: name})
		state.Cols = append(state.Cols, id)
		leaf.Columns[id], ids[name] = name, int(id)
	}
	w.Bind(state, leaf)
	over := &algebra.Project{Input: state}
	for i, k := range g.node.Keys {
		over.Items = append(over.Items, algebra.Item{ID: k.ID, Expr: algebra.Ref(state.Cols[i])})
	}
	for _, a := range g.node.Aggs {
		expr, err := sqltext.ParseExpr(g.exprs[a.ID], ids)
		if err != nil {
			panic(err)
		}
		over.Items = append(over.Items, algebra.Item{ID: a.ID, Expr: algebra.Scalar{Expr: expr}})
	}
	return w.Flat(algebra.Rewrite(v.Root, func(n algebra.Node) algebra.Node {
		if n == g.node {
			return over
		}
		return n
	}))
}

// signedGroups are the changed groups as they become, less what is stored of them: Change for groups that are merged.
func (v *View) signedGroups(w *emit.Writer, stored string) []string {
	g := v.grouped()
	if !v.mergeGroups(g, w, stored) {
		return nil
	}
	lines := append(emit.Clause("select", append(prefixed("f", g.columns()), "1 as "+Mult)), "from found f")
	if len(g.keys) > 0 {
		lines = append(lines, "where f."+Members+" > 0")
	}
	lines = append(lines, "union all")
	lines = append(lines, emit.Clause("select", append(prefixed("r", g.columns()), "-1"))...)
	return append(lines, "from found f", "join "+stored+" r on r.ctid = f.__at")
}
