package emit

import "github.com/pgsluice/sluice/ivm/algebra"

// window writes rows that count once each, with what window functions compute of them.
func (w *writer) window(n *algebra.Window, names []string) []string {
	b, rows := w.block(w.expanded(n.Input)), n.Input.Columns()
	list := b.list(rows, names)
	for i, c := range n.Calls {
		list = append(list, as(b.named(b.over(c.Call.Expr)), names[len(rows)+i]))
	}
	return append(clause("select", append(list, as("1", Mult))), b.from()...)
}
