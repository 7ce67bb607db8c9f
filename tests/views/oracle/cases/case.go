// Package cases makes test cases for stream tables from seeds: a schema, its rows, views, and transactions that change the
// rows. A seed gives the same case everywhere; nothing here knows of a server.
//
// What a view may be made of is in expressions.txt, the kinds of columns are in sorts.go, the clauses in the files query_*.go,
// and what a transaction may do in the files change_*.go. All of it is made as trees that can be cut: see package tree.
package cases

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// Case is what one seed gives.
type Case struct {
	Seed   uint64
	Schema []*tree.Node // statements that make types, tables and plain views
	Rows   []*tree.Node // inserts of the first rows
	Views  []*View      // stream tables to be; a later one may read an earlier one
	Steps  []*Step
}

// View is the definition of a stream table.
type View struct {
	Name     string
	Query    *tree.Node
	Features []string // what SQL it uses, sorted
}

// Step is a transaction, or a statement on its own, and comparisons.
type Step struct{ Items []*Item }

// Item is what a session does next.
type Item struct {
	Kind  Kind
	SQL   *tree.Node
	Data  *tree.Node // of Copy: what follows on standard input
	Since int        // the first major version that has this statement
}

// Kind is what kind of thing an Item is.
type Kind int

// The kinds of items.
const (
	Statement Kind = iota // changes rows
	Copy                  // changes rows, with data from the client
	Control               // begins or ends a transaction or part of one
	Check                 // here stream tables are refreshed, if need be, and compared with their queries
	Beside                // a transaction that another session begins, and leaves open until its next item, or ends
)

// String writes an item as psql reads it.
func (i *Item) String() string {
	switch i.Kind {
	case Copy:
		return i.SQL.String() + ";\n" + i.Data.String() + "\\."
	case Check:
		return "-- compare"
	case Beside:
		return "-- another session: " + strings.ReplaceAll(i.SQL.String(), "\n", "\n-- ") + ";"
	}
	return i.SQL.String() + ";"
}

// Items are those of all steps.
func (c *Case) Items() []*Item {
	var all []*Item
	for _, step := range c.Steps {
		all = append(all, step.Items...)
	}
	return all
}

// DDL is the text of the schema.
func (c *Case) DDL() string { return script(c.Schema) }

// Inserts is the text that fills the tables.
func (c *Case) Inserts() string { return script(c.Rows) }

func script(statements []*tree.Node) string {
	var b strings.Builder
	for _, statement := range statements {
		b.WriteString(statement.String() + ";\n")
	}
	return b.String()
}

// View finds a view by its name.
func (c *Case) View(name string) *View {
	i := slices.IndexFunc(c.Views, func(v *View) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return c.Views[i]
}

// Reads lists the other views that a view reads as stream tables, each once, directly or not.
func (c *Case) Reads(v *View) []string {
	var names []string
	for node := range v.Query.All() {
		name, ok := strings.CutPrefix(node.Tag, viewTag)
		if !ok || slices.Contains(names, name) || c.View(name) == nil {
			continue
		}
		for _, below := range append(c.Reads(c.View(name)), name) {
			if !slices.Contains(names, below) {
				names = append(names, below)
			}
		}
	}
	return names
}

// Needs reports whether a view, or another that it reads, is one of those.
func (c *Case) Needs(view string, those func(name string) bool) bool {
	return slices.ContainsFunc(append(c.Reads(c.View(view)), view), those)
}

// Without is the case without some views and those that read them.
func (c *Case) Without(those func(name string) bool) *Case {
	less := c.Clone()
	less.Views = slices.DeleteFunc(less.Views, func(v *View) bool { return c.Needs(v.Name, those) })
	return less
}

// SQL is the query of a view as a user writes it who knows the stream tables that it reads by the names that relation gives.
func (c *Case) SQL(v *View, relation func(view string) string) string {
	return v.Query.Render(func(node *tree.Node) (string, bool) {
		name, ok := strings.CutPrefix(node.Tag, viewTag)
		if !ok {
			return "", false
		}
		return relation(name), true
	})
}

// Truth is the query of a view that reads no stream tables but has their queries within.
func (c *Case) Truth(v *View) string {
	return c.SQL(v, func(name string) string {
		below := c.View(name)
		if below == nil { // of a case that was made too small
			return name
		}
		return "(" + c.Truth(below) + ")"
	})
}

// The tags of nodes.
const (
	viewTag   = "view "   // and the name of a stream table
	plainTag  = "plain "  // and the name of a plain view
	tableTag  = "table "  // and the name of a table
	columnTag = "column " // and the names of table and column, with a dot between
)

// PlainView is the query of the plain view that a node with this tag reads, nil if it reads none.
func (c *Case) PlainView(tag string) *tree.Node {
	if !strings.HasPrefix(tag, plainTag) {
		return nil
	}
	for _, statement := range c.Schema {
		if statement.Tag == tag {
			return statement.Kids[0]
		}
	}
	return nil
}

// Tables lists the tags of the case's tables.
func (c *Case) Tables() []string { return c.tags(tableTag) }

// Columns lists the tags of the columns of the case's tables.
func (c *Case) Columns() []string { return c.tags(columnTag) }

func (c *Case) tags(prefix string) []string {
	var found []string
	for _, statement := range c.Schema {
		for node := range statement.All() {
			if strings.HasPrefix(node.Tag, prefix) && !slices.Contains(found, node.Tag) {
				found = append(found, node.Tag)
			}
		}
	}
	return found
}

// TableNames lists the case's tables as SQL writes them.
func (c *Case) TableNames() []string {
	var names []string
	for _, tag := range c.Tables() {
		names = append(names, strings.TrimPrefix(tag, tableTag))
	}
	return names
}

// Clone copies the case.
func (c *Case) Clone() *Case {
	clone := &Case{Seed: c.Seed, Schema: cloneAll(c.Schema), Rows: cloneAll(c.Rows)}
	for _, v := range c.Views {
		clone.Views = append(clone.Views, &View{v.Name, v.Query.Clone(), v.Features})
	}
	for _, step := range c.Steps {
		copied := &Step{}
		for _, i := range step.Items {
			copied.Items = append(copied.Items, i.clone())
		}
		clone.Steps = append(clone.Steps, copied)
	}
	return clone
}

func (i *Item) clone() *Item {
	c := &Item{Kind: i.Kind, SQL: i.SQL.Clone(), Since: i.Since}
	if i.Data != nil {
		c.Data = i.Data.Clone()
	}
	return c
}

func cloneAll(nodes []*tree.Node) []*tree.Node {
	clones := make([]*tree.Node, len(nodes))
	for i, n := range nodes {
		clones[i] = n.Clone()
	}
	return clones
}
