package isolation

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestOrdering interleaves senders, workers and background work on an inbox with ordering.
func TestOrdering(t *testing.T) {
	extension := installed.Text(t, `
version: 1
extension: {name: ordered, version: 1.0.0}
inboxes: [{name: orders, ordering: {sequence: number}}]
`)
	RunDir(t, "ordering", func(t testing.TB) *pgtest.Database { return installed.DB(t, extension) })
}
