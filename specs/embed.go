// Package specs holds the sample specs that ship with Sluice.
package specs

import "embed"

// Samples are the spec of the shop, with the DDL of the shop's own tables, in the directory shop, that of its sales in sales, and that of
// its events in events.
//
//go:embed events shop sales
var Samples embed.FS
