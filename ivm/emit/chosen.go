package emit

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// untested are the conditions of a filter but those that were tested where changes are read.
func (w *writer) untested(n *algebra.Filter) []algebra.Scalar {
	changes, ok := n.Input.(*algebra.Changes)
	if !ok {
		return n.Conds
	}
	return slices.DeleteFunc(slices.Clone(n.Conds), func(c algebra.Scalar) bool { return Holds(w.chosen[changes.Of], c) })
}

// Holds reports whether a condition is among conditions.
func Holds(conds []algebra.Scalar, c algebra.Scalar) bool {
	return slices.ContainsFunc(conds, func(other algebra.Scalar) bool { return sqltext.Equal(other.Expr, c.Expr) })
}

// Over are conditions on an occurrence of a table as SQL over row alias, to be put side by side.
func Over(s *algebra.Source, conds []algebra.Scalar, alias string) []string {
	leaf := leafOf(s, "", false)
	leaf.Alias = alias
	b := &block{exprs: map[algebra.ColID]sqltext.Expr{}, items: []item{{leaf: leaf, alias: alias}}}
	var texts []string
	for _, c := range conds {
		texts = append(texts, b.named(c.Expr))
	}
	return conjuncts(texts)
}
