// Package templates holds the SQL that Sluice writes: one database object per file, by feature.
package templates

import "embed"

// FS holds every template. Files that end in .sql.tmpl make one object each; shared.tmpl holds the pieces they share.
//
//go:embed shared.tmpl */*.tmpl
var FS embed.FS
