package algebra

import (
	"fmt"
	"strings"
)

// Description is what Format prints of a node, in pieces, for pictures.
type Description struct {
	Kind  string   // the operator
	Of    string   // the table that it reads
	Keys  []string // to group by
	Items []string // conditions, columns or aggregates
}

// Describe describes a node without its inputs.
func Describe(n Node, c *Columns) Description {
	p := printer{columns: c}
	switch n := n.(type) {
	case *Source:
		return Description{Kind: "source", Of: n.Table.SQLName(), Items: p.idTexts(n.Columns())}
	case *Changes:
		return Description{Kind: "Δ", Of: n.Of.Table.SQLName(), Items: p.idTexts(n.Columns())}
	case *Values:
		return Description{Kind: "values", Items: append(p.idTexts(n.Cols), fmt.Sprintf("rows: %d", len(n.Rows)))}
	case *Filter:
		return Description{Kind: "filter", Items: p.conditionTexts(n.Conds)}
	case *Project:
		return Description{Kind: "project", Items: p.itemTexts(n.Items)}
	case *Union:
		return Description{Kind: "union"}
	case *Join:
		return Description{Kind: "join", Items: p.conditionTexts(n.On)}
	case *Outer:
		return Description{Kind: n.kind(), Items: p.conditionTexts(n.On)}
	case *Semi:
		return Description{Kind: n.kind(), Items: p.conditionTexts(n.On)}
	case *Each:
		return Description{Kind: "each", Items: []string{strings.TrimPrefix(p.each(n), "each ")}}
	case *Aggregate:
		d := Description{Kind: "aggregate", Keys: p.itemTexts(n.Keys), Items: p.callTexts(n.Aggs)}
		if n.Global {
			d.Kind = "aggregate global"
		}
		return d
	case *Recursion:
		return Description{Kind: "recursion", Of: n.Self.Name, Items: p.idTexts(n.Cols)}
	case *Window:
		return Description{Kind: "window", Keys: p.windowKeys(n), Items: p.windowCalls(n)}
	}
	return Description{Kind: p.line(n)}
}
