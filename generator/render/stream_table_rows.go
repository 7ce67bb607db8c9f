package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// RowShown is a row with the columns that users see, over row a of Rows.
func (t StreamTable) RowShown(a string) string {
	exprs, _ := t.ShownAs(a)
	return "row(" + strings.Join(exprs, ", ") + ")"
}

// Keyed reports that users see the columns by which groups are found, so that no two look alike.
func (t StreamTable) Keyed() bool {
	return len(t.Identity) > 0 && !slices.ContainsFunc(t.Identity, func(name string) bool { return !slices.Contains(t.Visible, name) })
}

// Filled lists the columns of Rows of row a of delta.
func (t StreamTable) Filled(a string) string {
	names := append([]string{}, t.Stored...)
	if t.Repeats {
		names = append(names, "__mult")
	}
	if t.Hashed {
		names = append(names, "__hash")
	}
	return list(a, names)
}

// Hidden are the stored columns that users do not see as they are.
func (t StreamTable) Hidden() []string {
	var names []string
	if t.Shape.Name != "" { // they see what is in the one column
		return nil
	}
	for _, name := range t.Stored {
		if !slices.Contains(t.Visible, name) {
			names = append(names, name)
		}
	}
	return names
}

// Like is the relation that has the columns of Rows, or where those are one, of the query.
func (t StreamTable) Like() Name {
	if t.Shape.Name != "" {
		return t.Shape
	}
	return t.Rows
}

// Stores lists the tables that hold its rows, those last whose types the others have.
func (t StreamTable) Stores() []Name {
	stores := []Name{t.Rows, t.Old}
	if t.Shape.Name != "" {
		stores = append(stores, t.Shape)
	}
	for _, state := range t.States {
		stores = append(stores, state.Rows)
	}
	return stores
}

// StoredOf lists what Rows stores of row a of the query, but for hidden columns.
func (t StreamTable) StoredOf(a string) string {
	if t.Shape.Name != "" {
		return "row(" + a + ".*)::" + t.Shape.String() + " as __row"
	}
	return t.Shown(a)
}

// Shown lists the columns that users see, over row a of Rows.
func (t StreamTable) Shown(a string) string {
	if t.Shape.Name != "" {
		return "(" + a + ".__row).*"
	}
	exprs, _ := t.ShownAs(a)
	var items []string
	for i, name := range t.Visible {
		item := exprs[i]
		if item != a+"."+sqltext.Ident(name) {
			item += " as " + sqltext.Ident(name)
		}
		items = append(items, item)
	}
	return strings.Join(items, ", ")
}

// ShownIf is the condition that row a of Rows is in the view; empty if all are.
func (t StreamTable) ShownIf(a string) string {
	_, conds := t.ShownAs(a)
	return strings.Join(conds, " and ")
}

// Shows is a column that users see, over row a of Rows.
func (t StreamTable) Shows(a, column string) string {
	if t.Shape.Name != "" {
		return "(" + sqltext.Ident(a) + ".__row)." + sqltext.Ident(column)
	}
	exprs, _ := t.ShownAs(a)
	for i, name := range t.Visible {
		if name == column {
			return exprs[i]
		}
	}
	return sqltext.Ident(column)
}

// FeedShown lists the columns that go into a log of the stream table, over row a of Rows, each with a comma before it.
func (t StreamTable) FeedShown(a string, feed Source) string {
	var out strings.Builder
	for _, name := range feed.ColumnList {
		out.WriteString(", " + t.Shows(a, name) + " as " + sqltext.Ident(name))
	}
	return out.String()
}

// Key lists the columns of the identity.
func (t StreamTable) Key(a string) string { return list(a, t.Identity) }

// Unlike is the condition that no row of a relation, of those that pass cond as n, has the identity of row a. What NOT IN finds by a hash, for however many
// rows a plan was made, NOT EXISTS may find by comparing all with all; but it knows no nulls.
func (t StreamTable) Unlike(a, relation, cond string) string {
	switch {
	case len(t.NotNull) == len(t.Identity) && !t.Hashed && len(t.Identity) > 0:
		if cond != "" {
			cond = " where " + cond
		}
		return fmt.Sprintf("(%s) not in (select %s from %s n%s)", t.Key(a), t.Key("n"), relation, cond)
	case cond != "":
		cond += " and "
	}
	return fmt.Sprintf("not exists (select from %s n where %s%s)", relation, cond, t.Same("n", a))
}

// Assigned sets the columns beside the identity, and those of it that may differ though they are equal, from row d; empty if there are none.
func (t StreamTable) Assigned() string { return t.AssignedFrom("d") }

// AssignedFrom sets those columns from a row.
func (t StreamTable) AssignedFrom(a string) string {
	var sets []string
	for _, name := range t.Stored {
		if !slices.Contains(t.Identity, name) || slices.Contains(t.Varied, name) {
			sets = append(sets, sqltext.Ident(name)+" = "+a+"."+sqltext.Ident(name))
		}
	}
	return strings.Join(sets, ", ")
}
