package upgrade

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// KeepsSettings reports whether functions have the time zone and the styles of the session that installed them.
func (m Manifest) KeepsSettings() bool {
	return slices.ContainsFunc(m.Objects, func(o Object) bool { return strings.Contains(o.SQL, "set timezone from current") })
}

// KeepSettings is the statement by which the functions of the next version get those of an installed one.
func (m Manifest) KeepSettings() string {
	if !m.KeepsSettings() {
		return ""
	}
	return "select " + sqltext.Ident(m.Internal) + ".pgt_keep_settings();\n\n"
}
