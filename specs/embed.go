// Package specs holds the sample specs that ship with Sluice.
package specs

import "embed"

// Samples are the spec of the shop, with the DDL of the shop's own tables, in the directory shop, and that of its sales in sales.
//
//go:embed shop sales
var Samples embed.FS
