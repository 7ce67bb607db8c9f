package ivm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Tables tells where a view's statement finds what changed and what is stored.
type Tables struct {
	// Log is where the changes of a table are read from: a relation with the
	// table's columns and emit.Mult.
	Log func(*catalog.Relation) string
	// Now is where a table is read from as it is; nil: from itself.
	Now func(*catalog.Relation) string
	// Stored holds the view's rows as they were: its columns and those of Keys.
	Stored string
	// Few is a variable of the statement that is null where its plan is made for the changes that there are, and not where it is made for few,
	// whatever the planner makes of its joins; empty: there is no such variable.
	Few string
	// Raw means that changes are read as they were logged: several rows may be alike, and their multiplicities are small integers.
	Raw bool
}

// Key is a column by which stored rows are found.
type Key struct {
	Name     string // of the column where rows are stored
	Type     string // as far as it is known
	Nullable bool
	Varied   bool // values that are equal may differ
	Equality catalog.Equality
	id       algebra.ColID // of the group's key
}

// Change is the query for the signed rows by which the stored rows differ from
// the view once its sources have changed; empty if nothing can change. It has
// no answer for a view that must be recomputed.
func (v *View) Change(t Tables) string {
	w, lines := v.signed(t)
	if lines == nil {
		return ""
	}
	return statement(w, lines...)
}

// Delta are the lines of common table expressions of which the last, DeltaName,
// has the rows that Change finds, added up: the stored columns, Mult, and Hash
// where the storage has it. There are none if Change is empty. Of groups that
// are merged, the last is found: see mergeGroups.
func (v *View) Delta(t Tables) []string {
	if v.Strategy() == MergeGroups {
		w := emit.NewWriter(v.Columns, leaves(t))
		if !v.mergeGroups(v.grouped(), w, t.Stored) {
			return nil
		}
		return emit.List(w.CTEs)
	}
	if v.Strategy() == MergeRows {
		w := emit.NewWriter(v.Columns, leaves(t))
		changes := v.delta()
		if changes == nil {
			return nil
		}
		last := w.Add(simplified(changes), v.names(), false)
		return emit.List(append(w.CTEs, v.total(last, t.Few)))
	}
	w, lines := v.signed(t)
	if lines == nil {
		return nil
	}
	signed := emit.CTE{Name: signedName, Comment: "what comes and goes", Lines: lines}
	return emit.List(append(w.CTEs, signed, v.total(signedName, t.Few)))
}

// Names of the last common table expressions of Delta and Rebuild.
const (
	DeltaName  = "delta"
	signedName = "signed"
)

// signed finds what changes: the last lines of a query over what is in w.
func (v *View) signed(t Tables) (w *emit.Writer, lines []string) {
	w = emit.NewWriter(v.Columns, leaves(t))
	switch v.Strategy() {
	case MergeRows:
		return w, v.mergeRows(w)
	case RescanKeys:
		return w, v.rescanKeys(w, t.Stored)
	case MergeGroups:
		return w, v.signedGroups(w, t.Stored)
	}
	return w, nil
}

// total adds up signed rows.
func (v *View) total(from, few string) emit.CTE {
	s := v.Storage()
	var list, keys []string
	for i, name := range s.Stored {
		column, key := sqltext.Grouped("d", name, s.Types[i], s.Comparable[i], s.Varied[i])
		if column != "d."+sqltext.Ident(name) {
			column += " as " + sqltext.Ident(name)
		}
		list, keys = append(list, column), append(keys, key)
	}
	sum := "sum(d." + Mult + ")"
	list = append(list, sum+"::bigint as "+Mult)
	if s.Hashed() {
		list = append(list, s.HashOf("d")+" as "+Hash)
	}
	lines := append(emit.Clause("select", list), "from "+from+" d")
	if len(keys) > 0 {
		lines = append(lines, emit.Clause("group by", keys)...)
	}
	lines = append(lines, "having "+sum+" <> 0")
	if few == "" {
		return emit.CTE{Name: DeltaName, Comment: "the same, added up", Keep: true, Lines: lines}
	}
	// Each source that has changes at all is planned for ten, and what the join with the widest one would make of ten counts even where that has
	// none: the planner then reads all stored rows for one row that changes. Of a range it expects half a per cent.
	return emit.CTE{Name: DeltaName, Comment: "the same, added up; between makes the planner expect few, and find stored rows by their index", Keep: true,
		Lines: append(lines, emit.Indent+"and ("+few+" is null or abs("+sum+") between 1 and 9223372036854775807)")}
}

// mergeRows: Δ view, by the laws of package delta.
func (v *View) mergeRows(w *emit.Writer) []string {
	changes := v.delta()
	if changes == nil {
		return nil
	}
	last := w.Add(simplified(changes), v.names(), false)
	return []string{"select *", "from " + last}
}

// names are those of the output.
func (v *View) names() []string {
	names := make([]string, len(v.Output))
	for i, o := range v.Output {
		names[i] = o.Name
	}
	return names
}

func statement(w *emit.Writer, lines ...string) string {
	return strings.Join(append(emit.With(w.CTEs), lines...), "\n")
}

// leaves tells where sources and changes are read from.
func leaves(t Tables) func(algebra.Node) (emit.Leaf, bool) {
	return func(n algebra.Node) (emit.Leaf, bool) {
		switch n := n.(type) {
		case *algebra.Source:
			name := n.Table.SQLName()
			if t.Now != nil {
				name = t.Now(n.Table)
			}
			return leaf(n, name, false), true
		case *algebra.Changes:
			l := leaf(n.Of, t.Log(n.Of.Table), true)
			l.Small = t.Raw
			return l, true
		}
		return emit.Leaf{}, false
	}
}

func leaf(s *algebra.Source, sql string, signed bool) emit.Leaf {
	l := emit.Leaf{SQL: sql, Alias: initial(s.Table.Name), Columns: map[algebra.ColID]string{}, Signed: signed}
	for _, c := range s.Cols {
		l.Columns[c.ID] = s.Table.Columns[c.Attr].Name
	}
	return l
}

// initial is a short alias for a table.
func initial(name string) string {
	if first := strings.ToLower(name[:1]); first >= "a" && first <= "z" {
		return first
	}
	return "t"
}

// Rows is the query for all rows that are to be stored: the view's, with the
// columns of Keys that it lacks, and Mult, which is 1. The view must not be one
// that is recomputed.
func (v *View) Rows() string {
	if v.grouped() == nil && len(v.Keys()) == 0 {
		if lines := emit.NewWriter(v.Columns, leaves(Tables{})).Plain(v.Root, v.Storage().Stored); lines != nil {
			return strings.Join(lines, "\n")
		}
	}
	w, last := v.rows()
	return statement(w, "select "+strings.Join(idents(v.Storage().Stored), ", "), "from "+last)
}

func (v *View) rows() (w *emit.Writer, last string) {
	w = emit.NewWriter(v.Columns, leaves(Tables{}))
	if g := v.grouped(); g != nil {
		return w, g.states(w, g.node.Input)
	}
	root := v.Root
	if keys := v.Keys(); len(keys) > 0 {
		root = v.withKeys(root, keys)
	}
	return w, w.Add(root, v.Storage().Stored, false)
}

// Rebuild is Delta without logs: the view as it is, less what is stored. Where an index finds rows by their identity, differ pairs them, and delta
// follows only if signed rows are asked for. computed, if it is not empty, is what to read in place of the query.
func (v *View) Rebuild(query, stored, computed string, signedRows bool) []string {
	s := v.Storage()
	var ctes []emit.CTE
	from := "(\n" + query + "\n) q"
	if computed != "" {
		from = computed + " q"
	} else if !slices.Equal(s.Stored, v.names()) {
		w, last := v.rows()
		ctes, from = w.CTEs, last+" q"
	}
	if s.Paired() {
		ctes = append(ctes, s.differ(from, stored, signedRows))
		if signedRows {
			ctes = append(ctes, s.ofPairs())
		}
		return emit.List(ctes)
	}
	lines := append(emit.Clause("select", append(prefixed("q", s.Stored), "1 as "+Mult)), "from "+from, "union all")
	taken := "-1"
	if s.Repeats {
		taken = "-s." + Mult
	}
	lines = append(lines, emit.Clause("select", append(prefixed("s", s.Stored), taken))...)
	lines = append(lines, "from "+stored+" s")
	signed := emit.CTE{Name: signedName, Comment: "the query − what is stored", Lines: lines}
	return emit.List(append(ctes, signed, v.total(signedName, "")))
}

// Columns of differ: whether the query has the row, where it is stored, and what is stored there.
const (
	comes = "__comes"
	at    = "__at"
	was   = "__was"
)

// differ is a full join of the query's rows and those stored, less those that are the same; old: with the columns that are stored.
func (s Storage) differ(from, stored string, old bool) emit.CTE {
	list := []string{"s." + at, "q." + comes}
	var unlike []string
	for i, name := range s.Stored {
		column := sqltext.Ident(name)
		list = append(list, "q."+column)
		if s.Varied[i] {
			unlike = append(unlike, sqltext.Unlike("q."+column, "s."+column, s.Types[i]))
			continue
		}
		if s.identifies(name) {
			continue
		}
		text := ""
		if !sqltext.IsCommon(s.Types[i]) {
			text = "::text"
		}
		unlike = append(unlike, "q."+column+text+" is distinct from s."+column+text)
	}
	for i, name := range s.Stored {
		if old {
			list = append(list, fmt.Sprintf("s.%s as %s%d", sqltext.Ident(name), was, i+1))
		}
	}
	lines := append(emit.Clause("select", list), "from (select q.*, true as "+comes+" from "+from+") q",
		"full join (select s.*, s.ctid as "+at+" from "+stored+" s) s on "+s.Same("q", "s"))
	lines = append(lines, emit.Any("where", append([]string{"q." + comes + " is null", "s." + at + " is null"}, unlike...))...)
	return emit.CTE{Name: "differ", Comment: "the query's rows beside those stored, where they are not the same", Keep: true, Lines: lines}
}

// ofPairs is delta, of differ.
func (s Storage) ofPairs() emit.CTE {
	var old []string
	for i, name := range s.Stored {
		old = append(old, fmt.Sprintf("d.%s%d as %s", was, i+1, sqltext.Ident(name)))
	}
	lines := append(emit.Clause("select", append(prefixed("d", s.Stored), "1::bigint as "+Mult)), "from differ d", "where d."+comes, "union all")
	lines = append(lines, emit.Clause("select", append(old, "-1"))...)
	return emit.CTE{Name: DeltaName, Comment: "what comes and goes", Lines: append(lines, "from differ d", "where d."+at+" is not null")}
}

func prefixed(alias string, names []string) []string {
	columns := idents(names)
	for i := range columns {
		columns[i] = alias + "." + columns[i]
	}
	return columns
}

func idents(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = sqltext.Ident(name)
	}
	return quoted
}
