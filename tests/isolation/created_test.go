package isolation

import (
	"testing"

	"github.com/pgsluice/sluice/tests/installed"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// TestCreated interleaves calls that order inboxes which functions created with senders, workers and background work.
func TestCreated(t *testing.T) {
	RunDir(t, "created", func(t testing.TB) *pgtest.Database {
		return installed.DB(t, installed.Text(t, "version: 1\nextension: {name: created, version: 1.0.0, imperative: true}\n"))
	})
}
