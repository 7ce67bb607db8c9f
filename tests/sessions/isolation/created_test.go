package isolation

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestCreated interleaves calls that create, order and drop inboxes and stream tables with senders, workers, writers and background work.
func TestCreated(t *testing.T) {
	extension := installed.Text(t, "version: 1\nextension: {name: created, version: 1.0.0, imperative: [inboxes, stream_tables]}\n")
	RunDir(t, "created", func(t testing.TB) *pgtest.Database { return installed.DB(t, extension) })
}
