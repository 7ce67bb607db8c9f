package emit

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// Tables describes where a statement finds what changed and what is stored.
type Tables struct {
	// Log is where the changes of a table are read from: a relation with the table's columns and Mult.
	Log func(*catalog.Relation) string
	// Added and Taken mean that Log has only rows that were added, or taken, and no column Mult.
	Added, Taken bool
	// Where has conditions under which changes are read.
	Where []string
	// Stored holds the view's rows as they were: its columns and those of its keys.
	Stored string
	// Few is a variable of the statement that is null where its plan is made for the changes that there are, and not where it is made for few,
	// whatever the planner makes of its joins. If it is ForFew, lines that end in it are for few changes, and left out for many; empty: nothing tells.
	Few string
	// Places is an array variable with the places of stored groups that are recomputed.
	Places string
	// Chosen are conditions, by occurrence of a table, that Log has tested already.
	Chosen map[*algebra.Source][]algebra.Scalar
	// Raw means that changes are read as they were logged: several rows may be alike, and their multiplicities are small integers.
	Raw bool
}

// Lines writes a statement as lines of common table expressions, of which the last is the result.
func Lines(s apply.Statement, columns *algebra.Columns, t Tables) []string {
	if s.Empty() {
		return nil
	}
	w := newStatement(s, columns, t)
	for _, step := range s.Steps {
		w.step(step)
	}
	for i := range w.CTEs {
		w.CTEs[i].Keep = w.CTEs[i].Keep && !s.Inline
	}
	return list(w.CTEs)
}

// Signed writes a statement as a query for signed rows, which are not added up; empty if nothing can change.
func Signed(s apply.Statement, columns *algebra.Columns, t Tables) string {
	if s.Empty() {
		return ""
	}
	w, steps := newStatement(s, columns, t), s.Steps
	var last apply.Step = apply.FoundLessStored{}
	if s.Groups == nil { // the last step adds up
		steps, last = steps[:len(steps)-1], nil
		if less, ok := steps[len(steps)-1].(apply.LessStored); ok {
			steps, last = steps[:len(steps)-1], less
		}
	}
	for _, step := range steps {
		w.step(step)
	}
	var lines []string
	switch last := last.(type) {
	case apply.LessStored:
		lines = w.lessStored(last)
	case apply.FoundLessStored:
		lines = w.foundLessStored()
	default:
		lines = []string{"select *", "from " + w.last}
	}
	return strings.Join(append(with(w.CTEs), lines...), "\n")
}

// statement writes the steps of a statement.
type statement struct {
	*writer
	apply.Statement
	tables Tables
	last   string // the relation of the step before
}

func newStatement(s apply.Statement, columns *algebra.Columns, t Tables) *statement {
	w := newWriter(columns, leaves(t))
	w.chosen, w.few = t.Chosen, t.Few
	return &statement{writer: w, Statement: s, tables: t}
}

func (w *statement) step(step apply.Step) {
	switch step := step.(type) {
	case apply.Rows:
		w.last = w.Add(step.Node, step.Columns, step.Keep)
		w.name(step.Name)
	case apply.Once:
		w.Keep(step.Node, step.Columns)
		if step.Name != "" {
			w.name(step.Name)
			w.Rebind(step.Node, step.Name)
		}
	case apply.AddUp:
		w.last = w.append(addUp(w.Storage, w.last, w.tables.Few))
	case apply.LessStored:
		w.last = w.append(CTE{Name: signedName, Comment: "what comes and goes", Lines: w.lessStored(step)})
	case apply.GroupChanges:
		w.last = w.append(w.groupChanges(step.Keep))
	case apply.Merged:
		w.append(w.merged(step.Name))
	case apply.Lost:
		w.append(w.lost())
	case apply.LostAt:
		w.append(w.lostAt())
	case apply.RecomputedExtremes:
		w.recomputedExtremes(step)
	case apply.Regained:
		w.append(w.regained())
	}
}

// append adds a common table expression that is written already and returns its name.
func (w *statement) append(c CTE) string {
	w.CTEs = append(w.CTEs, c)
	return c.Name
}

// name gives the last common table expression a name.
func (w *statement) name(name string) {
	if name != "" {
		w.NameLast(name)
		w.last = name
	}
}

// leaves describes where sources and changes are read from.
func leaves(t Tables) func(algebra.Node) (Leaf, bool) {
	return func(n algebra.Node) (Leaf, bool) {
		switch n := n.(type) {
		case *algebra.Source:
			switch n.Table {
			case catalog.Clock:
				return leafOf(n, "(select now() as moment)", false), true
			case catalog.ClockBefore:
				return leafOf(n, t.Log(n.Table), false), true
			}
			return leafOf(n, n.Table.SQLName(), n.Table.Counted), true
		case *algebra.Changes:
			l := leafOf(n.Of, t.Log(n.Of.Table), !t.Added && !t.Taken)
			l.Small, l.Taken, l.Where, l.Few = t.Raw, t.Taken, t.Where, t.Few == ForFew && len(t.Where) > 0
			return l, true
		}
		return Leaf{}, false
	}
}

func leafOf(s *algebra.Source, sql string, signed bool) Leaf {
	l := Leaf{SQL: sql, Alias: initial(s.Table.Name), Columns: map[algebra.ColID]string{}, Signed: signed}
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

// Rows writes the query for all rows that are to be stored, without multiplicities.
func Rows(r apply.Recompute, columns *algebra.Columns) string {
	if r.Groups == nil && slices.Equal(r.Storage.Stored, r.Storage.Visible) {
		if lines := newWriter(columns, leaves(Tables{})).Plain(r.Rows, r.Storage.Stored); lines != nil {
			return strings.Join(lines, "\n")
		}
	}
	w, last := rows(r, columns)
	return strings.Join(append(with(w.CTEs), "select "+strings.Join(idents(r.Storage.Stored), ", "), "from "+last), "\n")
}

// Counted is Rows with Mult, each row once.
func Counted(r apply.Recompute, columns *algebra.Columns) string {
	w := newWriter(columns, leaves(Tables{}))
	last := w.Add(&algebra.Consolidate{Input: r.Rows}, r.Storage.Stored, false)
	return strings.Join(append(with(w.CTEs), "select "+strings.Join(idents(append(slices.Clone(r.Storage.Stored), Mult)), ", "), "from "+last), "\n")
}

func rows(r apply.Recompute, columns *algebra.Columns) (w *writer, last string) {
	w = newWriter(columns, leaves(Tables{}))
	if r.Groups != nil {
		return w, w.states(r.Groups, r.Groups.Node.Input)
	}
	return w, w.Add(r.Rows, r.Storage.Stored, false)
}
