package isolation

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestInbox interleaves claims, marks, background work and plain statements on the inboxes of the shop.
func TestInbox(t *testing.T) {
	extension := installed.Load(t, installed.Shop())
	RunDir(t, "inbox", func(t testing.TB) *pgtest.Database { return installed.DB(t, extension) })
}
