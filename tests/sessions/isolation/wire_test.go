package isolation

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestWire interleaves senders of documents, retries and background work.
func TestWire(t *testing.T) {
	extension := installed.Text(t, `
version: 1
extension: {name: wires, version: 1.0.0}
inboxes:
  - {name: events, wire_format: cloudevents}
`)
	RunDir(t, "wire", func(t testing.TB) *pgtest.Database { return installed.DB(t, extension) })
}
