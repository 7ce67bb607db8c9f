package emit

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// rowCall is a call in FROM, over the columns of leaves, and the columns that the query says it returns.
type rowCall struct {
	call sqltext.Expr
	defs []algebra.RowColumn
}

// each adds the rows of functions, which PostgreSQL calls for each row of the items before.
func (b *block) each(n *algebra.Each) {
	if !algebra.IsOneRow(n.Input) {
		b.fold(n.Input)
	}
	leaf := Leaf{Alias: nameOfCall(n.Calls[0]), Columns: map[algebra.ColID]string{}}
	names := b.w.names(n.Cols)
	for i, id := range n.Cols {
		leaf.Columns[id] = names[i]
	}
	leaf.SQL = strings.Join(idents(names), ", ")
	var calls []rowCall
	for _, c := range n.Calls {
		calls = append(calls, rowCall{b.over(c.Call.Expr), c.Defs})
	}
	b.item(leaf)
	last := &b.items[len(b.items)-1]
	last.calls = calls
	if n.Ordinality {
		last.order = " with ordinality"
	}
	if n.Keeps {
		for _, c := range n.On {
			last.on = append(last.on, b.over(c.Expr))
		}
		if len(last.on) == 0 {
			last.on = []sqltext.Expr{sqltext.True()}
		}
		last.kind = "left join"
	}
}

func nameOfCall(c algebra.RowCall) string {
	if call, ok := c.Call.Expr.Call(); ok {
		return call.Name
	}
	if _, ok := c.Call.Expr.XMLTable(); ok {
		return "xmltable"
	}
	return "f"
}

// source is an item as it stands in FROM.
func (b *block) source(i item) string {
	if i.calls == nil {
		return aliased(i.leaf.SQL, i.alias)
	}
	var calls []string
	several := len(i.calls) > 1
	for _, c := range i.calls {
		text := b.named(c.call)
		var defs []string
		for _, d := range c.defs {
			defs = append(defs, sqltext.Ident(d.Name)+" "+d.Type)
		}
		if len(defs) > 0 {
			several = true
			text += " as (" + strings.Join(defs, ", ") + ")"
		}
		calls = append(calls, text)
	}
	text := strings.Join(calls, ", ")
	if several {
		text = "rows from (" + text + ")"
	}
	return fmt.Sprintf("%s%s %s(%s)", text, i.order, sqltext.Ident(i.alias), i.leaf.SQL)
}

// inlineEach is the call of functions as algebra.
func inlineEach(n *algebra.Each, below func(algebra.Node) string) string {
	name := nameOfCall(n.Calls[0])
	if algebra.IsOneRow(n.Input) {
		return name + "()"
	}
	return name + "(" + below(n.Input) + ")"
}
