package algebra

import "strings"

// Window adds to each row of its input what window functions compute of all rows that have the same keys, by which each of them partitions. Without keys
// those are all rows.
type Window struct {
	Input Node
	Keys  []Item // the number stands for what is known of the expression; it is no column of the rows
	Calls []WindowCall
}

// WindowCall is a call of a window function, or of an aggregate as one.
type WindowCall struct {
	ID   ColID
	Call Scalar // the whole call, as PostgreSQL evaluates it
	// Loose: it tells rows apart of which its order puts none first. A longer order makes its result a certain one.
	Loose bool
	// Ordered: its order is longer than the query says.
	Ordered bool
}

func (n *Window) Columns() []ColID {
	ids := append([]ColID{}, n.Input.Columns()...)
	for _, c := range n.Calls {
		ids = append(ids, c.ID)
	}
	return ids
}

func (n *Window) Inputs() []Node      { return []Node{n.Input} }
func (n *Window) With(in []Node) Node { return &Window{in[0], n.Keys, n.Calls} }

func (n *Window) reads() []Scalar {
	all := itemExprs(n.Keys)
	for _, c := range n.Calls {
		all = append(all, c.Call)
	}
	return all
}

// KeyColumns are the keys that are columns of the input as they are.
func (n *Window) KeyColumns() []ColID {
	var ids []ColID
	for _, k := range n.Keys {
		if id, ok := k.Expr.Column(); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

func (p *printer) window(n *Window) string {
	line := "window"
	if len(n.Keys) > 0 {
		line += " by " + strings.Join(p.windowKeys(n), ", ")
	}
	return line + ": " + strings.Join(p.windowCalls(n), ", ")
}

func (p *printer) windowKeys(n *Window) []string { return p.conditionTexts(itemExprs(n.Keys)) }

func (p *printer) windowCalls(n *Window) []string {
	var calls []string
	for _, c := range n.Calls {
		calls = append(calls, p.id(c.ID)+" := "+p.scalar(c.Call))
	}
	return calls
}
