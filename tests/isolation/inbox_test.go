package isolation

import (
	"testing"

	"github.com/pgsluice/sluice/tests/installed"
)

// TestInbox interleaves claims, marks, background work and plain statements on the inboxes of the shop.
func TestInbox(t *testing.T) {
	RunDir(t, "inbox", installed.ShopDB)
}
