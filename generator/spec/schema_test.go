package spec_test

import (
	"testing"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/spec/spectest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

// TestSchemaIsCurrent compares the JSON Schema that sluice prints with the fields of Spec; -update rewrites it.
func TestSchemaIsCurrent(t *testing.T) {
	golden.CompareFiles(t, "../../specs", map[string]string{"spec.schema.json": spectest.Schema(&spec.Spec{}, "Sluice spec",
		"What sluice generates: inboxes, outboxes, consumer groups and stream tables of one extension.")})
}
