package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/internal/demo"
	"github.com/pgsluice/sluice/cmd/internal/process"
)

// TestDemoStatus: what ends the demo decides the exit status.
func TestDemoStatus(t *testing.T) {
	failing := &demo.Report{Checks: []demo.Check{{Name: "this holds", OK: true}, {Name: "that does not"}}}
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{(&demo.Report{Checks: failing.Checks[:1]}).Err(), 0, ""},
		{failing.Err(), 1, "sluice: check failed: that does not\n"},
		{context.Canceled, 1, "sluice: interrupted"},
		{demo.NoServer{Err: errors.New("PostgreSQL not found")}, 3, "sluice: no server: PostgreSQL not found\n"},
	} {
		var stderr strings.Builder
		status := process.Finish(newDemo(), demoStatus(c.err), &stderr)
		if status != c.status || !strings.HasPrefix(stderr.String(), c.says) {
			t.Errorf("%v: status %d, %q; want %d, %q", c.err, status, &stderr, c.status, c.says)
		}
	}
}
