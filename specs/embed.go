// Package specs holds the sample specs that ship with Sluice, and the JSON Schemas of its formats.
package specs

import "embed"

// Samples are the spec of the shop, with the DDL of the shop's own tables, in the directory shop, that of its sales in sales, and that of
// its events in events.
//
//go:embed events shop sales
var Samples embed.FS

// SpecSchema is the JSON Schema of specs, and RelaySchema that of relay.yaml, for editors. Tests of generator/spec and cmd/internal/relay/config write them with -update.
var (
	//go:embed spec.schema.json
	SpecSchema []byte
	//go:embed relay.schema.json
	RelaySchema []byte
)
