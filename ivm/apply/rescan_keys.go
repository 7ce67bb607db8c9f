package apply

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// RescanKeys recomputes the affected groups, and removes what is stored of them (rule R3b). Which groups those are needs no signs: a
// superset will do.
func RescanKeys(s Storage, affected *algebra.Distinct, current algebra.Node) Statement {
	return Statement{Storage: s, Steps: []Step{
		Once{Node: affected, Columns: Names(s.Identity)},
		Rows{Node: current, Columns: s.Stored},
		LessStored{Affected: affected, Keys: s.Identity, Columns: s.Stored},
		AddUp{},
	}}
}

// Hidden are the keys' columns that the output does not have.
func Hidden(keys []Key, output []string) []string {
	var names []string
	for _, k := range keys {
		if !slices.Contains(output, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}
