package isolation

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestGroups interleaves publishers and consumers of a group, step by step. Time passes by hand: "late" lets leases run out.
func TestGroups(t *testing.T) {
	extension := installed.Text(t, `
version: 1
extension: {name: events, version: 1.0.0}
outboxes:
  - {name: feed}
  - {name: keyed, ordering_key: aggregate_id}
consumer_groups:
  - {name: work, outbox: feed, auto_offset_reset: earliest}
  - {name: ordered, outbox: keyed, auto_offset_reset: earliest}
`)
	RunDir(t, "groups", func(t testing.TB) *pgtest.Database { return installed.DB(t, extension) })
}
