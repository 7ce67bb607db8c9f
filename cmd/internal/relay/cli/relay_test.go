package cli

import (
	"log/slog"
	"strings"
	"testing"
)

// TestVersionsAreCompared: a program without a release is taken with any other.
func TestVersionsAreCompared(t *testing.T) {
	for _, c := range []struct{ sluice, relay, warns string }{
		{"v1.2.0", "v1.3.0", "sluice=v1.2.0 sluice-relay=v1.3.0"}, {"v1.2.0", "v1.2.0", ""}, {"", "v1.3.0", ""}, {"v1.2.0", "", ""},
	} {
		var log strings.Builder
		warnOfVersions(slog.New(slog.NewTextHandler(&log, nil)), c.sluice, c.relay)
		if !strings.Contains(log.String(), c.warns) || (log.Len() > 0) != (c.warns != "") {
			t.Errorf("sluice %s, sluice-relay %s: %q", c.sluice, c.relay, log.String())
		}
	}
}
