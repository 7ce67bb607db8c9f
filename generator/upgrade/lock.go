package upgrade

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Modes of locks that are taken at the beginning.
const (
	againstWriters = "share row exclusive"
	againstClaims  = "exclusive" // lets sessions read, but not claim rows that they write later
	againstAll     = "access exclusive"
)

// lock is one that an upgrade takes at the beginning.
type lock struct {
	name string // of a relation, as SQL
	mode string // or what else pgt_lock_for_upgrade knows by that name
}

// lockSQL takes locks in their order, after that which keeps out ticks and refreshes: see pgt_lock_for_upgrade.
func lockSQL(installed Manifest, locks []lock) string {
	var rows []string
	listed := map[lock]bool{}
	for _, l := range locks {
		if !listed[l] {
			listed[l] = true
			rows = append(rows, fmt.Sprintf("\n    [%s, %s]", sqltext.Literal(l.name), sqltext.Literal(l.mode)))
		}
	}
	list := "'{}'"
	if len(rows) > 0 {
		list = "array[" + strings.Join(rows, ",") + "\n]"
	}
	return fmt.Sprintf("select %s.pgt_lock_for_upgrade(%s);\n", sqltext.Ident(installed.Internal), list)
}
