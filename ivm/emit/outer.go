package emit

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// outerJoin adds an outer join of tables as they are, whose rows count once each. What is joined to the left side already may be there before it; a full join
// must stand by itself.
func (b *block) outerJoin(n *algebra.Outer) {
	var on []sqltext.Expr
	kind := "left join"
	if n.Full {
		if kind = "full join"; len(b.items) > 0 {
			b.item(b.w.read(n))
			return
		}
		b.item(once(b.w.read(b.w.expanded(n.Left))))
	} else {
		b.fold(n.Left)
	}
	right := n.Right
	if f, ok := right.(*algebra.Filter); ok && !n.Full && isTable(f.Input) {
		right = f.Input
		for _, c := range f.Conds {
			on = append(on, c.Expr)
		}
	}
	b.item(once(b.w.read(b.w.expanded(right))))
	for _, c := range n.On {
		on = append(on, b.over(c.Expr))
	}
	if len(on) == 0 {
		on = []sqltext.Expr{sqltext.True()}
	}
	last := &b.items[len(b.items)-1]
	last.kind, last.on = kind, on
}

func isTable(n algebra.Node) bool {
	_, is := n.(*algebra.Source)
	return is
}

// once is a leaf whose rows count once, so that their multiplicity, which is null where there is no row, need not be read.
func once(l Leaf) Leaf {
	l.Signed = false
	return l
}

func (b *block) allNamed(conds []sqltext.Expr) []string {
	var all []string
	for _, c := range conds {
		all = append(all, b.named(c))
	}
	return conjuncts(all)
}
