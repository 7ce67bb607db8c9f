package config_test

import (
	"testing"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/generator/spec/spectest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

// TestSchemaIsCurrent compares the JSON Schema that sluice prints with the fields of Relay; -update rewrites it.
func TestSchemaIsCurrent(t *testing.T) {
	golden.CompareFiles(t, "../../../../specs", map[string]string{"relay.schema.json": spectest.Schema(&config.Relay{}, "Sluice relay",
		"Pipelines of sluice-relay: events from a source to a sink.")})
}
