package isolation

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestDedup interleaves retention with senders whose messages it deletes, in an inbox that remembers ids.
func TestDedup(t *testing.T) {
	extension := installed.Text(t, `
version: 1
extension: {name: events, version: 1.0.0}
inboxes:
  - {name: orders, dedup_window: 30d}
`)
	RunDir(t, "dedup", func(t testing.TB) *pgtest.Database { return installed.DB(t, extension) })
}
