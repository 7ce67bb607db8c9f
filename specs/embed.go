// Package specs holds the sample specs that ship with Sluice.
package specs

import "embed"

// Shop is the spec of the shop with the DDL of the shop's own tables, in the directory shop.
//
//go:embed shop
var Shop embed.FS
